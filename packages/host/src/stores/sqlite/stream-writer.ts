// Writing streams: an append is one row, and looks up no more than where the stream ends.

import { assert, type RunId, type StreamRef, streamText } from "@perdure/protocol";
import type { Mutation } from "@perdure/engine";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { BlobRefs } from "./blob-refs.ts";
import type { Cell } from "./cells.ts";
import { firstItems, packItems, StreamRows } from "./stream-rows.ts";

function statements(db: DatabaseSync) {
  return {
    insertStream: db.prepare(
      "INSERT INTO streams (service, key, run, name, start) VALUES (?, ?, ?, ?, 0) RETURNING id",
    ),
    setStart: db.prepare("UPDATE streams SET start = ? WHERE id = ?"),
    deleteStream: db.prepare("DELETE FROM streams WHERE id = ?"),
    ofRun: db.prepare("SELECT id FROM streams WHERE run = ?"),
    insertChunk: db.prepare(
      "INSERT INTO chunks (stream, from_offset, count, at, writer, data) VALUES (?, ?, ?, ?, ?, ?)",
    ),
    copyChunks: db.prepare(
      "INSERT INTO chunks (stream, from_offset, count, at, writer, data) SELECT ?, from_offset, count, at, writer, data FROM chunks WHERE stream = ? AND from_offset < ?",
    ),
    lastChunk: db.prepare(
      "SELECT from_offset, count, data FROM chunks WHERE stream = ? ORDER BY from_offset DESC LIMIT 1",
    ),
    cutChunk: db.prepare("UPDATE chunks SET count = ?, data = ? WHERE stream = ? AND from_offset = ?"),
    deleteChunks: db.prepare("DELETE FROM chunks WHERE stream = ? AND from_offset < ?"),
  } satisfies Record<string, StatementSync>;
}

export class StreamWriter {
  readonly #sql: ReturnType<typeof statements>;
  readonly #rows: StreamRows;
  readonly #refs: BlobRefs;

  constructor(db: DatabaseSync, refs: BlobRefs) {
    this.#sql = statements(db);
    this.#sql.insertStream.setReturnArrays(true);
    this.#sql.ofRun.setReturnArrays(true);
    this.#sql.lastChunk.setReturnArrays(true);
    this.#rows = new StreamRows(db);
    this.#refs = refs;
  }

  append({ stream, from, items, writer, at }: Extract<Mutation, { type: "appendStream" }>): void {
    const found = this.#rows.find(stream) ?? { id: this.#insert(stream), end: 0 };
    assert(from === found.end, `items of ${streamText(stream)} go to offset ${found.end}, not to ${from}`);
    let offset = from;
    for (const { count, data } of packItems(items, this.#refs.inlineMax)) {
      this.#sql.insertChunk.run(found.id, offset, count, at, writer, this.#refs.write(data));
      offset += count;
    }
  }

  #insert({ owner, name }: StreamRef): number {
    const columns = "run" in owner ? ([null, null, owner.run] as const) : ([owner.service, owner.key, null] as const);
    const row = this.#sql.insertStream.get(...columns, name) as unknown as readonly [number];
    return row[0];
  }

  /** Rows are copied as they are; the last one in part, where it goes on beyond. */
  copy({ from, to, before }: Extract<Mutation, { type: "copyStream" }>): void {
    const source = this.#rows.find(from);
    assert(source !== null && before <= source.end, `${streamText(from)} has no ${before} items to copy`);
    assert(this.#rows.find(to) === null, `${streamText(to)} is there already`);
    const id = this.#insert(to);
    this.#sql.setStart.run(Math.min(source.start, before), id);
    this.#sql.copyChunks.run(id, source.id, before);
    this.#refs.addChunks(id);
    const last = this.#sql.lastChunk.get(id) as unknown as readonly [number, number, Cell] | undefined;
    if (last === undefined || last[0] + last[1] <= before) return;
    const kept = before - last[0];
    this.#sql.cutChunk.run(kept, firstItems(last[2], kept), id, last[0]);
  }

  /** A row that holds items of both sides stays. */
  trim(stream: StreamRef, before: number): void {
    const found = this.#rows.find(stream);
    if (found === null || before <= found.start) return;
    assert(before <= found.end, `stream ${streamText(stream)} is trimmed within its length`);
    this.#sql.setStart.run(before, found.id);
    this.#drop(found.id, before === found.end ? before : this.#rows.rowHolding(found.id, before));
  }

  deleteOf(run: RunId): void {
    for (const [id] of this.#sql.ofRun.all(run) as unknown as readonly (readonly [number])[]) {
      this.#drop(id, Number.MAX_SAFE_INTEGER);
      this.#sql.deleteStream.run(id);
    }
  }

  #drop(id: number, before: number): void {
    this.#refs.releaseChunks(id, before);
    this.#sql.deleteChunks.run(id, before);
  }
}
