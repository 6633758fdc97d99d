// The JavaScript engine of isolates: QuickJS as WebAssembly, compiled once per thread, known by the hash of its bytes.
//
// An image is memory of this engine and makes sense to no other: a heap of one version "restores" in another and then traps
// on every call. So the hash stands in every image, and a mismatch is refused.

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";

/** A compiled binary. */
interface WasmModule {}

export interface WasmMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

export type WasmImports = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** As much of it as is used here: the types of Node do not have it, those of browsers do, and a program may have both. */
interface Wasm {
  readonly Instance: new (module: WasmModule, imports: WasmImports) => { readonly exports: object };
  compile(bytes: Uint8Array): Promise<WasmModule>;
}

export const wasm: Wasm = (globalThis as unknown as { readonly WebAssembly: Wasm }).WebAssembly;

export interface Engine {
  readonly module: WasmModule;
  /** SHA-256 of the WebAssembly binary, hex. */
  readonly hash: string;
}

let loaded: Promise<Engine> | undefined;

export function loadEngine(): Promise<Engine> {
  loaded ??= load();
  return loaded;
}

async function load(): Promise<Engine> {
  const bytes = await readFile(new URL(import.meta.resolve("quickjs-wasi/quickjs.wasm")));
  const module = await wasm.compile(bytes);
  return { module, hash: createHash("sha256").update(bytes).digest("hex") };
}
