import { describe, expect, test, vi } from "vitest";
import type { ApiEvent, RunSummary } from "@perdure/protocol";
import { aRun, aStep, at, runId } from "../testing/samples.ts";
import { LiveStore } from "./live-store.ts";

const told = (run: RunSummary, created = false): ApiEvent => ({ type: "run", at: run.changedAt, created, run });

/** Frames come when the test says so. */
function withFrames(options: { readonly runsMax?: number; readonly eventsPerFrameMax?: number } = {}) {
  let next: (() => void) | null = null;
  const schedule = vi.fn((flush: () => void) => {
    next = flush;
  });
  const store = new LiveStore({ schedule, since: Date.parse(at(0)), ...options });
  const frame = (): void => {
    const flush = next;
    next = null;
    flush?.();
  };
  return { store, frame, schedule };
}

describe("the live store", () => {
  test("L1: a thousand events are one change of what is seen", () => {
    const { store, frame, schedule } = withFrames();
    const listener = vi.fn<() => void>();
    store.subscribe(listener);
    for (let seq = 1; seq <= 1_000; seq += 1) store.push([told(aRun(seq), true)]);
    expect(listener).not.toHaveBeenCalled();
    expect(schedule).toHaveBeenCalledTimes(1);
    frame();
    expect(listener).toHaveBeenCalledTimes(1);
    expect(store.recent()).toHaveLength(1_000);
    expect(store.version()).toBe(1);
  });

  test("L1: a backlog is spread over frames, in order", () => {
    const { store, frame } = withFrames({ eventsPerFrameMax: 2 });
    const seen: number[] = [];
    store.onFrame((events) => seen.push(events.length));
    store.push([1, 2, 3, 4, 5].map((seq) => told(aRun(seq))));
    frame();
    expect(store.run(runId(3))).toBeUndefined();
    frame();
    frame();
    frame();
    expect(seen).toEqual([2, 2, 1]);
    expect(store.run(runId(5))?.seq).toBe(5);
  });

  test("L2: of two versions in one frame the later one counts", () => {
    const { store, frame } = withFrames();
    store.push([told(aRun(1)), told(aRun(1, { status: "paused" }))]);
    frame();
    expect(store.run(runId(1))?.status).toBe("paused");
  });

  test("L3: what was not heard of for longest goes first", () => {
    const { store, frame } = withFrames({ runsMax: 2 });
    store.push([told(aRun(1)), told(aRun(2)), told(aRun(1, { status: "retrying" })), told(aRun(3))]);
    frame();
    expect(store.recent().map(({ seq }) => seq)).toEqual([3, 1]);
  });

  test("L4: missed events clear what is known and begin a new epoch; deleted runs are gone", () => {
    const { store, frame } = withFrames();
    store.push([told(aRun(1)), told(aRun(2)), { type: "deleted", at: at(3), runId: runId(1) }]);
    frame();
    expect(store.run(runId(1))).toBeUndefined();
    expect(store.deleted().has(runId(1))).toBe(true);
    expect(store.epoch()).toBe(0);
    store.push([{ type: "reset", last: "9" }]);
    frame();
    expect([store.epoch(), store.recent().length, store.deleted().size]).toEqual([1, 0, 0]);
  });

  test("rates count beginnings and ends, each once, and what was before the page was opened by seeding", () => {
    const { store, frame } = withFrames();
    const done = aRun(1, { status: "succeeded", changedAt: at(2_500), finishedAt: at(2_500), createdAt: at(500) });
    store.push([told(aRun(1, { createdAt: at(500), changedAt: at(500) }), true), told(done), told(done)]);
    frame();
    const before = aRun(9, { status: "failed", createdAt: at(-3_000), finishedAt: at(-2_000) });
    store.seedRates([before, done]);
    store.seedRates([before]);
    const { started, succeeded, failed, p50 } = store.rates.series(Date.parse(at(5_000)), 10, 1);
    const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
    expect([sum(started), sum(succeeded), sum(failed)]).toEqual([2, 1, 1]);
    expect(p50.filter((value) => value !== null)).toEqual([1_000, 2_000]);
  });

  test("models' usage is summed over what was heard", () => {
    const { store, frame } = withFrames();
    const answer = { usage: { inputTokens: 100, outputTokens: { total: 20 }, usd: 0.5 } };
    const entry = aStep(1, 1, { result: { kind: "value", value: answer } });
    store.push([
      { type: "entry", at: at(1), runId: runId(1), entry },
      { type: "entry", at: at(2), runId: runId(1), entry: aStep(2, 2, { result: { kind: "value", value: "text" } }) },
    ]);
    frame();
    expect(store.usage()).toEqual({ tokens: 120, usd: 0.5, calls: 1 });
  });

  // Sixty frames with a second's events of each: their parsing and taking in must leave nearly all of each frame to drawing.
  // Compared with the time that the same machine needs for the parsing alone, so that a slow machine does not fail.
  test("taking in costs little beside the parsing that has to be", () => {
    const lines = Array.from({ length: 20_000 }, (_, seq) => JSON.stringify(told(aRun(seq % 3_000))));
    const cost = (work: () => void): number => {
      const runs = Array.from({ length: 5 }, () => {
        const start = performance.now();
        work();
        return performance.now() - start;
      });
      return Math.min(...runs);
    };
    const parsing = cost(() => lines.forEach((line) => JSON.parse(line)));
    const all = cost(() => {
      const { store, frame } = withFrames({ eventsPerFrameMax: 17 });
      store.push(lines.map((line) => JSON.parse(line) as ApiEvent));
      for (let at = 0; at < lines.length / 17 + 1; at += 1) frame();
    });
    expect(all).toBeLessThan(parsing * 12 + 20);
  }, 60_000);
});
