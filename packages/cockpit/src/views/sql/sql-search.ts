// A statement and how its answer is looked at, as they stand in the address: a link shows the same to somebody else.

import type { ChartKind } from "./chart-pick.ts";

export interface SqlSearch {
  /** The statement that was run. */
  readonly q?: string;
  readonly view?: "chart";
  readonly kind?: ChartKind;
  /** Names of columns. */
  readonly x?: string;
  readonly y?: string;
}

const KINDS: readonly ChartKind[] = ["line", "bars", "points"];

export function readSqlSearch(raw: Readonly<Record<string, unknown>>): SqlSearch {
  const { q, x, y } = raw;
  const kind = KINDS.find((known) => known === raw["kind"]);
  return {
    ...(typeof q === "string" && q !== "" ? { q } : {}),
    ...(raw["view"] === "chart" ? { view: "chart" as const } : {}),
    ...(kind === undefined ? {} : { kind }),
    ...(typeof x === "string" && x !== "" ? { x } : {}),
    ...(typeof y === "string" && y !== "" ? { y } : {}),
  };
}
