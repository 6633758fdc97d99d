import { describe, expect, test } from "vitest";
import { callerPosition } from "./mismatch.ts";

const stack = (...frames: readonly string[]): string =>
  ["Error: position", ...frames.map((f) => `    at ${f}`)].join("\n");
const OURS = [
  "captureStack (file:///sdk/mismatch.ts:1:1)",
  "#diverged (file:///sdk/replay-attempt.ts:2:2)",
  "ReplayAttempt.issue (file:///sdk/replay-attempt.ts:3:3)",
  "#step (file:///sdk/handler-context.ts:4:4)",
  "HandlerContext.step (file:///sdk/handler-context.ts:5:5)",
];

describe("the place in the user's code", () => {
  test("comes after what is ours, private methods included", () => {
    expect(callerPosition(stack(...OURS, "charge (file:///shop.ts:6:6)"))).toBe("charge (file:///shop.ts:6:6)");
  });

  test("may be a private method of the user's", () => {
    const user = ["#charge (file:///shop.ts:6:6)", "Shop.run (file:///shop.ts:7:7)"];
    expect(callerPosition(stack(...OURS, ...user))).toBe("#charge (file:///shop.ts:6:6)");
  });

  test("is unknown where all frames are ours, or there are none", () => {
    expect(callerPosition(stack(...OURS))).toBeUndefined();
    expect(callerPosition(undefined)).toBeUndefined();
  });
});
