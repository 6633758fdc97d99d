import { DEFAULT_RETRY, encodeRunId } from "@perdure/protocol";
import { describe, expect, it } from "vitest";

import { backoffMs, retryAfterMs, upstreamWaitMs } from "./backoff.ts";
import { ReplayableRandom } from "./prng.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");

describe("waits", () => {
  it("double up to a minute, spread over a quarter", () => {
    expect([1, 2, 3, 8, 9, 1_000].map((tries) => backoffMs(DEFAULT_RETRY, tries, 0.5))).toEqual([
      500, 1_000, 2_000, 60_000, 60_000, 60_000,
    ]);
    expect([backoffMs(DEFAULT_RETRY, 1, 0), backoffMs(DEFAULT_RETRY, 1, 0.999_999)]).toEqual([375, 625]);
  });

  it("are never shorter than the upstream asks, nor than a first retry", () => {
    expect([upstreamWaitMs(DEFAULT_RETRY, 10_000, 0), upstreamWaitMs(DEFAULT_RETRY, 0, 0.5)]).toEqual([10_000, 500]);
  });
});

describe("Retry-After is found by structure", () => {
  const found: readonly [string, unknown, number | undefined][] = [
    ["a duration of ours", { retryAfter: "90s" }, 90_000],
    ["milliseconds of ours", { retryAfter: 250 }, 250],
    ["seconds in a record", { responseHeaders: { "retry-after": "2" } }, 2_000],
    ["another spelling", { headers: { "Retry-After": "2" } }, 2_000],
    ["a Headers object", { headers: new Headers({ "retry-after": "3" }) }, 3_000],
    ["a response", { response: { headers: new Headers({ "retry-after": "0.5" }) } }, 500],
    ["an HTTP date", { headers: { "retry-after": "Thu, 01 Jan 2026 00:00:10 GMT" } }, 10_000],
    ["a date that is over", { headers: { "retry-after": "Thu, 01 Jan 2015 00:00:10 GMT" } }, 0],
    ["milliseconds by header", { headers: { "retry-after-ms": "1500", "retry-after": "9" } }, 1_500],
    ["a list, as Node has it", { headers: { "retry-after": ["4"] } }, 4_000],
    ["its cause", new Error("outer", { cause: { cause: { retryAfter: 5 } } }), 5],
    ["the last error of several", { lastError: { retryAfter: 6 } }, 6],
    ["nothing", { headers: { "content-type": "x" }, retryAfter: {} }, undefined],
    ["nonsense", { headers: { "retry-after": "soon" }, retryAfter: "soon" }, undefined],
    ["a thrown text", "no", undefined],
    ["null", null, undefined],
  ];
  for (const [name, error, ms] of found) it(name, () => expect(retryAfterMs(error, NOW)).toBe(ms));
});

describe("the generator of a run", () => {
  const run = (byte: number): ReplayableRandom => new ReplayableRandom(encodeRunId(new Uint8Array(24).fill(byte)));

  it("gives the same sequence to every attempt, and another to every run", () => {
    const draw = (random: ReplayableRandom): number[] => Array.from({ length: 5 }, () => random.random());
    expect(draw(run(1))).toEqual(draw(run(1)));
    expect(draw(run(1))).not.toEqual(draw(run(2)));
  });

  it("is even", () => {
    const random = run(3);
    const buckets = Array.from({ length: 10 }, () => 0);
    for (let i = 0; i < 20_000; i += 1) {
      const value = random.random();
      expect(value >= 0 && value < 1).toBe(true);
      buckets[Math.floor(value * 10)] = (buckets[Math.floor(value * 10)] ?? 0) + 1;
    }
    for (const bucket of buckets) expect(Math.abs(bucket - 2_000)).toBeLessThan(250);
  });

  it("makes ids of version 4", () => {
    const random = run(4);
    const ids = Array.from({ length: 1_000 }, () => random.uuid());
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(new Set(ids).size).toBe(1_000);
  });
});
