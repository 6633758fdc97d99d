import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compactScale, proportionalScale, type TimeScale } from "./time-scale.ts";
import { isWhole, moved, WHOLE, zoomed } from "./use-zoom.ts";
import { viewOf } from "./time-view.ts";

const times = fc.array(fc.integer({ min: 0, max: 1_000_000_000 }), { minLength: 2, maxLength: 40 });

function scales(of: readonly number[]): readonly TimeScale[] {
  const [from, to] = [Math.min(...of), Math.max(...of)];
  return [proportionalScale(from, to), compactScale(from, to, of)];
}

describe("time scales", () => {
  test("Z1, Z2: what is later is not further left, and places lead back to their times", () => {
    fc.assert(
      fc.property(times, (of) => {
        for (const scale of scales(of)) {
          const places = of.toSorted((a, b) => a - b).map((time) => scale.placeOf(time));
          places.forEach((place, at) => expect(place).toBeGreaterThanOrEqual((places[at - 1] ?? 0) - 1e-9));
          for (const time of of) expect(Math.abs(scale.timeAt(scale.placeOf(time)) - time)).toBeLessThan(1);
        }
      }),
    );
  });

  test("compact: three days of sleep leave room for the steps around them", () => {
    const day = 86_400_000;
    const steps = [0, 100, 200, 300, 300 + 3 * day, 400 + 3 * day, 500 + 3 * day];
    const [real, compact] = scales(steps);
    const width = (scale: TimeScale | undefined): number => (scale?.placeOf(100) ?? 0) - (scale?.placeOf(0) ?? 0);
    expect(width(real)).toBeLessThan(1e-6);
    expect(width(compact)).toBeGreaterThan(0.02);
  });

  test("marks are round, in order and not too many", () => {
    const marks = proportionalScale(1_000, 61_000).ticks(1_000, 61_000, 6);
    expect(marks.map((mark) => mark - 1_000)).toEqual([0, 10_000, 20_000, 30_000, 40_000, 50_000, 60_000]);
  });
});

describe("zooming", () => {
  test("the place under the pointer stays where it is", () => {
    const about = 0.3;
    const before = { from: 0.2, to: 0.8 };
    const after = zoomed(before, 0.5, about);
    expect(after.from + (after.to - after.from) * about).toBeCloseTo(before.from + (before.to - before.from) * about);
    expect(after.to - after.from).toBeCloseTo(0.3);
  });

  test("it never leaves the line", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(fc.double({ min: 0.01, max: 100, noNaN: true }), fc.double({ min: -5, max: 5, noNaN: true })),
        ),
        (turns) => {
          const end = turns.reduce((zoom, [factor, by]) => moved(zoomed(zoom, factor, 0.5), by), WHOLE);
          expect(end.from).toBeGreaterThanOrEqual(0);
          expect(end.to).toBeLessThanOrEqual(1 + 1e-9);
          expect(end.to).toBeGreaterThan(end.from);
        },
      ),
    );
    expect(isWhole(zoomed({ from: 0.4, to: 0.6 }, 100, 0.5))).toBe(true);
  });

  test("bars are cut at the edges of what is seen, and gone beyond them", () => {
    const view = viewOf(proportionalScale(0, 1_000), { from: 0.25, to: 0.75 }, 1_000);
    expect(view.bar({ from: 0, to: 500 })).toEqual({ left: 0, width: 0.5 });
    expect(view.bar({ from: 500, to: null })).toEqual({ left: 0.5, width: 0.5 });
    expect(view.bar({ from: 800, to: 900 })).toBeNull();
  });
});
