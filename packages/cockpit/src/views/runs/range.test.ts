import { expect, test } from "vitest";
import { isReversed, rangeOf, rangeSearch } from "./range.ts";

// Whatever the zone of the machine: what is written there comes back.
const NOW = new Date(2026, 0, 31, 12, 30).getTime();

test("a time that is written in the viewer's zone is an instant in the address, and comes back", () => {
  const range = { from: "2026-01-31T10:15", to: "2026-01-31T11:00" };
  const search = rangeSearch(range);
  expect(search.since).toBe(new Date(2026, 0, 31, 10, 15).toISOString());
  expect(search.until).toMatch(/Z$/);
  expect(rangeOf(search, NOW)).toEqual(range);
});

test("a side that is empty has no limit", () => {
  expect(rangeSearch({ from: "", to: "" })).toEqual({});
  expect(Object.keys(rangeSearch({ from: "2026-01-31T10:15", to: "" }))).toEqual(["since"]);
  expect(rangeOf({}, NOW)).toEqual({ from: "", to: "" });
});

test("an age is the time that it means now; nonsense is none", () => {
  expect(rangeOf({ since: "2h", until: "soon" }, NOW)).toEqual({ from: "2026-01-31T10:30", to: "" });
});

test("an end before its beginning is noticed", () => {
  expect(isReversed({ from: "2026-01-31T10:15", to: "2026-01-31T10:15" })).toBe(true);
  expect(isReversed({ from: "2026-01-31T10:15", to: "2026-01-31T10:16" })).toBe(false);
  expect(isReversed({ from: "2026-01-31T10:15", to: "" })).toBe(false);
});
