import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ImageDamagedError } from "@perdure/protocol";
import {
  applyImage,
  type BaseImage,
  decodeBase,
  encodeBase,
  encodeImage,
  readImageHeader,
  sha256,
  WASM_PAGE_BYTES,
} from "./image-codec.ts";
import { changedPages, PAGE_BYTES } from "./spans.ts";

const ENGINE = sha256("an engine");
const BUNDLE = sha256("a bundle");
/** The stack lies below: images are without it. */
const STACK = 8_192;
const REGISTERS = { stackPointer: STACK, runtime: 4_294_967_295, context: 0 };
const ENTRY = { undefined: 1, turn: 2, settle: 3 };

/** So many pages of WebAssembly, with some bytes set. */
function memoryOf(pages: number, writes: readonly (readonly [at: number, byte: number])[]): Uint8Array {
  const memory = new Uint8Array(pages * WASM_PAGE_BYTES);
  for (const [at, byte] of writes) memory[at % memory.length] = byte;
  return memory;
}

function baseOf(memory: Uint8Array, dictionary: Uint8Array = new Uint8Array(0)): BaseImage {
  const base = { engine: ENGINE, bundle: BUNDLE, entry: ENTRY, memory, dictionary, ...REGISTERS };
  return { ...base, hash: encodeBase(base).hash };
}

/** As an instance puts an image back: over a copy of the base, which may have grown. */
function restore(image: Uint8Array, base: BaseImage): Uint8Array {
  const header = readImageHeader(image);
  const memory = new Uint8Array(header.memoryPages * WASM_PAGE_BYTES);
  memory.set(base.memory);
  applyImage(image, header, base, memory);
  return memory;
}

const writes = fc.array(fc.tuple(fc.nat(4 * WASM_PAGE_BYTES), fc.nat(255)), { maxLength: 40 });
const heaps = fc.record({
  pages: fc.integer({ min: 1, max: 2 }),
  before: writes,
  grown: fc.nat(2),
  after: writes,
  dictionary: fc.uint8Array({ maxLength: 200 }),
});
/** What an image has to give back: a stack that nothing lies on is the base's. */
function expected(memory: Uint8Array, base: BaseImage): Uint8Array {
  const copy = Uint8Array.from(memory);
  copy.set(base.memory.subarray(0, STACK));
  return copy;
}

describe("images", () => {
  test("give back the memory that they were made of, whatever it is and whatever their base is", () => {
    fc.assert(
      fc.property(heaps, ({ pages, before, grown, after, dictionary }) => {
        const base = baseOf(memoryOf(pages, before), dictionary);
        const memory = memoryOf(pages + grown, after);
        const image = encodeImage(memory, REGISTERS, base);
        expect(readImageHeader(image)).toMatchObject({ engine: ENGINE, base: base.hash, ...REGISTERS });
        expect(Buffer.compare(restore(image, base), expected(memory, base))).toBe(0);
      }),
      { numRuns: 60 },
    );
  });

  test("hold the words that differ, and no others; the dead stack is none of them", () => {
    const base = baseOf(memoryOf(1, [[STACK + 5, 1]]));
    const memory = memoryOf(2, [
      [7, 1],
      [STACK + 5, 1],
      [3 * PAGE_BYTES, 7],
      [3 * PAGE_BYTES + 3, 7],
      [WASM_PAGE_BYTES + 2 * PAGE_BYTES + 1, 7],
    ]);
    expect(changedPages(memory, base.memory, STACK)).toEqual([3, WASM_PAGE_BYTES / PAGE_BYTES + 2]);
    expect(readImageHeader(encodeImage(memory, REGISTERS, base)).changedWords).toBe(2);
    expect(changedPages(base.memory, base.memory)).toEqual([]);
  });

  test("do not depend on how the memory lies in its buffer", () => {
    const base = baseOf(memoryOf(1, [[9, 9]]));
    const memory = memoryOf(1, [[70, 3]]);
    const shifted = new Uint8Array(new ArrayBuffer(memory.length + 8), 8);
    shifted.set(memory);
    expect(encodeImage(shifted, REGISTERS, base)).toEqual(encodeImage(memory, REGISTERS, base));
  });

  test("that are cut off anywhere are refused", () => {
    const base = baseOf(memoryOf(1, [[5, 1]]));
    const image = encodeImage(
      memoryOf(
        1,
        Array.from({ length: 500 }, (_, i) => [i * 131, (i * 7) & 255] as const),
      ),
      REGISTERS,
      base,
    );
    fc.assert(
      fc.property(fc.nat(image.length - 1), (length) => {
        const cut = image.subarray(0, length);
        expect(() => applyImage(cut, readImageHeader(cut), base, new Uint8Array(base.memory))).toThrow(
          ImageDamagedError,
        );
      }),
      { numRuns: 60 },
    );
  });

  test("with a flipped bit are refused, or give another memory: never a write out of bounds", () => {
    const base = baseOf(memoryOf(1, [[STACK + 5, 1]]));
    const image = encodeImage(memoryOf(1, [[15_000, 2]]), REGISTERS, base);
    fc.assert(
      fc.property(fc.nat(image.length - 1), fc.nat(7), (at, bit) => {
        const flipped = Uint8Array.from(image);
        flipped[at] = (flipped[at] ?? 0) ^ (1 << bit);
        expect(sha256(flipped)).not.toBe(sha256(image)); // What is not noticed here is by the store, which knows the hash.
        try {
          const header = readImageHeader(flipped);
          applyImage(flipped, header, base, new Uint8Array(WASM_PAGE_BYTES));
        } catch (error) {
          expect(error).toBeInstanceOf(ImageDamagedError);
        }
      }),
      { numRuns: 200 },
    );
  });

  test("with words beyond their memory are refused", () => {
    const base = baseOf(memoryOf(1, []));
    const image = encodeImage(memoryOf(2, [[WASM_PAGE_BYTES + 1, 1]]), REGISTERS, base);
    const header = { ...readImageHeader(image), memoryPages: 1 };
    expect(() => applyImage(image, header, base, new Uint8Array(WASM_PAGE_BYTES))).toThrow(/words beyond its memory/);
    expect(() => applyImage(image, readImageHeader(image), base, new Uint8Array(WASM_PAGE_BYTES))).toThrow(
      /another size of memory/,
    );
  });
});

describe("bases", () => {
  test("come back as they were, known by the hash of their bytes", () => {
    const dictionary = Uint8Array.from({ length: 99 }, (_, at) => at);
    const made = {
      engine: ENGINE,
      bundle: BUNDLE,
      entry: ENTRY,
      memory: memoryOf(2, [[77, 7]]),
      dictionary,
      ...REGISTERS,
    };
    const { bytes, hash } = encodeBase(made);
    const read = decodeBase(bytes);
    expect({ ...read, memory: [] }).toEqual({ ...made, hash, memory: [] });
    expect(Buffer.compare(read.memory, made.memory)).toBe(0);
    expect(hash).toBe(sha256(bytes));
    expect(encodeBase(made).hash).toBe(hash);
  });

  test.each([
    ["empty", () => new Uint8Array(0)],
    ["an image", (base: Uint8Array) => encodeImage(memoryOf(1, []), REGISTERS, decodeBase(base))],
    ["cut off", (base: Uint8Array) => base.subarray(0, base.length - 3)],
    [
      "of another size than it says",
      (base: Uint8Array) => {
        const other = Buffer.from(base);
        other.writeUInt32LE(9, 4 + 64 + 24);
        return other;
      },
    ],
  ])("%s: refused", (_, damage) => {
    const { bytes } = encodeBase(baseOf(memoryOf(1, [[1, 1]])));
    expect(() => decodeBase(damage(bytes))).toThrow(ImageDamagedError);
  });
});
