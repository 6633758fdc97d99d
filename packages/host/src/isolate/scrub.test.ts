import { beforeAll, describe, expect, test } from "vitest";
import { QuickJS } from "quickjs-wasi";
import { loadEngine } from "./engine.ts";
import { scrubFreeMemory } from "./scrub.ts";

const HEAD = 8;
const IN_USE = 2;

/** A heap of chunks, each of the given size and use, filled with 0xff. */
function heapOf(chunks: readonly (readonly [size: number, isUsed: boolean])[]): Uint8Array {
  const memory = new Uint8Array(chunks.reduce((sum, [size]) => sum + size, 0)).fill(0xff);
  const view = new DataView(memory.buffer);
  let at = 0;
  for (const [size, isUsed] of chunks) {
    view.setUint32(at + 4, size | (isUsed ? IN_USE : 0), true);
    at += size;
  }
  return memory;
}

describe("a heap", () => {
  test("free chunks are zeros but for their links; used ones, and the last, are as they were", () => {
    const memory = heapOf([
      [64, true],
      [96, false],
      [32, true],
      [64, false],
    ]);
    expect(scrubFreeMemory(memory, HEAD)).toBe(96 - 32);
    expect([...memory.subarray(8, 64)].every((byte) => byte === 0xff)).toBe(true);
    expect([...memory.subarray(64 + 8, 64 + 32)].every((byte) => byte === 0xff)).toBe(true);
    expect([...memory.subarray(64 + 32, 64 + 96)].every((byte) => byte === 0)).toBe(true);
    expect([...memory.subarray(200, 256)].every((byte) => byte === 0xff)).toBe(true);
  });

  test.each([
    [
      "a chunk that goes beyond the memory",
      [
        [64, true],
        [4_096, false],
      ] as const,
      100,
    ],
    [
      "a chunk of no size",
      [
        [64, true],
        [0, false],
      ] as const,
      100,
    ],
  ])("that is not as described is left alone: %s", (_, chunks, size) => {
    const memory = new Uint8Array(size).fill(0xff);
    memory.set(heapOf([chunks[0]]));
    new DataView(memory.buffer).setUint32(64 + 4, chunks[1][0], true);
    const before = Uint8Array.from(memory);
    expect(scrubFreeMemory(memory, HEAD)).toBeUndefined();
    expect(memory).toEqual(before);
  });
});

describe("the heap of the engine", () => {
  let vm: QuickJS;
  beforeAll(async () => {
    vm = await QuickJS.create({ wasm: (await loadEngine()).module });
  });

  test("freed text is gone, and everything else is there", () => {
    const memory = (): Buffer => Buffer.from(vm._getMemory().buffer);
    vm.evalCode(`globalThis.kept = { text: "kept ".repeat(1000), list: [1, 2, 3] };`).dispose();
    vm.evalCode(
      `globalThis.gone = []; for (let i = 0; i < 500; i += 1) gone.push("WITHOUT A TRACE " + i); gone = null;`,
    ).dispose();
    vm.runGC();
    const scrubbed = scrubFreeMemory(new Uint8Array(vm._getMemory().buffer), vm._getExports().qjs_get_runtime_ptr());
    expect(scrubbed).toBeGreaterThan(5_000);
    expect(memory().includes("WITHOUT A TRACE 250")).toBe(false);
    using kept = vm.evalCode(`kept.text.length + " " + kept.list`);
    expect(kept.toString()).toBe("5000 1,2,3");
    // And it can still allocate in what was freed.
    using more = vm.evalCode(`Array.from({ length: 500 }, (_, i) => "again " + i).length`);
    expect(more.toNumber()).toBe(500);
  });
});
