// What code can do to its isolate: it is ended with an error that says why, or goes on unharmed; its images stay good and
// small, and nobody else notices.

import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { ImageDamagedError, ImageMismatchError, IsolateLimitError } from "@perdure/protocol";
import { baseOf, HeapRun, type HeapRunOptions, LIMITS } from "../../test/isolate/heap-run.ts";
import { type BaseImage, encodeBase } from "./image-codec.ts";
import { MachinePool } from "./machine-pool.ts";
import { Instance, type InstanceLimits } from "./instance.ts";

const MEBIBYTE = 1_024 * 1_024;
/** Long for a turn that does what it should, and short enough to wait for one that does not end. */
const SHORT: InstanceLimits = { ...LIMITS, turnMs: 1_500 };
const SMALL: InstanceLimits = { ...LIMITS, memoryBytes: 24 * MEBIBYTE };

vi.setConfig({ testTimeout: 60_000 }); // Nothing here is fast on a busy machine.

let loaded: Awaited<ReturnType<typeof baseOf>>;
beforeAll(async () => {
  loaded = await baseOf("./traps.ts");
}, 60_000);

const open: HeapRun[] = [];
afterEach(() => {
  for (const run of open.splice(0)) run.dispose();
});

async function begin(handler: string, more: Partial<HeapRunOptions> = {}): Promise<HeapRun> {
  const run = await HeapRun.begin({ ...loaded, service: "traps", handler, ...more });
  open.push(run);
  return run;
}

describe("code that goes too far is ended, and only it", () => {
  test.each([
    ["loop", SHORT, /ran for 1500 ms without waiting/],
    ["microtasks", SHORT, /ran for 1500 ms without waiting/],
    ["memory", SMALL, /needs more memory/],
  ])("%s", async (handler, limits, message) => {
    const other = await begin("patient", {
      signals: [
        ["go", "one"],
        ["again", "two"],
      ],
    });
    const run = await begin(handler, { limits, signals: [["go", null]] });
    const moment = run.capture();
    await expect(run.finish()).rejects.toThrow(IsolateLimitError);
    const again = await HeapRun.from(moment, run, {
      ...loaded,
      service: "traps",
      handler,
      limits,
      signals: [["go", null]],
    });
    open.push(again);
    await expect(again.finish()).rejects.toThrow(message); // Where it stood before it went too far is as good as ever.
    expect(await other.value()).toBe("one two");
  });

  test("a text without an end", async () => {
    const run = await begin("hugeText", { limits: SMALL, signals: [["go", null]] });
    await expect(run.finish()).rejects.toThrow("string too long"); // An error of the engine, which no code can catch.
    expect(
      await (
        await begin("patient", {
          signals: [
            ["go", "a"],
            ["again", "b"],
          ],
        })
      ).value(),
    ).toBe("a b");
  });

  test("a recursion without an end is an error of the code", async () => {
    const run = await begin("recursionUncaught", { signals: [["go", null]] });
    await run.finish();
    expect(run.failure).toMatchObject({ message: expect.stringContaining("stack") as string });
  });
});

describe("images stay good", () => {
  test("after overflows of the stack, in a row and in restored instances", async () => {
    const signals = [
      ["go", null],
      ["again", null],
    ] as const;
    const run = await begin("recursion", { signals, reborn: true });
    expect(await run.value()).toEqual(["RangeError", "RangeError", "RangeError"]);
    expect(run.moments).toHaveLength(2);
    const registers = new Set(run.moments.map(({ image }) => Buffer.from(image).readUInt32LE(68)));
    expect(registers.size).toBe(1); // The stack pointer: an overflow that is not caught in time leaves it somewhere else.
  });

  test("memory that was freed is not in them", async () => {
    const run = await begin("garbage", {
      input: 200,
      signals: [
        ["go on", null],
        ["go on", null],
      ],
    });
    const { memoryBytes } = run.instance.measure();
    expect(memoryBytes).toBeGreaterThan(150 * MEBIBYTE);
    const { image } = run.capture();
    expect(image.length).toBeLessThan(400_000);
    await run.rebirth();
    expect(await run.value()).toEqual([(200 * 201) / 2, 1]);
  });

  test("they grow with what the code holds, not with how often it was moved", async () => {
    const signals = Array.from({ length: 12 }, () => ["go", null] as const);
    const run = await begin("turns", { input: 12, signals, reborn: true });
    expect(await run.value()).toBe(12);
    const sizes = run.moments.map(({ image }) => image.length);
    expect(Math.max(...sizes)).toBeLessThan(60_000);
  });
});

describe("what does not fit is refused before anything runs", () => {
  const restore =
    (image: Uint8Array, base: BaseImage = loaded.base, engine = loaded.engine): (() => Instance) =>
    () =>
      Instance.restore(engine, base, image, LIMITS);

  test("another engine", async () => {
    const { image } = (await begin("patient")).capture();
    const engine = new MachinePool({ ...loaded.engine.engine, hash: "ab".repeat(32) });
    expect(restore(image, loaded.base, engine)).toThrow(ImageMismatchError);
    expect(restore(image, loaded.base, engine)).toThrow(
      /made by the JavaScript engine .* this Perdure has abababababab/,
    );
    expect(() => Instance.start(engine, loaded.base, LIMITS)).toThrow(ImageMismatchError);
  });

  test("another base", async () => {
    const { image } = (await begin("patient")).capture();
    const made = { ...loaded.base, bundle: "cd".repeat(32) };
    const base = { ...made, hash: encodeBase(made).hash };
    expect(restore(image, base)).toThrow(/a difference to base/);
  });

  test("bytes that are none, not all, or not the ones that were written", async () => {
    const { image } = (await begin("patient")).capture();
    expect(restore(new Uint8Array(10))).toThrow(ImageDamagedError);
    expect(restore(image.subarray(0, image.length - 20))).toThrow(ImageDamagedError);
    const flipped = Uint8Array.from(image);
    flipped[image.length >> 1] = (flipped[image.length >> 1] ?? 0) ^ 0xff;
    // What zstd does not notice, the store's hash does (T7).
    let refused: unknown;
    try {
      restore(flipped)().dispose();
    } catch (error) {
      refused = error;
    }
    if (refused !== undefined) expect(refused).toBeInstanceOf(ImageDamagedError);
  });
});

test("chance inside steps is the host's: two instances of one image do not share it", async () => {
  const options = { ...loaded, service: "traps", handler: "chance", signals: [["go", null]] as const };
  const first = await begin("chance", options);
  const moment = first.capture();
  const second = await HeapRun.from(moment, first, options);
  open.push(second);
  const [one, two] = [await first.value(), await second.value()] as { after: number[]; later: number }[];
  expect(one?.after).toEqual(two?.after); // The same run: its replayable chance is part of the heap.
  expect(one?.later).not.toBe(two?.later);
});
