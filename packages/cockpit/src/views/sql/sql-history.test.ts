import { expect, test } from "vitest";
import { readHistory, remember } from "./sql-history.ts";

function storage(initial: string | null = null) {
  let value = initial;
  return { getItem: (): string | null => value, setItem: (_: string, next: string): void => void (value = next) };
}

test("statements are kept once each, the last one first", () => {
  const store = storage();
  for (const statement of ["a", "b", " a ", ""]) remember(store, statement);
  expect(readHistory(store)).toEqual(["a", "b"]);
  for (let at = 0; at < 150; at += 1) remember(store, `s${at}`);
  expect(readHistory(store)).toHaveLength(100);
  expect(readHistory(store)[0]).toBe("s149");
});

test("what cannot be read is an empty history, and what cannot be kept is no failure", () => {
  expect(readHistory(storage("{"))).toEqual([]);
  expect(readHistory(storage('[1, "a", null]'))).toEqual(["a"]);
  const full = {
    getItem: () => null,
    setItem: () => {
      throw new Error("quota");
    },
  };
  expect(remember(full, "a")).toEqual(["a"]);
});
