// Artifacts in SQLite
// ===================
// A row each, named by the hash of its bytes. They are put outside of the loop's commits, in transactions of their own.
//
// R3: `collectUnused` spares what this process has put or got since it opened the store, since a run that needs it may be
// about to start; what runs and images name is found by their indexes.

import { StoreDamagedError } from "@perdure/protocol";
import type { Artifact, ArtifactInfo, ArtifactKind } from "@perdure/engine";
import { hash as digest } from "node:crypto";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { BlobRefs } from "./blob-refs.ts";
import type { Cell } from "./cells.ts";
import type { LoadedPayloads } from "./payloads.ts";

function readStatements(db: DatabaseSync) {
  return {
    one: db.prepare("SELECT kind, about, data FROM artifacts WHERE hash = ?"),
    all: db.prepare("SELECT hash, kind, about, size FROM artifacts ORDER BY hash"),
  } satisfies Record<string, StatementSync>;
}

export class ArtifactRows {
  /** Null: the database is of a version that knew none, and is open to be read. */
  readonly #sql: ReturnType<typeof readStatements> | null;

  constructor(db: DatabaseSync) {
    const isThere = db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'artifacts'").get();
    this.#sql = isThere === undefined ? null : readStatements(db);
    if (this.#sql !== null) for (const statement of Object.values(this.#sql)) statement.setReturnArrays(true);
  }

  /** @throws StoreDamagedError (R2) */
  find(hash: string, cells: LoadedPayloads): Artifact | null {
    const row = this.#sql?.one.get(hash) as unknown as readonly [ArtifactKind, string, Cell] | undefined;
    if (row === undefined) return null;
    const [kind, about, cell] = row;
    const bytes = cells.readBytes(cell);
    const wrong = !(bytes instanceof Uint8Array)
      ? bytes
      : cells.complete && digest("sha256", bytes, "hex") !== hash
        ? "its bytes are not those of its hash"
        : null;
    if (wrong !== null || !(bytes instanceof Uint8Array))
      throw new StoreDamagedError(
        `the ${kind} ${hash} is damaged: ${wrong ?? "it has no bytes"}. Deploy the same code again, or restore the data from a backup`,
      );
    return { kind, bytes, about: JSON.parse(about) as Artifact["about"] };
  }

  list(): readonly ArtifactInfo[] {
    const rows = (this.#sql?.all.all() ?? []) as unknown as readonly (readonly [
      string,
      ArtifactKind,
      string,
      number,
    ])[];
    return rows.map(([hash, kind, about, size]) => ({
      hash,
      kind,
      about: JSON.parse(about) as Artifact["about"],
      size,
    }));
  }
}

function writeStatements(db: DatabaseSync) {
  return {
    find: db.prepare("SELECT data FROM artifacts WHERE hash = ?"),
    replace: db.prepare("UPDATE artifacts SET data = ? WHERE hash = ?"),
    insert: db.prepare("INSERT INTO artifacts (hash, kind, about, size, at, data) VALUES (?, ?, ?, ?, ?, ?)"),
    remove: db.prepare("DELETE FROM artifacts WHERE hash = ?"),
    unused: db.prepare(
      "SELECT hash, data FROM artifacts WHERE NOT EXISTS (SELECT 1 FROM images WHERE base = artifacts.hash)" +
        " AND NOT EXISTS (SELECT 1 FROM runs WHERE deployment = artifacts.hash AND length(deployment) = 64)",
    ),
  } satisfies Record<string, StatementSync>;
}

export class ArtifactWriter {
  readonly #sql: ReturnType<typeof writeStatements>;
  readonly #refs: BlobRefs;
  readonly #used = new Set<string>();

  constructor(db: DatabaseSync, refs: BlobRefs) {
    this.#sql = writeStatements(db);
    this.#sql.find.setReturnArrays(true);
    this.#sql.unused.setReturnArrays(true);
    this.#refs = refs;
  }

  use(hash: string): void {
    this.#used.add(hash);
  }

  /** Inside a transaction. The bytes are written again where they are there: that is how damaged ones are mended. */
  put(hash: string, { kind, bytes, about }: Artifact, at: number): void {
    const there = this.#sql.find.get(hash) as unknown as readonly [Cell] | undefined;
    const data = this.#refs.write(bytes);
    if (there === undefined) {
      this.#sql.insert.run(hash, kind, JSON.stringify(about), bytes.byteLength, at, data);
      return;
    }
    this.#refs.release([there]);
    this.#sql.replace.run(data, hash);
  }

  /** Inside a transaction. */
  collectUnused(): number {
    const rows = this.#sql.unused.all() as unknown as readonly (readonly [string, Cell])[];
    const unused = rows.filter(([hash]) => !this.#used.has(hash));
    for (const [hash, data] of unused) {
      this.#refs.release([[data]]);
      this.#sql.remove.run(hash);
    }
    return unused.length;
  }
}
