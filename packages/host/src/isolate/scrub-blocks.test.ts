import { beforeAll, describe, expect, it } from "vitest";
import type { BaseImage } from "./image-codec.ts";
import { scrubFreeBlocks } from "./scrub-blocks.ts";
import { smallBase } from "./testing/small-guest.ts";

let base: BaseImage;
beforeAll(async () => {
  ({ base } = await smallBase());
});

/** The first arena of the first size that has one. */
function firstArena(memory: Uint8Array): number {
  const view = new DataView(memory.buffer);
  for (let list = base.runtime + 40; list < base.runtime + 40 + 31 * 8; list += 8) {
    const link = view.getUint32(list + 4, true);
    if (link !== list) return link - 8;
  }
  throw new Error("a heap has arenas");
}

describe("the free blocks of a heap", () => {
  it("are found in the engine that is shipped", () => {
    expect(scrubFreeBlocks(base.memory.slice(), base.runtime)).toBeGreaterThan(100);
  });

  it("are clean and in order once they were overwritten", () => {
    const again = base.memory.slice();
    scrubFreeBlocks(again, base.runtime);
    expect(Buffer.compare(again, base.memory)).toBe(0);
  });

  it.each([
    ["a link leads nowhere", 8, 0xffff_fff8],
    ["a link back is another", 12, 8],
    ["the size is another", 16, 0x0001_001f],
    ["the first free block is none of its own", 20, 0x7fff_0001],
  ])("are left alone where %s", (_, at, word) => {
    const memory = base.memory.slice();
    new DataView(memory.buffer).setUint32(firstArena(memory) + at, word, true);
    const before = memory.slice();
    expect(scrubFreeBlocks(memory, base.runtime)).toBeUndefined();
    expect(Buffer.compare(memory, before)).toBe(0);
  });
});
