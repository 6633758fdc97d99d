// When: cron expressions and intervals over the days on which clocks are set.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { timesAfter, timesBetween, timingProblem, timingText, withJitter } from "./times.ts";
import type { Timing } from "./types.ts";

const cron = (text: string, timeZone = "UTC"): Timing => ({ kind: "cron", cron: text, timeZone });
const every = (everyMs: number): Timing => ({ kind: "every", everyMs });
const iso = (times: readonly number[]): string[] => times.map((time) => new Date(time).toISOString().slice(0, 16));
const at = (text: string): number => Date.parse(`${text}Z`);

const TIMINGS: readonly Timing[] = [
  every(1_000),
  every(15 * 60_000),
  every(7 * 86_400_000 + 1),
  ...["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Africa/Casablanca"].flatMap(
    (zone) => [
      cron("30 2 * * *", zone),
      cron("*/20 * * * *", zone),
      cron("0 1-3 * * *", zone),
      cron("15 9 * * 1-5", zone),
      cron("*/10 * * * * *", zone),
      cron("0 0 L * *", zone),
    ],
  ),
];
const timings = fc.constantFrom(...TIMINGS);
const HOUR = 3_600_000;
/** Any moment of two years, and every other time one around which a clock is set. */
const moments = fc.oneof(
  fc.integer({ min: at("2026-01-01T00:00"), max: at("2027-12-31T00:00") }),
  fc
    .tuple(
      fc.constantFrom(
        "2026-03-29T01:00",
        "2026-10-25T01:00",
        "2026-03-08T07:00",
        "2026-11-01T06:00",
        "2026-04-04T15:00",
      ),
      fc.integer({ min: -6 * HOUR, max: HOUR }),
    )
    .map(([change, before]) => at(change) + before),
);

describe("cron", () => {
  it("is in its time zone, across the year", () => {
    expect(iso(timesAfter(cron("0 3 * * *", "Europe/Berlin"), at("2026-01-01T00:00"), 2))).toEqual([
      "2026-01-01T02:00",
      "2026-01-02T02:00",
    ]);
    expect(iso(timesAfter(cron("0 3 * * *", "Europe/Berlin"), at("2026-07-01T00:00"), 1))).toEqual([
      "2026-07-01T01:00",
    ]);
  });

  it("moves a fixed time that does not exist to the first moment that does, and leaves out repeated ones", () => {
    // 29 March 2026, Berlin: 02:00 becomes 03:00 at 01:00 UTC.
    expect(iso(timesAfter(cron("30 2 * * *", "Europe/Berlin"), at("2026-03-28T12:00"), 2))).toEqual([
      "2026-03-29T01:00",
      "2026-03-30T00:30",
    ]);
    expect(iso(timesAfter(cron("*/30 2 * * *", "Europe/Berlin"), at("2026-03-28T12:00"), 2))).toEqual([
      "2026-03-30T00:00",
      "2026-03-30T00:30",
    ]);
  });

  it("takes the first of a fixed time that exists twice, and both of repeated ones", () => {
    // 25 October 2026, Berlin: 03:00 becomes 02:00 at 01:00 UTC.
    expect(iso(timesAfter(cron("30 2 * * *", "Europe/Berlin"), at("2026-10-24T12:00"), 2))).toEqual([
      "2026-10-25T00:30",
      "2026-10-26T01:30",
    ]);
    expect(iso(timesAfter(cron("*/30 2 * * *", "Europe/Berlin"), at("2026-10-24T12:00"), 4))).toEqual([
      "2026-10-25T00:00",
      "2026-10-25T00:30",
      "2026-10-25T01:00",
      "2026-10-25T01:30",
    ]);
    expect(
      timesAfter(cron("0 * * * *", "Europe/Berlin"), at("2026-10-24T23:30"), 4).map((time) => time % HOUR),
    ).toEqual([0, 0, 0, 0]);
  });

  it("ends where there is no further time", () => {
    expect(timesAfter(cron("0 0 31 2 *"), 0, 3)).toEqual([]);
  });
});

describe("intervals", () => {
  it("are multiples from the epoch, from whatever moment they are asked", () => {
    const quarter = every(15 * 60_000);
    expect(iso(timesAfter(quarter, at("2026-01-01T10:07"), 3))).toEqual([
      "2026-01-01T10:15",
      "2026-01-01T10:30",
      "2026-01-01T10:45",
    ]);
    expect(iso(timesAfter(quarter, at("2026-01-01T10:15"), 1))).toEqual(["2026-01-01T10:30"]);
  });
});

describe("W1: times after and times between", () => {
  it("are the same times, ascending, each once", () => {
    fc.assert(
      fc.property(timings, moments, fc.integer({ min: 1, max: 12 }), (timing, from, count) => {
        const ahead = timesAfter(timing, from, count);
        expect(ahead).toHaveLength(count);
        for (const [index, time] of ahead.entries())
          expect(time).toBeGreaterThan(index === 0 ? from : (ahead[index - 1] ?? 0));
        const last = ahead.at(-1) ?? from;
        expect(timesBetween(timing, from, last, count)).toEqual({ times: ahead, earlier: null });
        // Not one millisecond more on either side.
        expect(timesBetween(timing, from, last - 1, count).times).toEqual(ahead.slice(0, -1));
        expect(timesBetween(timing, ahead[0] ?? from, last, count).times).toEqual(ahead.slice(1));
        expect(timesBetween(timing, from, last, count - 1 || 1)).toEqual(
          count === 1 ? { times: ahead, earlier: null } : { times: ahead.slice(1), earlier: ahead[0] },
        );
      }),
      { numRuns: 150 },
    );
  });
});

describe("jitter", () => {
  it("is fixed for a time, below its maximum, and never reaches the time after it", () => {
    fc.assert(
      fc.property(timings, moments, fc.integer({ min: 1, max: 10 * 86_400_000 }), (timing, from, jitterMs) => {
        const [time = 0, next = 0] = timesAfter(timing, from, 2);
        const occurrence = withJitter("nightly", timing, time, jitterMs);
        expect(occurrence).toEqual(withJitter("nightly", timing, time, jitterMs));
        expect(occurrence.at).toBeGreaterThanOrEqual(time);
        expect(occurrence.at).toBeLessThan(Math.min(time + jitterMs, next));
      }),
      { numRuns: 200 },
    );
  });

  it("spreads schedules of one time", () => {
    const offsets = Array.from({ length: 100 }, (_, index) => {
      const { scheduledFor, at: start } = withJitter(`poll ${index}`, every(3_600_000), 3_600_000, 600_000);
      return start - scheduledFor;
    });
    const thirds = [0, 1, 2].map((third) => offsets.filter((offset) => Math.floor(offset / 200_000) === third).length);
    expect(Math.min(...thirds)).toBeGreaterThan(15);
    expect(withJitter("poll", every(1_000), 5_000, 0)).toEqual({ scheduledFor: 5_000, at: 5_000 });
  });
});

describe("what is wrong with a timing", () => {
  it.each([
    ["0 3 * *", "UTC", "five fields"],
    ["", "UTC", "five fields"],
    ["2026-01-01T00:00:00", "UTC", "five fields"],
    ["* * * * * * 2030", "UTC", "five fields"],
    ["61 * * * *", "UTC", "is not a cron expression"],
    ["@sometimes", "UTC", "is not a cron expression"],
    ["0 0 31 2 *", "UTC", "names no time"],
    ["0 3 * * *", "Mars/Phobos", '"Mars/Phobos" is not a time zone'],
  ])("%j in %s", (text, zone, problem) => {
    expect(timingProblem(text, zone, 0)).toContain(problem);
  });

  it.each(["0 3 * * *", "@daily", "*/5 * * * * *", "0 9 * * MON-FRI", "0 0 29 2 *"])("%j is right", (text) => {
    expect(timingProblem(text, "Europe/Berlin", 0)).toBeUndefined();
  });
});

it("reads as people write it", () => {
  expect([timingText(cron("0 3 * * *")), timingText(every(90 * 60_000))]).toEqual(["0 3 * * *", "every 1h30m"]);
});
