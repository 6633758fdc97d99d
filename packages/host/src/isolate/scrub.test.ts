import { describe, expect, test } from "vitest";
import { baseOf, HeapRun } from "../../test/isolate/heap-run.ts";
import { applyImage, readImageHeader, WASM_PAGE_BYTES } from "./image-codec.ts";
import { scrubFreeChunks } from "./scrub-chunks.ts";

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
    expect(scrubFreeChunks(memory, HEAD)).toBe(96 - 32);
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
    expect(scrubFreeChunks(memory, HEAD)).toBeUndefined();
    expect(memory).toEqual(before);
  });
});

describe("the heap of an instance", () => {
  test("freed text is in no image, small or large, and everything else is there", async () => {
    const loaded = await baseOf("./traps.ts");
    const run = await HeapRun.begin({ ...loaded, service: "traps", handler: "traceless", signals: [["go", null]] });
    const { image } = run.capture();
    const header = readImageHeader(image);
    const memory = new Uint8Array(header.memoryPages * WASM_PAGE_BYTES);
    memory.set(loaded.base.memory);
    applyImage(image, header, loaded.base, memory);
    expect(Buffer.from(memory.buffer).includes("KEPT 1250")).toBe(true);
    expect(Buffer.from(memory.buffer).includes("WITHOUT A TRACE 25")).toBe(false);
    await run.rebirth();
    expect(await run.value()).toEqual({ kept: "KEPT 1250", again: 500 });
    run.dispose();
  }, 60_000);
});
