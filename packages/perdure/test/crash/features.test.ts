// Everything that the SDK offers, crashed at every entry: the same result, and no journaled effect run twice (E1, E2, E5).
// In both modes of memory; in isolates with an image at every entry, at some, and at none.

import { service, type AnyDefinition } from "@perdure/sdk";
import type { RunId } from "@perdure/protocol";
import { describe, expect, test } from "vitest";
import { crashAtEveryEntry, TestWorld, type CrashReport, type CrashTest } from "../../src/testing.ts";
import { forgetEffects } from "./effects.ts";
import { approval, counter, features, log, worker } from "./features.ts";

const services: readonly AnyDefinition[] = [features, counter, worker, approval, log];
const sources = [new URL("./features.ts", import.meta.url)];

type Mode = "journal" | "every" | "none" | "random:1";

const MODES: readonly Mode[] = ["journal", "every", "none", "random:1"];
/** Crash points of one test: worlds with isolates cost more than others. */
const POINTS: Readonly<Record<Mode, number>> = { journal: 1_000, every: 5, none: 2, "random:1": 3 };

function modeOf(mode: Mode): Pick<CrashTest, "mode" | "sources" | "images"> {
  return mode === "journal" ? { mode } : { mode: "snapshot", sources, images: mode };
}

async function crash(mode: Mode, handler: string, extra: Partial<CrashTest> = {}): Promise<CrashReport> {
  const report = await crashAtEveryEntry({
    services,
    target: { service: "features", handler },
    reset: () => void forgetEffects(),
    ...modeOf(mode),
    pointsMax: POINTS[mode],
    ...extra,
  });
  expect(report.crashes).toBe(Math.min(report.commits, POINTS[mode]) * 2);
  for (const what of ["taken", "restored", "lost"] as const) images[mode][what] += report.images[what];
  return report;
}

/** Of all tests of a mode together. */
const images = Object.fromEntries(MODES.map((mode) => [mode, { taken: 0, restored: 0, lost: 0 }])) as Record<
  Mode,
  { taken: number; restored: number; lost: number }
>;

/** Of all streams that the scenario has; `tokens` are written again by steps that run again. */
async function journaledItems(world: TestWorld): Promise<unknown> {
  const [run] = await world.runs();
  const streams = [
    await world.stream({ service: "log", key: "k" }, "log"),
    await world.stream({ service: "log", key: "other" }, "log"),
    await world.stream({ run: (run as { id: RunId }).id }, "own"),
  ];
  expect((await world.stream({ service: "log", key: "k" }, "tokens")).length).toBeGreaterThanOrEqual(12);
  return streams.map((items) => items.map(({ offset, payload, writer }) => [offset, String(payload), writer]));
}

describe.each(MODES)(
  "%s: crashed at every entry, the result is the same and no journaled effect runs twice",
  (mode) => {
    test.each([
      ["sequential", { n: 1 }],
      ["combinators", undefined],
      ["clockAndChance", undefined],
      ["retries", undefined],
      ["gaveUp", undefined],
      ["state", undefined],
      ["parallelOnOneKey", undefined],
      ["sends", undefined],
      ["idempotentCalls", undefined],
      ["workflows", undefined],
      ["bytesAndNothing", undefined],
      ["large", undefined],
      ["atMostOnce", undefined],
    ])("%s", async (handler, input) => {
      const report = await crash(mode, handler, { input });
      expect(report.result.kind, JSON.stringify(report.result)).not.toBe("failure");
      expect(report.commits).toBeGreaterThan(2);
    });

    test("streams: each journaled item stands there once, in order", async () => {
      const report = await crash(mode, "streams", { observe: journaledItems });
      expect(report.result).toMatchObject({ kind: "value" });
      const { first, own } = JSON.parse(String((report.result as { value: unknown }).value)) as {
        readonly first: { readonly seen: readonly (readonly unknown[])[]; readonly beside: readonly unknown[] };
        readonly own: readonly number[];
      };
      expect(own).toEqual([1, 2, 3]);
      expect(first.seen[0]).toEqual(["begin", { base64: "no bytes" }, "answer 0 ", { base64: "AA==" }]);
      // Trimmed before its fourth item, of what it would have read from its third on.
      expect(first.seen[2]?.[0]).toEqual({ base64: "AA==" });
      expect(first.beside.slice(0, 4)).toEqual(["beside", null, "TerminalError: refused", ["from a run of the key"]]);
    });

    test("streams: what a step writes is there at least once, and says which try wrote it", async () => {
      const world = await new TestWorld({ services, ...modeOf(mode) }).open();
      const run = await world.submit({ service: "log", handler: "work", key: "k" }, 2);
      await world.finish(run);
      const tokens = await world.stream({ service: "log", key: "k" }, "tokens");
      expect(tokens.map(({ payload, writer }) => [payload, writer])).toEqual(
        [0, 1].flatMap((i) => ["a", "b", "c"].map((letter) => [`"${i}${letter}"`, `${3 + i * 4}.1`])),
      );
      // One append for what was written in one tick.
      expect(new Set(tokens.slice(0, 3).map(({ at }) => at)).size).toBe(1);
    });

    test("signals", async () => {
      const report = await crash(mode, "signalled", {
        outside: async (world) => {
          const open = (await world.waiting())[0];
          if (open === undefined) return false;
          if (open.signal === "go") await world.signal(open.run, "go", "started");
          else for (const note of ["one", "two", "end"]) await world.signal(open.run, "note", note);
          return true;
        },
        // A crash between two notes makes the outside send them again: the code sees what was accepted, in order.
        same: (reference, actual) => reference.kind === actual.kind,
      });
      expect(report.result).toMatchObject({
        kind: "value",
        value: JSON.stringify({ first: "started", notes: ["one", "two"] }),
      });
    });

    test("awakeables", async () => {
      const report = await crash(mode, "awaited", {
        outside: async (world) => {
          const open = (await world.waiting())[0];
          if (open === undefined) return false;
          await world.resolve(open, "answer");
          return true;
        },
      });
      expect(report.result).toMatchObject({ value: JSON.stringify(["answer", "m"]) });
    });

    test("cancel with compensation", async () => {
      const report = await crash(mode, "compensates", {
        outside: async (world) => {
          const run = (await world.runs()).find((other) => other.handler === "compensates");
          if (run === undefined) return false;
          const cancelled =
            (await world.journal(run.id)).some((entry) => entry.kind === "signal") || run.cancelling !== null;
          if (!cancelled) await world.cancel(run.id);
          return !cancelled;
        },
      });
      expect(report.result).toMatchObject({ value: '"compensated"' });
    });
  },
);

test("images were taken where they are meant to be, attempts began from them, and damaged ones were passed over", () => {
  const none = { taken: 0, restored: 0, lost: 0 };
  expect(images).toMatchObject({ journal: none, none });
  for (const mode of ["every", "random:1"] as const) {
    const { taken, restored, lost } = images[mode];
    expect(taken).toBeGreaterThan(lost);
    expect(restored).toBeGreaterThan(20);
    expect(lost).toBeGreaterThan(5);
  }
  expect(images.every.taken).toBeGreaterThan(images["random:1"].taken);
});

describe("without a crash", () => {
  test("time is skipped: three days pass in no time", async () => {
    const world = await new TestWorld({ services }).open();
    const run = await world.submit({ service: "worker", handler: "slow" }, 7);
    const before = world.now;
    expect(await world.finish(run)).toMatchObject({ value: "7" });
    expect(world.now - before).toBeGreaterThanOrEqual(3 * 86_400_000);
  });

  test("a run that waits for something nobody brings is named", async () => {
    const world = await new TestWorld({ services }).open();
    const run = await world.submit({ service: "features", handler: "signalled" });
    await expect(world.finish(run)).rejects.toThrow(/signal "go"/);
  });

  test("the harness sees a handler that is not deterministic", async () => {
    let calls = 0;
    const fickle = service("fickle", {
      async go(ctx) {
        calls += 1;
        return ctx.step(`step ${calls}`, () => calls);
      },
    });
    await expect(
      crashAtEveryEntry({ services: [fickle], target: { service: "fickle", handler: "go" } }),
    ).rejects.toThrow(/crash (before|after)/);
  });
});
