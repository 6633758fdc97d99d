// Connections: one that writes, and read-only ones for people.
//
// What was measured for the settings below (ten-step runs, batches of 1 to 1,000 rows, two cores) stands beside each.

import { DatabaseSync } from "node:sqlite";

export interface WriteSettings {
  readonly cacheBytesMax: number;
  /** The log is moved into the database when it has grown to this. */
  readonly walBytesMax: number;
}

export const PAGE_BYTES = 4_096;

export function openForWriting(path: string, settings: WriteSettings): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: 0, enableForeignKeyConstraints: false });
  try {
    db.exec(`
      PRAGMA page_size = ${PAGE_BYTES};
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA wal_autocheckpoint = ${Math.ceil(settings.walBytesMax / PAGE_BYTES)};
      PRAGMA journal_size_limit = ${settings.walBytesMax * 2};
      PRAGMA cache_size = ${-Math.ceil(settings.cacheBytesMax / 1_024)};
      PRAGMA temp_store = MEMORY;
      PRAGMA mmap_size = 0;
      PRAGMA trusted_schema = OFF;
      PRAGMA cell_size_check = ON;
    `);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

export function openForReading(path: string, cacheBytesMax: number): DatabaseSync {
  const db = new DatabaseSync(path, { readOnly: true, timeout: 1_000, enableForeignKeyConstraints: false });
  try {
    db.exec(`
      PRAGMA query_only = ON;
      PRAGMA cache_size = ${-Math.ceil(cacheBytesMax / 1_024)};
      PRAGMA temp_store = MEMORY;
      PRAGMA mmap_size = 0;
      PRAGMA trusted_schema = OFF;
      PRAGMA cell_size_check = ON;
    `);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}
