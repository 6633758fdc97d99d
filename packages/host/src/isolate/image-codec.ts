// Images as bytes: what a heap differs from its base in
// =====================================================
// A base is the memory of an instance with its bundle loaded, before a handler began. An image is the words of four bytes
// that differ from the base, in the order of their addresses, as *spans*:
//
//   span    words that are as in the base, words that differ: a varint each | the words that differ
//   image   "PDI2" | engine 32 | base 32 | stack pointer, runtime, context, memory pages, changed words: u32 each | zstd(spans)
//   base    "PDB2" | engine 32 | bundle 32 | stack pointer, runtime, context, undefined, turn, settle, memory pages, dictionary
//             bytes: u32 each | zstd(memory, dictionary)
//
// The dictionary is the spans of a run that was rehearsed on the base (rehearse.ts): a run's first objects are the same ones
// at the same places, so that zstd finds most of a small image in it. The stack lies below the stack pointer and is dead
// while an instance waits: no image has it. What memory is beyond the base differs from zeros.
//
// All numbers are little-endian. Both are known by the SHA-256 of all of their bytes.

import { createHash } from "node:crypto";
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { ImageDamagedError } from "@perdure/protocol";
import { applySpans, spansOf, viewOf } from "./spans.ts";

/** What of an instance is not in its memory. */
export interface Registers {
  readonly stackPointer: number;
  readonly runtime: number;
  readonly context: number;
}

/** Cells in the heap of a base, and so of all that begin as its copies: what a turn needs is found without asking. */
export interface EntryPoints {
  readonly undefined: number;
  /** Functions of the guest. */
  readonly turn: number;
  readonly settle: number;
}

export interface BaseImage extends Registers {
  readonly hash: string;
  readonly engine: string;
  readonly bundle: string;
  readonly entry: EntryPoints;
  readonly memory: Uint8Array;
  readonly dictionary: Uint8Array;
}

export interface ImageHeader extends Registers {
  readonly engine: string;
  readonly base: string;
  readonly memoryPages: number;
  readonly changedWords: number;
}

/** A page as WebAssembly counts memory. */
export const WASM_PAGE_BYTES = 65_536;

const IMAGE_MAGIC = 0x32494450; // "PDI2"
const BASE_MAGIC = 0x32424450; // "PDB2"
const HASH_BYTES = 32;
const IMAGE_HEADER_BYTES = 4 + 2 * HASH_BYTES + 5 * 4;
const BASE_HEADER_BYTES = 4 + 2 * HASH_BYTES + 8 * 4;
/** Measured on images of ten turns, with the dictionary: level 3 gives 4 % more bytes, level 9 1 % less in three times the time. */
const ZSTD_LEVEL = 5;
const BASE_LEVEL = 6;

export function sha256(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

export function encodeBase(base: Omit<BaseImage, "hash">): { readonly bytes: Uint8Array; readonly hash: string } {
  const header = Buffer.alloc(BASE_HEADER_BYTES);
  let at = header.writeUInt32LE(BASE_MAGIC, 0);
  at += header.write(base.engine, at, "hex");
  at += header.write(base.bundle, at, "hex");
  at = writeRegisters(header, at, base);
  for (const address of [base.entry.undefined, base.entry.turn, base.entry.settle])
    at = header.writeUInt32LE(address, at);
  at = header.writeUInt32LE(base.memory.length / WASM_PAGE_BYTES, at);
  header.writeUInt32LE(base.dictionary.length, at);
  const body = Buffer.concat([viewOf(base.memory), viewOf(base.dictionary)]);
  const bytes = Buffer.concat([
    header,
    zstdCompressSync(body, { params: { [constants.ZSTD_c_compressionLevel]: BASE_LEVEL } }),
  ]);
  return { bytes, hash: sha256(bytes) };
}

/** @throws ImageDamagedError */
export function decodeBase(bytes: Uint8Array): BaseImage {
  const view = viewOf(bytes);
  if (view.length < BASE_HEADER_BYTES || view.readUInt32LE(0) !== BASE_MAGIC)
    throw new ImageDamagedError("these bytes are no base image");
  const engine = view.toString("hex", 4, 4 + HASH_BYTES);
  const bundle = view.toString("hex", 4 + HASH_BYTES, 4 + 2 * HASH_BYTES);
  const at = 4 + 2 * HASH_BYTES;
  const registers = readRegisters(view, at);
  const entry = {
    undefined: view.readUInt32LE(at + 12),
    turn: view.readUInt32LE(at + 16),
    settle: view.readUInt32LE(at + 20),
  };
  const memoryBytes = view.readUInt32LE(at + 24) * WASM_PAGE_BYTES;
  const body = decompress(bytes.subarray(BASE_HEADER_BYTES), null, "base image");
  if (body.length !== memoryBytes + view.readUInt32LE(at + 28))
    throw new ImageDamagedError("a base image has another size than it says");
  // In buffers of their own: memory is read by words, and given to all threads.
  const memory = new Uint8Array(body.subarray(0, memoryBytes));
  const dictionary = new Uint8Array(body.subarray(memoryBytes));
  return { hash: sha256(bytes), engine, bundle, ...registers, entry, memory, dictionary };
}

export function encodeImage(memory: Uint8Array, registers: Registers, base: BaseImage): Uint8Array {
  const { spans, words } = spansOf(memory, base.memory, registers.stackPointer);
  const header = Buffer.alloc(IMAGE_HEADER_BYTES);
  let at = header.writeUInt32LE(IMAGE_MAGIC, 0);
  at += header.write(base.engine, at, "hex");
  at += header.write(base.hash, at, "hex");
  at = writeRegisters(header, at, registers);
  at = header.writeUInt32LE(memory.length / WASM_PAGE_BYTES, at);
  header.writeUInt32LE(words, at);
  return Buffer.concat([header, compressSpans(spans, base.dictionary)]);
}

/** @throws ImageDamagedError */
export function readImageHeader(bytes: Uint8Array): ImageHeader {
  const view = viewOf(bytes);
  if (view.length < IMAGE_HEADER_BYTES || view.readUInt32LE(0) !== IMAGE_MAGIC)
    throw new ImageDamagedError("these bytes are no image of a run");
  const at = 4 + 2 * HASH_BYTES;
  return {
    engine: view.toString("hex", 4, 4 + HASH_BYTES),
    base: view.toString("hex", 4 + HASH_BYTES, at),
    ...readRegisters(view, at),
    memoryPages: view.readUInt32LE(at + 12),
    changedWords: view.readUInt32LE(at + 16),
  };
}

/**
 * Writes an image over a copy of its base. `memory` has the image's size; what is beyond the base is zeros.
 * @throws ImageDamagedError
 */
export function applyImage(image: Uint8Array, header: ImageHeader, base: BaseImage, memory: Uint8Array): void {
  if (memory.length !== header.memoryPages * WASM_PAGE_BYTES)
    throw new ImageDamagedError("an image has another size of memory than it says");
  const spans = decompress(image.subarray(IMAGE_HEADER_BYTES), base.dictionary, "image");
  const words = applySpans(spans, memory, header.stackPointer);
  if (words !== header.changedWords) throw new ImageDamagedError("an image has other words than it says");
}

function compressSpans(spans: Uint8Array, dictionary: Uint8Array): Buffer {
  return zstdCompressSync(spans, {
    params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL },
    ...(dictionary.length === 0 ? {} : { dictionary }),
  });
}

function decompress(bytes: Uint8Array, dictionary: Uint8Array | null, what: string): Buffer {
  try {
    return zstdDecompressSync(bytes, dictionary === null || dictionary.length === 0 ? {} : { dictionary });
  } catch (cause) {
    throw new ImageDamagedError(`an ${what} cannot be decompressed: ${(cause as Error).message}`, { cause });
  }
}

function writeRegisters(target: Buffer, at: number, { stackPointer, runtime, context }: Registers): number {
  return target.writeUInt32LE(context, target.writeUInt32LE(runtime, target.writeUInt32LE(stackPointer, at)));
}

function readRegisters(source: Buffer, at: number): Registers {
  return {
    stackPointer: source.readUInt32LE(at),
    runtime: source.readUInt32LE(at + 4),
    context: source.readUInt32LE(at + 8),
  };
}
