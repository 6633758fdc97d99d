// References from rows to blobs, counted in the same transactions as the rows (C1).
//
// Most stores never see a large payload. As long as there is no row in `blobs`, releasing costs one comparison; after
// that it costs one look at the row that goes.

import { assert, type Payload, payloadSize } from "@perdure/protocol";
import type { BlobHash, KeyName } from "@perdure/engine";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { BoundCell, Cell, CellWriter } from "./cells.ts";

/** Payloads of the commit under way that are in the blob store already. */
export type ReadyBlobs = ReadonlyMap<Payload, BlobHash>;

export const NO_BLOBS: ReadyBlobs = new Map();

function statements(db: DatabaseSync) {
  return {
    add: db.prepare(
      "INSERT INTO blobs (hash, text, size, refs) VALUES (?, ?, ?, 1) ON CONFLICT DO UPDATE SET refs = refs + 1 RETURNING id",
    ),
    again: db.prepare("UPDATE blobs SET refs = refs + 1 WHERE id = ?"),
    release: db.prepare("UPDATE blobs SET refs = refs - 1 WHERE id = ?"),
    runResult: db.prepare("SELECT result, NULL FROM runs WHERE seq = ? AND typeof(result) = 'integer'"),
    run: db.prepare("SELECT input, result FROM runs WHERE seq = ?"),
    entries: db.prepare(
      "SELECT input, result FROM entries WHERE run = ? AND idx >= ? AND (typeof(input) = 'integer' OR typeof(result) = 'integer')",
    ),
    state: db.prepare(
      "SELECT value, NULL FROM state WHERE service = ? AND key = ? AND name = ? AND typeof(value) = 'integer'",
    ),
    allState: db.prepare("SELECT value, NULL FROM state WHERE service = ? AND key = ? AND typeof(value) = 'integer'"),
    promise: db.prepare(
      "SELECT value, NULL FROM promises WHERE service = ? AND key = ? AND name = ? AND typeof(value) = 'integer'",
    ),
    allPromises: db.prepare(
      "SELECT value, NULL FROM promises WHERE service = ? AND key = ? AND typeof(value) = 'integer'",
    ),
    chunks: db.prepare(
      "SELECT data, NULL FROM chunks WHERE stream = ? AND from_offset < ? AND typeof(data) = 'integer'",
    ),
  } satisfies Record<string, StatementSync>;
}

export class BlobRefs implements CellWriter {
  readonly #sql: ReturnType<typeof statements>;
  readonly inlineMax: number;
  #any: boolean;
  #ready: ReadyBlobs = NO_BLOBS;

  constructor(db: DatabaseSync, inlineMax: number) {
    this.#sql = statements(db);
    for (const statement of Object.values(this.#sql)) statement.setReturnArrays(true);
    this.inlineMax = inlineMax;
    this.#any = db.prepare("SELECT 1 FROM blobs LIMIT 1").get() !== undefined;
  }

  /** What the next transaction may refer to. */
  use(ready: ReadyBlobs): void {
    this.#ready = ready;
    if (ready.size > 0) this.#any = true;
  }

  write(payload: Payload): BoundCell {
    const size = payloadSize(payload);
    if (size <= this.inlineMax) return payload;
    const hash = this.#ready.get(payload);
    assert(hash !== undefined, "C1: a large payload is in the blob store before its commit");
    const row = this.#sql.add.get(hash, typeof payload === "string" ? 1 : 0, size) as unknown as readonly [number];
    return BigInt(row[0]);
  }

  releaseRunResult(seq: number): void {
    if (this.#any) this.release(this.#sql.runResult.all(seq));
  }

  releaseRun(seq: number): void {
    if (!this.#any) return;
    this.release(this.#sql.run.all(seq));
    this.releaseEntries(seq, 0);
  }

  releaseEntries(seq: number, from: number): void {
    if (this.#any) this.release(this.#sql.entries.all(seq, from));
  }

  releaseState(key: KeyName, name: string): void {
    if (this.#any) this.release(this.#sql.state.all(key.service, key.key, name));
  }

  releaseAllState(key: KeyName): void {
    if (this.#any) this.release(this.#sql.allState.all(key.service, key.key));
  }

  releasePromise(key: KeyName, name: string): void {
    if (this.#any) this.release(this.#sql.promise.all(key.service, key.key, name));
  }

  releaseAllPromises(key: KeyName): void {
    if (this.#any) this.release(this.#sql.allPromises.all(key.service, key.key));
  }

  /** The rows of a stream were copied from another. */
  addChunks(stream: number): void {
    if (!this.#any) return;
    for (const [id] of this.#sql.chunks.all(stream, Number.MAX_SAFE_INTEGER) as unknown as readonly (readonly [
      number,
    ])[])
      this.#sql.again.run(id);
  }

  /** Of the rows that begin before an offset. */
  releaseChunks(stream: number, before: number): void {
    if (this.#any) this.release(this.#sql.chunks.all(stream, before));
  }

  /** The cells of rows that go. */
  release(rows: readonly unknown[]): void {
    for (const cells of rows as readonly (readonly Cell[])[]) {
      for (const cell of cells) if (typeof cell === "number" && cell > 0) this.#sql.release.run(cell);
    }
  }
}
