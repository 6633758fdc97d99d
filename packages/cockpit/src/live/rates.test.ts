import { describe, expect, test } from "vitest";
import { KEPT_SECONDS, quantileOf, Rates } from "./rates.ts";

const NOW = 1_000_000_000;

describe("rates", () => {
  test("a bucket is a rate a second, whatever its width", () => {
    const rates = new Rates();
    for (let at = 0; at < 10; at += 1) rates.count("started", NOW + at * 1_000, 3);
    expect(rates.series(NOW + 10_000, 10, 5).started).toEqual([3, 3]);
    expect(rates.series(NOW + 10_000, 10, 1).started).toEqual(Array(10).fill(3));
  });

  test("R1: a place is used again, and what was in it is gone", () => {
    const rates = new Rates();
    rates.count("failed", NOW);
    rates.count("failed", NOW + KEPT_SECONDS * 1_000);
    rates.count("failed", NOW); // Too long ago now.
    const end = NOW + KEPT_SECONDS * 1_000 + 1_000;
    const { failed } = rates.series(end, KEPT_SECONDS, 1);
    expect(failed.reduce((sum, value) => sum + value, 0)).toBe(1);
    expect(failed.at(-1)).toBe(1);
  });

  test("R2: of very many latencies an even sample is kept", () => {
    const rates = new Rates();
    for (let ms = 0; ms < 10_000; ms += 1) rates.latency(NOW, ms);
    const { p50, p95 } = rates.series(NOW + 1_000, 1, 1);
    expect(p50[0]).toBeGreaterThan(3_000);
    expect(p50[0]).toBeLessThan(7_000);
    expect(p95[0]).toBeGreaterThan(8_500);
  });

  test("quantiles of nothing are nothing", () => {
    expect(quantileOf([], 0.5)).toBeNull();
    expect(quantileOf([1, 2, 3, 4], 0.5)).toBe(3);
    expect(quantileOf([1], 0.95)).toBe(1);
  });
});
