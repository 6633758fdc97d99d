import { expect, test } from "vitest";
import { nextSorting, sortRows } from "./sort-rows.ts";

const rows = [
  ["b", 1],
  [null, 2],
  [10, 3],
  ["a", 4],
  [9, 5],
  [{ base64: "AA" }, 6],
  ["a", 7],
] as const;

test("nothing, numbers, texts, bytes; equal ones in the order in which they came", () => {
  const order = (isDescending: boolean): unknown[] => sortRows(rows, { column: 0, isDescending }).map(([, at]) => at);
  expect(order(false)).toEqual([2, 5, 3, 4, 7, 1, 6]);
  expect(order(true)).toEqual([6, 1, 4, 7, 3, 5, 2]);
  expect(sortRows(rows, null)).toBe(rows);
});

test("a column is sorted up, then down, then not", () => {
  const first = nextSorting(null, 1);
  expect(first).toEqual({ column: 1, isDescending: false });
  const second = nextSorting(first, 1);
  expect(second).toEqual({ column: 1, isDescending: true });
  expect(nextSorting(second, 1)).toBeNull();
  expect(nextSorting(second, 0)).toEqual({ column: 0, isDescending: false });
});
