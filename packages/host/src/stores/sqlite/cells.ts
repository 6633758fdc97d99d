// Cells: how payloads, failures and results stand in columns
// ===========================================================
// A payload is TEXT or BLOB as it was given (T4). One over the inline limit is a positive INTEGER, the id of a row in
// `blobs`, whose bytes are in the blob store.
//
// C1. A blob is durable before the commit that names it, and its file goes only after the commit that dropped the last
//     reference is durable: a crash leaves files that nobody names, never a name without its file.

import type { Failure, Payload, Result } from "@perdure/protocol";

/** As it is read. */
export type Cell = string | Uint8Array | number | null;

/** As it is written: node:sqlite binds numbers as REAL, which a column without a type of its own would keep. */
export type BoundCell = string | Uint8Array | bigint;

export interface CellWriter {
  /** The cell for a payload; counts a reference where it is a blob. */
  write(payload: Payload): BoundCell;
}

export interface CellReader {
  read(cell: Cell): Payload;
}

export function resultCell(result: Result, cells: CellWriter): BoundCell | null {
  switch (result.kind) {
    case "value":
      return cells.write(result.value);
    case "void":
      return null;
    case "failure":
      return JSON.stringify(result.failure);
  }
}

const VOID: Result = { kind: "void" };

export function readResult(outcome: string, cell: Cell, cells: CellReader): Result {
  if (outcome === "value") return { kind: "value", value: cells.read(cell) };
  if (outcome === "failure") return { kind: "failure", failure: JSON.parse(cell as string) as Failure };
  return VOID;
}

interface BytesJson {
  readonly base64: string;
}

/** A result inside a JSON column (rare): bytes as base64. */
export function resultToJson(result: Result): unknown {
  if (result.kind !== "value" || typeof result.value === "string") return result;
  return { kind: "value", value: { base64: Buffer.from(result.value).toString("base64") } };
}

export function resultFromJson(json: unknown): Result {
  const result = json as Result | { readonly kind: "value"; readonly value: BytesJson };
  if (result.kind !== "value" || typeof result.value === "string" || result.value instanceof Uint8Array)
    return result as Result;
  return { kind: "value", value: new Uint8Array(Buffer.from(result.value.base64, "base64")) };
}
