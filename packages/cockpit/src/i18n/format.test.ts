import { describe, expect, test } from "vitest";
import { formatFor } from "./format.ts";

const en = formatFor("en", "UTC");
const zh = formatFor("zh", "Asia/Shanghai");
const NOON = Date.UTC(2026, 0, 31, 12, 5, 6, 789);

describe("how things are written", () => {
  test.for([
    [0, "0ms"],
    [999, "999ms"],
    [1_234, "1.2s"],
    [59_999, "59s"],
    [200_000, "3m 20s"],
    [3_600_000, "1h"],
    [18_120_000, "5h 2m"],
    [702_000_000, "8d 3h"],
  ] as const)("%i ms lasts %s", ([ms, text]) => {
    expect(en.duration(ms)).toBe(text);
  });

  test("ages and times to come, in both languages", () => {
    expect(en.relative(NOON - 300_000, NOON)).toBe("5m ago");
    expect(en.relative(NOON + 3_600_000, NOON)).toBe("in 1h");
    expect(zh.relative(NOON - 300_000, NOON)).toBe("5分钟前");
  });

  test("times are in the viewer's zone", () => {
    expect(en.clock(NOON)).toBe("12:05:06.789");
    expect(zh.clock(NOON)).toBe("20:05:06.789");
    expect(en.dateTime(NOON)).toContain("Jan 31, 2026");
  });

  test("cheap calls are not shown as nothing", () => {
    expect(en.usd(0.000_123_4)).toBe("$0.00012");
    expect(en.usd(12.5)).toBe("$12.50");
    expect(en.usd(0)).toBe("$0.00");
  });

  test("bytes, and large numbers in short", () => {
    expect(en.bytes(512)).toBe("512 B");
    expect(en.bytes(1_536)).toBe("1.5 KiB");
    expect(en.compact(1_234_567)).toBe("1.2M");
  });
});
