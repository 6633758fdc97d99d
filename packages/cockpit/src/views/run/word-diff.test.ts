import { describe, expect, test } from "vitest";
import { diffWords, placeOf } from "./word-diff.ts";

describe("where two texts part", () => {
  test("what they have in common stands around what differs", () => {
    expect(diffWords('step  "charge the card"', 'step  "charge the account"')).toEqual({
      head: 'step  "charge the ',
      before: "card",
      after: "account",
      tail: '"',
    });
  });

  test.each([
    ["", ""],
    ["a", ""],
    ["same", "same"],
    ["a a a", "a a"],
    ["step  “读取”", "sleep  2 s"],
    ["\u{1f600} x", "\u{1f601} x"],
    ["line\nbreak", "line\nbroke"],
  ])("the parts are the texts: %j and %j", (before, after) => {
    const { head, before: left, after: right, tail } = diffWords(before, after);
    expect([head + left + tail, head + right + tail]).toEqual([before, after]);
  });
});

describe("the place in a stack's line", () => {
  test.each([
    ["charge (file:///srv/shop.ts:12:34)", "/srv/shop.ts:12:34"],
    ["file:///srv/shop.ts:12:34", "/srv/shop.ts:12:34"],
    ["async Object.charge (shop.ts:12:34)", "shop.ts:12:34"],
    ["<anonymous>", "<anonymous>"],
  ])("%s", (position, place) => expect(placeOf(position)).toBe(place));
});
