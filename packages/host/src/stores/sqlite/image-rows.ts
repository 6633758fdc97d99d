// Images as rows: reading them, and adding and dropping them inside a commit.
//
// T7: the bytes of a hash stand in one row, which counts its images and goes with the last of them. What is read is hashed:
// damaged bytes are never handed on.

import { assert, type ImageInfo, type Run } from "@perdure/protocol";
import type { LoadedStart } from "@perdure/engine";
import { hash as digest } from "node:crypto";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { BlobRefs } from "./blob-refs.ts";
import type { Cell } from "./cells.ts";
import type { LoadedPayloads } from "./payloads.ts";

const COLUMNS = "entry, hash, base, size, at, name";

type ImageRow = readonly [entry: number, hash: string, base: string, size: number, at: number, name: string | null];

function readStatements(db: DatabaseSync) {
  return {
    ofRun: db.prepare(`SELECT ${COLUMNS} FROM images WHERE run = ? ORDER BY entry`),
    bytes: db.prepare("SELECT data FROM image_bytes WHERE hash = ?"),
  } satisfies Record<string, StatementSync>;
}

export class ImageRows {
  /** Null: the database is of a version that knew no images, and is open to be read. */
  readonly #sql: ReturnType<typeof readStatements> | null;

  constructor(db: DatabaseSync) {
    const isThere = db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'image_bytes'").get();
    this.#sql = isThere === undefined ? null : readStatements(db);
    if (this.#sql !== null) for (const statement of Object.values(this.#sql)) statement.setReturnArrays(true);
  }

  get areThere(): boolean {
    return this.#sql !== null;
  }

  ofRun(run: number): readonly ImageInfo[] {
    const rows = (this.#sql?.ofRun.all(run) ?? []) as unknown as readonly ImageRow[];
    return rows.map(([entry, hash, base, size, at, name]) => ({ entry, hash, base, size, at, name }));
  }

  /** The newest image whose bytes are whole, and those that were passed over. */
  newestWhole(
    run: Run,
    images: readonly ImageInfo[],
    entries: number,
    cells: LoadedPayloads,
  ): Pick<LoadedStart, "image" | "damaged"> {
    const damaged: { entry: number; reason: string }[] = [];
    for (const info of images.toReversed()) {
      if (info.entry > entries) continue;
      const found = this.#bytesOf(info, cells);
      if (typeof found !== "string") return { image: { info, bytes: found }, damaged };
      damaged.push({ entry: info.entry, reason: `image ${info.entry} of run ${run.id} is damaged: ${found}` });
    }
    return { image: null, damaged };
  }

  /** As they are stored, whole or not. */
  bytesOf(hash: string, cells: LoadedPayloads): Uint8Array | null {
    const row = this.#sql?.bytes.get(hash) as unknown as readonly [Cell] | undefined;
    const bytes = row === undefined ? null : cells.readBytes(row[0]);
    return bytes instanceof Uint8Array ? bytes : null;
  }

  /** The bytes, or what is wrong with them. */
  #bytesOf({ hash }: ImageInfo, cells: LoadedPayloads): Uint8Array | string {
    const row = this.#sql?.bytes.get(hash) as unknown as readonly [Cell] | undefined;
    if (row === undefined) return "its bytes are missing";
    const bytes = cells.readBytes(row[0]);
    if (!(bytes instanceof Uint8Array)) return bytes;
    // A blob that is not at hand yet is empty here; the load is done once more when it is (T3).
    if (!cells.complete || digest("sha256", bytes, "hex") === hash) return bytes;
    return `its bytes are not those of its hash ${hash}`;
  }
}

function writeStatements(db: DatabaseSync) {
  return {
    last: db.prepare("SELECT max(entry) FROM images WHERE run = ?"),
    insert: db.prepare(`INSERT INTO images (run, ${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)`),
    name: db.prepare("UPDATE images SET name = ? WHERE run = ? AND entry = ?"),
    from: db.prepare("SELECT entry, hash FROM images WHERE run = ? AND entry >= ?"),
    one: db.prepare("SELECT entry, hash FROM images WHERE run = ? AND entry = ?"),
    drop: db.prepare("DELETE FROM images WHERE run = ? AND entry = ?"),
    addRef: db.prepare("UPDATE image_bytes SET refs = refs + 1 WHERE hash = ?"),
    insertBytes: db.prepare("INSERT INTO image_bytes (hash, refs, data) VALUES (?, 1, ?)"),
    releaseRef: db.prepare("UPDATE image_bytes SET refs = refs - 1 WHERE hash = ? RETURNING id, refs, data"),
    dropBytes: db.prepare("DELETE FROM image_bytes WHERE id = ?"),
  } satisfies Record<string, StatementSync>;
}

export class ImageWriter {
  readonly #sql: ReturnType<typeof writeStatements>;
  readonly #refs: BlobRefs;
  /** As long as there has been no image, a run's end or cut looks for none. */
  #any: boolean;

  constructor(db: DatabaseSync, refs: BlobRefs) {
    this.#sql = writeStatements(db);
    for (const name of ["last", "from", "one", "releaseRef"] as const) this.#sql[name].setReturnArrays(true);
    this.#refs = refs;
    this.#any = db.prepare("SELECT 1 FROM images LIMIT 1").get() !== undefined;
  }

  add(run: number, { entry, hash, base, size, at, name }: ImageInfo, bytes: Uint8Array | null): void {
    const [last] = this.#sql.last.get(run) as unknown as readonly [number | null];
    assert(last === null || last < entry, `image ${entry} of run ${run} comes after ${last ?? 0}`);
    if (this.#sql.addRef.run(hash).changes === 0) {
      assert(bytes !== null, `there are no bytes of the image ${hash}`);
      this.#sql.insertBytes.run(hash, this.#refs.write(bytes));
    }
    this.#sql.insert.run(run, entry, hash, base, size, at, name);
    this.#any = true;
  }

  name(run: number, entry: number, name: string | null): void {
    assert(this.#sql.name.run(name, run, entry).changes === 1, `run ${run} has no image at entry ${entry}`);
  }

  drop(run: number, entries: readonly number[]): void {
    for (const entry of entries) this.#drop(run, this.#sql.one.all(run, entry));
  }

  /** All that have seen entry `from`. */
  dropFrom(run: number, from: number): void {
    if (this.#any) this.#drop(run, this.#sql.from.all(run, from));
  }

  #drop(run: number, rows: readonly unknown[]): void {
    for (const [entry, hash] of rows as readonly (readonly [number, string])[]) {
      this.#sql.drop.run(run, entry);
      const left = this.#sql.releaseRef.get(hash) as unknown as readonly [number, number, Cell] | undefined;
      if (left === undefined || left[1] > 0) continue;
      this.#refs.release([[left[2]]]);
      this.#sql.dropBytes.run(left[0]);
    }
  }
}
