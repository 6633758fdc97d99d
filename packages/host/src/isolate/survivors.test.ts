// What a heap is made of is all there after an image: code that is put into another instance wherever it waits comes to the
// same end as code that nobody moved.

import { beforeAll, describe, expect, test, vi } from "vitest";
import { baseOf, HeapRun, type HeapRunOptions } from "../../test/isolate/heap-run.ts";

vi.setConfig({ testTimeout: 60_000 });

let loaded: Awaited<ReturnType<typeof baseOf>>;
beforeAll(async () => {
  loaded = await baseOf("./survivors.ts");
}, 60_000);

type Case = readonly [handler: string, signals: HeapRunOptions["signals"], expected: unknown];

const CASES: readonly Case[] = [
  [
    "promises",
    [
      ["go", null],
      ["b", "first"],
      ["a", "from outside"],
    ],
    {
      all: ["resolved!", "from outside", 3],
      race: "race resolved!",
      any: "first",
      reasons: ["RangeError: kept", "resolved!"],
      seen: ["finally"],
    },
  ],
  [
    "generators",
    [],
    {
      seen: [0, 1, 2],
      notes: ["nothing", "nothing", "closed", "told", "closed", "letters closed"],
      letters: "ab",
      mapped: [0, 2, 6],
    },
  ],
  ["control", [], { returned: "returned", notes: ["11", "21", "thrown", "finally"] }],
  [
    "values",
    [],
    {
      closures: [2, 3, 3],
      private: [12, 1, true, false, 2],
      weak: ["weakly held", true, true],
      map: [1, "by identity", "nan", 3],
      symbols: ["tagged", "shared", "Symbol(tag)"],
      frozen: [true, false],
      big: (2n ** 100n).toString(),
      bytes: [9, 2, 3],
      date: "1970-01-01T00:00:00.005Z",
      pattern: "second",
      proxy: 42,
      cycle: true,
      unique: 2,
    },
  ],
  ["disposal", [], ["body object object", "later dispose second", "dispose first"]],
  ["signals", [], { notes: ["aborted: enough"], aborted: true, value: false }],
  ["steps", [], { keys: ["-1"], flaky: 3, many: [1, 4, 9], ranHere: true }],
];

describe("moved wherever it waits", () => {
  test.each(CASES)("%s", async (handler, signals, expected) => {
    const options = { ...loaded, service: "survivors", handler, ...(signals === undefined ? {} : { signals }) };
    const still = await HeapRun.begin(options);
    expect(await still.value()).toEqual(expected);
    const moved = await HeapRun.begin({ ...options, reborn: true });
    expect(await moved.value()).toEqual(expected);
    expect(moved.moments.length).toBeGreaterThanOrEqual(1);
    still.dispose();
    moved.dispose();
  });

  test("timers, the clock and chance of handler code go on where they were", async () => {
    const options = { ...loaded, service: "survivors", handler: "clocks" };
    const still = await HeapRun.begin(options);
    const moved = await HeapRun.begin({ ...options, reborn: true });
    const value = await still.value();
    expect(value).toMatchObject({ notes: ["timeout", "500 3500"] });
    expect(await moved.value()).toEqual(value);
    still.dispose();
    moved.dispose();
  });

  test("five times in a row between two entries: images of restored instances are images like any other", async () => {
    const run = await HeapRun.begin({ ...loaded, service: "survivors", handler: "values" });
    for (let round = 0; round < 5; round += 1) await run.rebirth();
    expect(await run.value()).toMatchObject({ private: [12, 1, true, false, 2], pattern: "second" });
    const sizes = run.moments.map(({ image }) => image.length);
    expect(Math.max(...sizes)).toBeLessThan(Math.min(...sizes) * 2);
    run.dispose();
  });

  test("one image is put back twice: both go on, and neither sees what the other does", async () => {
    const options = { ...loaded, service: "survivors", handler: "values" };
    const first = await HeapRun.begin(options);
    const moment = first.capture();
    const second = await HeapRun.from(moment, first, options);
    expect(await first.value()).toEqual(await second.value());
    first.dispose();
    second.dispose();
  });
});
