// Keys by a part of their name: a statement, since the API lists keys in order and knows no search
// ================================================================================================
// K1. Whatever somebody types is a text in the statement, never a part of it.

import type { SqlAnswer } from "@perdure/protocol";

export interface KeySearch {
  readonly service: string;
  readonly find: string;
  /** The last key of the page before. */
  readonly after: string | null;
  readonly limit: number;
}

export function keySearchQuery({ service, find, after, limit }: KeySearch): string {
  const conditions = [
    `service = ${sqlText(service)}`,
    `instr(lower(key), lower(${sqlText(find)})) > 0`,
    ...(after === null ? [] : [`key > ${sqlText(after)}`]),
  ];
  return `SELECT DISTINCT key FROM state WHERE ${conditions.join(" AND ")} ORDER BY key LIMIT ${limit}`;
}

export function keysOf({ rows }: SqlAnswer): readonly string[] {
  return rows.flatMap(([key]) => (typeof key === "string" ? [key] : []));
}

/** K1. A zero would end the statement: SQLite has a function for it. */
export function sqlText(text: string): string {
  const parts = text.split("\0").map((part) => `'${part.replaceAll("'", "''")}'`);
  return parts.length === 1 ? (parts[0] ?? "''") : `(${parts.join(" || char(0) || ")})`;
}
