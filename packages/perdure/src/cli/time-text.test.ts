import { describe, expect, it } from "vitest";
import { ago, parseDurationOption, parseSince, roundDuration } from "./time-text.ts";

describe("times in words", () => {
  it.each([
    [0, "0ms"],
    [999, "999ms"],
    [1_234, "1.2s"],
    [59_999, "59s"],
    [200_000, "3m 20s"],
    [3_600_000, "1h"],
    [90_000_000, "1d 1h"],
  ])("rounds %d to %s", (ms, text) => {
    expect(roundDuration(ms)).toBe(text);
  });

  it("says how far away something is, in both directions", () => {
    expect(ago(1_000, 1_200)).toBe("now");
    expect(ago(1_000, 61_000)).toBe("1m ago");
    expect(ago(61_000, 1_000)).toBe("in 1m");
  });

  it("reads an age or a date", () => {
    expect(parseSince("15m", 1_000_000)).toBe(100_000);
    expect(parseSince("2026-03-01T12:00:00Z", 0)).toBe(Date.UTC(2026, 2, 1, 12));
    expect(() => parseSince("yesterday", 0)).toThrow(/age/);
    expect(() => parseDurationOption("soon")).toThrow(/duration/);
  });
});
