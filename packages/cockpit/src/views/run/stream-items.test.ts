import { expect, test } from "vitest";
import type { StreamItemView } from "@perdure/protocol";
import { earlierFrom, KEPT_MAX, NO_ITEMS, taken, withEarlier } from "./stream-items.ts";

const item = (offset: number): StreamItemView => ({
  offset,
  at: "2026-01-31T12:00:00.000Z",
  writer: null,
  item: offset,
});
const told = (...offsets: readonly number[]) =>
  offsets.map((offset) => ({ id: String(offset), event: "", data: JSON.stringify(item(offset)) }));
const reset = (start: number) => ({ id: String(start - 1), event: "reset", data: JSON.stringify({ start }) });
const offsets = ({ items }: { readonly items: readonly StreamItemView[] }): number[] =>
  items.map(({ offset }) => offset);

test("T1: each item is there once, in order, whatever is told again", () => {
  const first = taken(NO_ITEMS, told(0, 1, 2));
  expect(offsets(taken(first, told(1, 2, 3)))).toEqual([0, 1, 2, 3]);
});

test("T2: the newest are kept", () => {
  const many = Array.from({ length: KEPT_MAX + 3 }, (_, at) => at);
  const kept = taken(NO_ITEMS, told(...many));
  expect(kept.items).toHaveLength(KEPT_MAX);
  expect(offsets(kept)[0]).toBe(3);
});

test("T3: what was trimmed is gone, and the stream begins later", () => {
  const after = taken(taken(NO_ITEMS, told(0, 1)), [reset(7), ...told(7, 8)]);
  expect(offsets(after)).toEqual([7, 8]);
  expect(after.start).toBe(7);
  expect(earlierFrom(after, 100)).toBeNull();
});

test("a stream that begins anew is shown anew, although its offsets are lower", () => {
  expect(offsets(taken(taken(NO_ITEMS, told(40, 41)), [reset(0), ...told(0)]))).toEqual([0]);
});

test("what stands before is read page by page, down to where the stream begins", () => {
  const shown = taken(NO_ITEMS, told(250, 251));
  expect(earlierFrom(shown, 200)).toBe(50);
  expect(earlierFrom({ ...shown, start: 100 }, 200)).toBe(100);
  const page = { items: [item(249), item(250)], start: 100, end: 252 };
  const more = withEarlier(shown, page);
  expect(offsets(more)).toEqual([249, 250, 251]);
  expect(more.start).toBe(100);
  expect(earlierFrom(NO_ITEMS, 200)).toBeNull();
});
