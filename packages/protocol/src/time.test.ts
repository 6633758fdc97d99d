import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InvalidDurationError } from "./errors.ts";
import { DURATION_MS_MAX, formatDuration, parseDuration } from "./time.ts";

describe("durations", () => {
  test.each([
    [0, 0],
    [1500, 1500],
    ["250ms", 250],
    ["10s", 10_000],
    ["1.5h", 5_400_000],
    ["1h30m", 5_400_000],
    ["7d", 604_800_000],
    ["2w", 1_209_600_000],
    ["PT15M", 900_000],
    ["P7D", 604_800_000],
    ["P1DT12H", 129_600_000],
    ["PT0.5S", 500],
    [" 5m ", 300_000],
  ])("%s is %d ms", (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test.each([
    "",
    "5",
    "-5s",
    "5x",
    "s",
    "1h 30m",
    "P",
    "PT",
    "PT5",
    "1e3s",
    "1m30",
    "∞",
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    DURATION_MS_MAX + 1,
  ])("%s is refused", (text) => {
    expect(() => parseDuration(text)).toThrow(InvalidDurationError);
  });

  test("formatting is exact", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: DURATION_MS_MAX }), (ms) => {
        expect(parseDuration(formatDuration(ms))).toBe(ms);
      }),
    );
  });

  test("no text makes it throw anything else", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          expect(parseDuration(text)).toBeGreaterThanOrEqual(0);
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidDurationError);
        }
      }),
    );
  });
});
