// Rows in the order of one column, as SQLite orders values: nothing, numbers, texts, bytes
// =========================================================================================
// O1. Rows that are equal in it stay in the order in which they came.

import type { JsonValue } from "@perdure/protocol";

export interface Sorting {
  readonly column: number;
  readonly isDescending: boolean;
}

type Row = readonly JsonValue[];

export function sortRows(rows: readonly Row[], sorting: Sorting | null): readonly Row[] {
  if (sorting === null) return rows;
  const { column, isDescending } = sorting;
  const sign = isDescending ? -1 : 1;
  return rows.toSorted((a, b) => sign * compareCells(a[column] ?? null, b[column] ?? null));
}

/** Up, down, and as it came. */
export function nextSorting(before: Sorting | null, column: number): Sorting | null {
  if (before?.column !== column) return { column, isDescending: false };
  return before.isDescending ? null : { column, isDescending: true };
}

function compareCells(a: JsonValue, b: JsonValue): number {
  const rank = rankOf(a) - rankOf(b);
  if (rank !== 0) return rank;
  if (typeof a === "number" && typeof b === "number") return a - b;
  const [left, right] = [textOf(a), textOf(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

function rankOf(cell: JsonValue): number {
  if (cell === null) return 0;
  if (typeof cell === "number" || typeof cell === "boolean") return 1;
  return typeof cell === "string" ? 2 : 3;
}

function textOf(cell: JsonValue): string {
  return typeof cell === "string" ? cell : JSON.stringify(cell);
}
