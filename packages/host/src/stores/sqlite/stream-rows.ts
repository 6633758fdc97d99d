// Streams as rows: finding them, reading ranges of them, and which items share a row.

import { type Instant, type Payload, payloadSize, type StreamOwner, type StreamRef } from "@perdure/protocol";
import type { LoadedOwner, LoadedRange, LoadedStream, NamedStream, StreamItem, StreamPage } from "@perdure/engine";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Cell, CellReader } from "./cells.ts";

export interface StreamBounds {
  readonly id: number;
  readonly start: number;
  readonly end: number;
}

function statements(db: DatabaseSync) {
  return {
    ofKey: db.prepare("SELECT id, start FROM streams WHERE service = ? AND key = ? AND name = ? AND run IS NULL"),
    ofRun: db.prepare("SELECT id, start FROM streams WHERE run = ? AND name = ?"),
    namesOfKey: db.prepare("SELECT name FROM streams WHERE service = ? AND key = ? AND run IS NULL ORDER BY name"),
    namesOfRun: db.prepare("SELECT name FROM streams WHERE run = ? ORDER BY name"),
    last: db.prepare("SELECT from_offset, count FROM chunks WHERE stream = ? ORDER BY from_offset DESC LIMIT 1"),
    // Rows are in order of time: the first that is old enough, from the end.
    lastAt: db.prepare(
      "SELECT from_offset, count FROM chunks WHERE stream = ? AND at <= ? ORDER BY from_offset DESC LIMIT 1",
    ),
    holding: db.prepare(
      "SELECT from_offset FROM chunks WHERE stream = ? AND from_offset <= ? ORDER BY from_offset DESC LIMIT 1",
    ),
    range: db.prepare(
      "SELECT from_offset, count, at, writer, data FROM chunks WHERE stream = ? AND from_offset >= ? AND from_offset < ? ORDER BY from_offset",
    ),
  } satisfies Record<string, StatementSync>;
}

type ChunkRow = readonly [from: number, count: number, at: number, writer: string | null, data: Cell];

export class StreamRows {
  /** Null: the database is of a version that knew no streams, and is open to be read. */
  readonly #sql: ReturnType<typeof statements> | null;

  constructor(db: DatabaseSync) {
    const isThere = db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'chunks'").get();
    this.#sql = isThere === undefined ? null : statements(db);
    if (this.#sql !== null) for (const statement of Object.values(this.#sql)) statement.setReturnArrays(true);
  }

  get areThere(): boolean {
    return this.#sql !== null;
  }

  find({ owner, name }: StreamRef): StreamBounds | null {
    const sql = this.#sql;
    if (sql === null) return null;
    const row = ("run" in owner
      ? sql.ofRun.get(owner.run, name)
      : sql.ofKey.get(owner.service, owner.key, name)) as unknown as readonly [number, number] | undefined;
    if (row === undefined) return null;
    const [id, start] = row;
    const last = sql.last.get(id) as unknown as readonly [number, number] | undefined;
    return { id, start, end: last === undefined ? start : last[0] + last[1] };
  }

  names(owner: StreamOwner): readonly NamedStream[] {
    const sql = this.#sql;
    if (sql === null) return [];
    const rows = ("run" in owner
      ? sql.namesOfRun.all(owner.run)
      : sql.namesOfKey.all(owner.service, owner.key)) as unknown as readonly (readonly [string])[];
    return rows.map(([name]) => {
      const found = this.find({ owner, name });
      return { name, start: found?.start ?? 0, end: found?.end ?? 0 };
    });
  }

  namesAt(owner: StreamOwner, at: Instant): LoadedOwner["streams"] {
    return this.names(owner).map((named) => {
      const id = this.find({ owner, name: named.name })?.id ?? 0;
      const row = this.#sql?.lastAt.get(id, at) as unknown as readonly [number, number] | undefined;
      return { ...named, endAt: row === undefined ? named.start : row[0] + row[1] };
    });
  }

  load(stream: StreamRef): LoadedStream {
    const found = this.find(stream);
    return { stream, start: found?.start ?? 0, end: found?.end ?? 0 };
  }

  loadRange(stream: StreamRef, from: number, cells: CellReader): LoadedRange {
    const found = this.find(stream);
    const items = found === null ? [] : this.items(found, from, Number.MAX_SAFE_INTEGER, cells);
    return { stream, from, items: items.map(({ payload }) => payload) };
  }

  page(stream: StreamRef, from: number, limit: number, cells: CellReader): StreamPage {
    const found = this.find(stream);
    if (found === null) return { start: 0, end: 0, items: [] };
    return { start: found.start, end: found.end, items: this.items(found, from, limit, cells) };
  }

  /** From `from` on, or from where the stream begins; at most `limit`. */
  items(stream: StreamBounds, from: number, limit: number, cells: CellReader): StreamItem[] {
    const first = Math.max(from, stream.start);
    const beyond = Math.min(first + limit, stream.end);
    const items: StreamItem[] = [];
    if (this.#sql === null || first >= beyond) return items;
    const rows = this.#sql.range.all(stream.id, this.rowHolding(stream.id, first), beyond);
    for (const [base, count, at, writer, data] of rows as unknown as readonly ChunkRow[]) {
      const payloads = count === 1 ? [cells.read(data)] : String(data).split("\n");
      for (const [i, payload] of payloads.entries()) {
        const offset = base + i;
        if (offset >= first && offset < beyond) items.push({ offset, at, writer, payload });
      }
    }
    return items;
  }

  /** First offset of the row that has `offset`, or of the last one before it. */
  rowHolding(id: number, offset: number): number {
    const row = this.#sql?.holding.get(id, offset) as unknown as readonly [number] | undefined;
    return row === undefined ? 0 : row[0];
  }
}

export interface PackedItems {
  readonly count: number;
  readonly data: Payload;
}

/** Items as rows: together where each is a line of text, as far as they fit; bytes, line breaks and large ones alone. */
export function packItems(items: readonly Payload[], bytesMax: number): readonly PackedItems[] {
  const [only] = items;
  if (items.length === 1 && only !== undefined) return [{ count: 1, data: only }];
  const rows: PackedItems[] = [];
  let lines: string[] = [];
  let bytes = 0;
  const flush = (): void => {
    if (lines.length > 0) rows.push({ count: lines.length, data: lines.join("\n") });
    lines = [];
    bytes = 0;
  };
  for (const item of items) {
    const size = payloadSize(item) + 1;
    const isLine = typeof item === "string" && size <= bytesMax && !item.includes("\n");
    if (!isLine || bytes + size > bytesMax) flush();
    if (isLine) {
      lines.push(item);
      bytes += size;
    } else rows.push({ count: 1, data: item });
  }
  flush();
  return rows;
}

/** What `packItems` made of several items, cut to the first of them. */
export function firstItems(data: Cell, count: number): string {
  return String(data).split("\n").slice(0, count).join("\n");
}
