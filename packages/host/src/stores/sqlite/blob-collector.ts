// Deletes blobs that nothing refers to (C1). First the rows go, in a transaction; when that is durable the files go. A
// crash between the two leaves files that no row names: a sweep finds them.

import type { BlobHash, BlobStore } from "@perdure/engine";
import type { DatabaseSync, StatementSync } from "node:sqlite";

export interface CollectedBlobs {
  /** Blobs whose last reference had gone. */
  readonly unused: number;
  /** Files that no row named. */
  readonly orphans: number;
}

export class BlobCollector {
  readonly #blobs: BlobStore;
  readonly #takeUnused: StatementSync;
  readonly #named: StatementSync;

  constructor(db: DatabaseSync, blobs: BlobStore) {
    this.#blobs = blobs;
    this.#takeUnused = db.prepare("DELETE FROM blobs WHERE refs = 0 RETURNING hash");
    this.#named = db.prepare("SELECT 1 FROM blobs WHERE hash = ? LIMIT 1");
  }

  /** Inside a transaction. The same bytes may still be named as text or as bytes by another row. */
  takeUnused(): readonly BlobHash[] {
    const hashes = new Set(this.#takeUnused.all().map((row) => String(row["hash"])));
    return [...hashes].filter((hash) => !this.#isNamed(hash));
  }

  /** Afterwards, while no commit with large payloads can begin. */
  async delete(unused: readonly BlobHash[], sweep: boolean): Promise<CollectedBlobs> {
    for (const hash of unused) await this.#blobs.delete(hash);
    let orphans = 0;
    if (sweep) {
      for await (const hash of this.#blobs.list()) {
        if (this.#isNamed(hash)) continue;
        await this.#blobs.delete(hash);
        orphans += 1;
      }
    }
    return { unused: unused.length, orphans };
  }

  #isNamed(hash: BlobHash): boolean {
    return this.#named.get(hash) !== undefined;
  }
}
