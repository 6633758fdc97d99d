// The SQLite store
// ================
// One file, on the thread of the loop: handing a batch to a worker costs more than the flush that it would hide
// (measured: 17,020 ten-step runs a second here, 10,798 from a worker).
//
//   opened ─▶ (commits, loads) ─▶ closed
//
// T1, E1: a commit is one transaction with `synchronous=FULL`: one flush of the log, whatever is in the batch.
// T2, E4: the epoch stands in the table `meta` and is compared inside the transaction.
// T3: loads are synchronous; where large payloads have to be fetched, the load is done once more when they are there.
// Nothing is awaited in a commit but the blob store, and only where a payload is large: commits keep their order.

import {
  assert,
  FencedError,
  type Instant,
  type Payload,
  payloadSize,
  type Run,
  type RunId,
  StoreWriteError,
} from "@perdure/protocol";
import type {
  Artifact,
  Artifacts,
  Acquired,
  BlobStore,
  Commit,
  Loaded,
  LoadedStart,
  Needs,
  Store,
  StoreReader,
} from "@perdure/engine";
import { hash as digest } from "node:crypto";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { ArtifactRows, ArtifactWriter } from "./artifacts.ts";
import { BlobCollector, type CollectedBlobs } from "./blob-collector.ts";
import { BlobRefs, NO_BLOBS, type ReadyBlobs } from "./blob-refs.ts";
import { translate } from "./errors.ts";
import { Loader } from "./loader.ts";
import { largePayloads, LoadedPayloads, prepareBlobLookup, putPayloads } from "./payloads.ts";
import { Writer } from "./writer.ts";

export interface SqliteStoreParts {
  /** Null: the store was opened read-only. */
  readonly writable: DatabaseSync | null;
  readonly readable: DatabaseSync;
  readonly file: string;
  readonly blobs: BlobStore;
  readonly payloadInlineMax: number;
  readonly reader: StoreReader & { close(): Promise<void> };
  readonly damage: readonly string[];
  /** Called before and after the database is closed. */
  readonly onClosing: () => void;
  readonly onClosed: () => void;
}

interface WriteSide {
  readonly db: DatabaseSync;
  readonly writer: Writer;
  readonly refs: BlobRefs;
  readonly begin: StatementSync;
  readonly commit: StatementSync;
  readonly rollback: StatementSync;
  readonly epoch: StatementSync;
  readonly collector: BlobCollector;
  readonly artifacts: ArtifactWriter;
}

export class SqliteStore implements Store {
  readonly reader: StoreReader;
  /** What is wrong with the files, each as a sentence. Only a read-only store opens in spite of it. */
  readonly damage: readonly string[];
  readonly #parts: SqliteStoreParts;
  readonly #write: WriteSide | null;
  readonly artifacts: Artifacts = {
    put: (kind, bytes, about) => this.#putArtifact({ kind, bytes, about }),
    get: (hash) => this.#getArtifact(hash),
    list: async () => this.#read("list artifacts", () => this.#artifactRows.list()),
  };
  readonly #artifactRows: ArtifactRows;
  readonly #loader: Loader;
  readonly #findBlob: StatementSync;
  #closed = false;
  /** The last commit that waits for its blobs, or for one before it that does. Null: none. */
  #before: Promise<unknown> | null = null;
  /** Done when no blob is being deleted. */
  #collected: Promise<unknown> = Promise.resolve();

  constructor(parts: SqliteStoreParts) {
    this.#parts = parts;
    this.damage = parts.damage;
    this.reader = parts.reader;
    this.#loader = new Loader(parts.readable);
    this.#artifactRows = new ArtifactRows(parts.readable);
    this.#findBlob = prepareBlobLookup(parts.readable);
    this.#write = parts.writable === null ? null : writeSide(parts.writable, parts);
  }

  async acquire(owner: string): Promise<Acquired> {
    const { db, writer } = this.#writing();
    const lastSeq = db.prepare(
      "SELECT max(coalesce((SELECT max(seq) FROM runs), 0), (SELECT value FROM meta WHERE name = 'last_seq')) AS seq",
    );
    const raise = db.prepare("UPDATE meta SET value = value + 1 WHERE name = 'epoch' RETURNING value");
    const remember = db.prepare(
      "INSERT INTO meta (name, value) VALUES ('owner', ?) ON CONFLICT DO UPDATE SET value = excluded.value",
    );
    return this.#transaction("take the partition", () => {
      const epoch = Number(raise.get()?.["value"]);
      remember.run(owner);
      return { epoch, lastSeq: Number(lastSeq.get()?.["seq"]), lastArrival: writer.arrivalHigh };
    });
  }

  async load(needs: Needs): Promise<Loaded> {
    return this.#read("load", (cells) => this.#loader.load(needs, cells));
  }

  async loadStart(run: Run): Promise<LoadedStart> {
    return this.#read("load a journal", (cells) => this.#loader.loadStart(run, cells));
  }

  async running(afterSeq: number, limit: number): Promise<readonly { readonly id: RunId; readonly seq: number }[]> {
    return this.#read("find running runs", () => this.#loader.running(afterSeq, limit));
  }

  async nextTimer(): Promise<Instant | null> {
    return this.#read("find the next timer", () => this.#loader.nextTimer());
  }

  commit(commit: Commit): Promise<void> {
    try {
      const large = largePayloads(commit.mutations, this.#parts.payloadInlineMax);
      if (large !== null || this.#before !== null) return this.#commitInTurn(commit, large);
      this.#commitNow(commit, NO_BLOBS);
      return Promise.resolve();
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #commitNow(commit: Commit, ready: ReadyBlobs): void {
    const { writer, refs, epoch } = this.#writing();
    refs.use(ready);
    let undo: (() => void) | undefined;
    try {
      this.#transaction("commit", () => {
        const row = epoch.get() as unknown as readonly [number];
        if (row[0] !== commit.epoch)
          throw new FencedError(`the partition is at epoch ${row[0]}, a commit of epoch ${commit.epoch} is refused`);
        undo = writer.applyAll(commit.mutations);
      });
    } catch (error) {
      undo?.();
      throw error;
    } finally {
      refs.use(NO_BLOBS);
    }
  }

  #transaction<T>(doing: string, body: () => T): T {
    const { db, begin, commit, rollback } = this.#writing();
    try {
      begin.run();
      const result = body();
      commit.run();
      return result;
    } catch (error) {
      // Some errors (disk full) have ended the transaction already.
      if (db.isTransaction) rollback.run();
      throw translate(error, doing, this.#parts.file);
    }
  }

  /** A commit of its own, between those of the loop. */
  async #putArtifact(artifact: Artifact): Promise<string> {
    const { artifacts, refs } = this.#writing();
    const hash = digest("sha256", artifact.bytes, "hex");
    artifacts.use(hash); // Before a collection could take it.
    const large = payloadSize(artifact.bytes) > this.#parts.payloadInlineMax ? [artifact.bytes] : null;
    await this.#inTurn(large, (ready) => {
      refs.use(ready);
      try {
        this.#transaction("put an artifact", () => artifacts.put(hash, artifact, Date.now()));
      } finally {
        refs.use(NO_BLOBS);
      }
    });
    return hash;
  }

  async #getArtifact(hash: string): Promise<Artifact | null> {
    this.#write?.artifacts.use(hash);
    return this.#read("load an artifact", (cells) => this.#artifactRows.find(hash, cells));
  }

  #commitInTurn(commit: Commit, large: readonly Payload[] | null): Promise<void> {
    return this.#inTurn(large, (ready) => this.#commitNow(commit, ready));
  }

  /** Puts large payloads, and waits for the commits before; a blob that is being deleted is not put at the same time. */
  #inTurn(large: readonly Payload[] | null, write: (ready: ReadyBlobs) => void): Promise<void> {
    const { blobs } = this.#parts;
    const before = this.#before;
    const ready = large === null ? Promise.resolve(NO_BLOBS) : this.#collected.then(() => putPayloads(blobs, large));
    const turn = Promise.all([ready, before]).then(([put]) => write(put));
    const done = turn.then(nothing, nothing);
    this.#before = done;
    void done.then(() => {
      if (this.#before === done) this.#before = null;
    });
    return turn;
  }

  async #read<T>(doing: string, body: (cells: LoadedPayloads) => T): Promise<T> {
    assert(!this.#closed, "the store is closed");
    const cells = new LoadedPayloads(this.#findBlob);
    for (;;) {
      const result = this.#translated(doing, () => body(cells));
      if (cells.complete) return result;
      await cells.fetch(this.#parts.blobs);
      assert(!this.#closed, "the store was closed while it loaded");
    }
  }

  #translated<T>(doing: string, body: () => T): T {
    try {
      return body();
    } catch (error) {
      throw translate(error, doing, this.#parts.file);
    }
  }

  /**
   * Deletes large payloads that nothing refers to any more. `sweep` also finds files that no commit ever named, left by
   * crashes; it looks at every blob there is.
   */
  collectBlobs(options: { readonly sweep?: boolean } = {}): Promise<CollectedBlobs> {
    const { artifacts, collector } = this.#writing();
    // Commits before this one may have put blobs that no row names yet; those after it wait until the files are gone.
    const collection = Promise.all([this.#before, this.#collected]).then(() => {
      const unused = this.#transaction("collect blobs", () => {
        artifacts.collectUnused();
        return collector.takeUnused();
      });
      return collector.delete(unused, options.sweep === true);
    });
    this.#collected = collection.then(nothing, nothing);
    return collection;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#before;
    await this.#collected;
    await this.#parts.reader.close();
    this.#parts.onClosing();
    this.#parts.readable.close();
    this.#parts.onClosed();
  }

  #writing(): WriteSide {
    assert(this.#write === null || this.#write.db.isOpen, "the store is closed");
    if (this.#write === null) throw new StoreWriteError(`${this.#parts.file} is open read-only`);
    return this.#write;
  }
}

function nothing(): void {}

function writeSide(db: DatabaseSync, parts: SqliteStoreParts): WriteSide {
  const refs = new BlobRefs(db, parts.payloadInlineMax);
  const arrivalHigh = Number(db.prepare("SELECT value FROM meta WHERE name = 'arrival_high'").get()?.["value"] ?? 0);
  const epoch = db.prepare("SELECT value FROM meta WHERE name = 'epoch'");
  epoch.setReturnArrays(true);
  return {
    db,
    refs,
    epoch,
    writer: new Writer(db, refs, arrivalHigh),
    begin: db.prepare("BEGIN IMMEDIATE"),
    commit: db.prepare("COMMIT"),
    rollback: db.prepare("ROLLBACK"),
    collector: new BlobCollector(db, parts.blobs),
    artifacts: new ArtifactWriter(db, refs),
  };
}
