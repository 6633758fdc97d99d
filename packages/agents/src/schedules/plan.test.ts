// What is started when: plans over histories of ticks, late, early and after downtimes.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CATCH_UP_MAX, plan, type Plan, type PlanQuestion } from "./plan.ts";
import { timesBetween, withJitter } from "./times.ts";
import type { CatchUp, Timing } from "./types.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const START = Date.UTC(2026, 2, 27);
const daily: Timing = { kind: "cron", cron: "0 3 * * *", timeZone: "Europe/Berlin" };
const hourly: Timing = { kind: "every", everyMs: HOUR };

const ask = (question: Partial<PlanQuestion>): Plan =>
  plan({ name: "s", timing: hourly, jitterMs: 0, catchUp: "all", decidedUntil: START, now: START, ...question });

describe("a plan", () => {
  it("starts nothing before its time, and looks again then", () => {
    expect(ask({ now: START + HOUR - 1 })).toEqual({
      start: [],
      missed: null,
      decidedUntil: START,
      next: { scheduledFor: START + HOUR, at: START + HOUR },
    });
    expect(ask({ now: START + HOUR })).toEqual({
      start: [START + HOUR],
      missed: null,
      decidedUntil: START + HOUR,
      next: { scheduledFor: START + 2 * HOUR, at: START + 2 * HOUR },
    });
  });

  const threeDays = START + 3 * DAY + 5 * HOUR;
  it("after a downtime of days: all", () => {
    const { start, missed, decidedUntil } = ask({ timing: daily, now: threeDays });
    expect(start.map((time) => new Date(time).toISOString().slice(5, 16))).toEqual([
      "03-27T02:00",
      "03-28T02:00",
      "03-29T01:00",
      "03-30T01:00",
    ]);
    expect([missed, decidedUntil]).toEqual([null, start.at(-1)]);
  });

  it("after a downtime of days: the latest", () => {
    const all = ask({ timing: daily, now: threeDays }).start;
    const { start, missed, decidedUntil } = ask({ timing: daily, now: threeDays, catchUp: "latest" });
    expect(start).toEqual(all.slice(-1));
    expect(missed).toEqual({ scheduledFor: all[2], count: 3, more: false });
    expect(decidedUntil).toBe(all.at(-1));
  });

  it("after a downtime of days: none, except what is less than a minute late", () => {
    const all = ask({ timing: daily, now: threeDays }).start;
    const last = all.at(-1) ?? 0;
    const none = { timing: daily, catchUp: "none" as const };
    expect(ask({ ...none, now: threeDays })).toMatchObject({ start: [], missed: { count: 4 }, decidedUntil: last });
    expect(ask({ ...none, now: last + 60_000 })).toMatchObject({ start: [last], missed: { count: 3 } });
    expect(ask({ ...none, now: last + 60_001 })).toMatchObject({ start: [], missed: { count: 4 } });
  });

  it("makes up for a bounded number, and says that there were more (L3)", () => {
    const { start, missed, decidedUntil } = ask({ now: START + 150 * HOUR });
    expect(start).toHaveLength(CATCH_UP_MAX);
    expect([start[0], decidedUntil]).toEqual([START + 51 * HOUR, START + 150 * HOUR]);
    expect(missed).toEqual({ scheduledFor: START + 50 * HOUR, count: 1, more: true });
  });

  it("settles what a replaced timing owes, its jitter notwithstanding, and goes on from now", () => {
    const now = START + 2 * HOUR + 1;
    expect(ask({ replaced: hourly, timing: daily, jitterMs: HOUR, now })).toMatchObject({
      start: [START + HOUR, START + 2 * HOUR],
      decidedUntil: now,
      next: { scheduledFor: START + DAY + 2 * HOUR },
    });
  });

  it("takes nothing back where the clock was set back", () => {
    expect(ask({ decidedUntil: START + 5 * HOUR, now: START })).toMatchObject({
      start: [],
      decidedUntil: START + 5 * HOUR,
      next: { scheduledFor: START + 6 * HOUR },
    });
  });
});

describe("L1, L2: over a life of ticks", () => {
  const timings = fc.constantFrom<Timing>(
    hourly,
    { kind: "every", everyMs: 7 * 60_000 },
    daily,
    { kind: "cron", cron: "*/30 1-3 * * *", timeZone: "Europe/Berlin" },
    { kind: "cron", cron: "30 2 * * *", timeZone: "America/New_York" },
  );
  /** How late each tick comes, in milliseconds: on time mostly, and now and then hours or days. */
  const delays = fc.array(
    fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 90_000 }), fc.integer({ min: 0, max: 4 * DAY })),
    {
      minLength: 1,
      maxLength: 25,
    },
  );
  const jitters = fc.constantFrom(0, 30_000, 2 * HOUR);
  const life = (timing: Timing, catchUp: CatchUp, jitterMs: number, late: readonly number[]) => {
    let state = plan({ name: "s", timing, jitterMs, catchUp, decidedUntil: START, now: START });
    const plans: { readonly now: number; readonly made: Plan }[] = [];
    let now = START;
    for (const delay of late) {
      now = Math.max(now, state.next?.at ?? now) + delay;
      state = plan({ name: "s", timing, jitterMs, catchUp, decidedUntil: state.decidedUntil, now });
      plans.push({ now, made: state });
    }
    return { plans, until: state.decidedUntil, now, started: plans.flatMap(({ made }) => made.start) };
  };

  it("all: every time is started exactly once, save what the bound leaves out", () => {
    fc.assert(
      fc.property(timings, jitters, delays, (timing, jitterMs, late) => {
        const { started, plans, until } = life(timing, "all", jitterMs, late);
        const everyTime = timesBetween(timing, START, until, 20_000).times;
        const bounded = plans.some(({ made }) => made.missed !== null);
        if (bounded) {
          expect(everyTime).toEqual(expect.arrayContaining([...started]));
          for (const { made } of plans) if (made.missed !== null) expect(made.start).toHaveLength(CATCH_UP_MAX);
        } else expect(started).toEqual(everyTime);
      }),
      { numRuns: 60 },
    );
  });

  it("any policy: none is started twice, out of order or early, and each tick starts one at most", () => {
    fc.assert(
      fc.property(
        timings,
        fc.constantFrom<CatchUp>("none", "latest"),
        jitters,
        delays,
        (timing, catchUp, jitterMs, late) => {
          const { started, plans } = life(timing, catchUp, jitterMs, late);
          expect(started).toEqual([...new Set(started)].toSorted((a, b) => a - b));
          for (const { now, made } of plans) {
            expect(made.start.length).toBeLessThanOrEqual(1);
            for (const time of made.start) expect(withJitter("s", timing, time, jitterMs).at).toBeLessThanOrEqual(now);
            expect(made.next?.at ?? Number.POSITIVE_INFINITY).toBeGreaterThan(now);
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  it("on-time ticks start every time under every policy, jitter or not", () => {
    fc.assert(
      fc.property(timings, fc.constantFrom<CatchUp>("none", "latest", "all"), jitters, (timing, catchUp, jitterMs) => {
        const { started, plans, until } = life(
          timing,
          catchUp,
          jitterMs,
          Array.from({ length: 20 }, () => 0),
        );
        expect(started).toEqual(timesBetween(timing, START, until, 100).times);
        expect(plans.every(({ made }) => made.missed === null)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });
});
