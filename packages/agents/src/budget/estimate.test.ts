import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { estimateTokens } from "./estimate.ts";

describe("an estimate", () => {
  test("is of bytes, two to a token where nothing else is said, rounded up", () => {
    expect(estimateTokens(1_001, 500)).toEqual({ inputTokens: 501, maxOutputTokens: 500, minOutputTokens: 256 });
    expect(estimateTokens(1_001, 500, { bytesPerToken: 1, minOutputTokens: 10 })).toEqual({
      inputTokens: 1_001,
      maxOutputTokens: 500,
      minOutputTokens: 10,
    });
  });

  test("of a longer prompt is never less", () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat({ max: 1_000 }), (bytes, more) => {
        const shorter = estimateTokens(bytes, 1).inputTokens;
        expect(estimateTokens(bytes + more, 1).inputTokens).toBeGreaterThanOrEqual(shorter);
        expect(shorter * 2).toBeGreaterThanOrEqual(bytes);
      }),
    );
  });

  test("refuses what is no figure, and names it", () => {
    expect(() => estimateTokens(Number.NaN, 1)).toThrow("promptBytes must be a whole number of at least 0, not NaN");
    expect(() => estimateTokens(1, -1)).toThrow("maxOutputTokens must be a whole number of at least 0, not -1");
    expect(() => estimateTokens(1, 1, { minOutputTokens: 0.5 })).toThrow("minOutputTokens must be a whole number");
    expect(() => estimateTokens(1, 1, { bytesPerToken: 0 })).toThrow("bytesPerToken must be more than 0, not 0");
  });
});
