// Where a statement is wrong, as lines and columns, from what the server says.

import { ApiFailure } from "../../api/client.ts";

export interface ErrorPlace {
  readonly offset: number;
  /** Of the word that is wrong. */
  readonly length: number;
  readonly line: number;
  readonly column: number;
}

/** Null: it is not known, or the statement has been changed since. */
export function placeOfError(error: Error, ran: string, now: string): ErrorPlace | null {
  if (!(error instanceof ApiFailure) || ran !== now) return null;
  const offset = Number(error.error.metadata?.["position"]);
  if (!Number.isInteger(offset) || offset < 0 || offset >= ran.length) return null;
  const before = ran.slice(0, offset).split("\n");
  const word = /^(?:\w+|"[^"]*"|'[^']*'|\S)/.exec(ran.slice(offset))?.[0] ?? " ";
  return { offset, length: word.length, line: before.length, column: (before.at(-1) ?? "").length + 1 };
}
