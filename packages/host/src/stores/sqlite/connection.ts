// Connections: one that writes, and read-only ones for people.
//
// The settings were measured with ten-step runs, 1 to 1,000 at a time, on two cores:
//   page_size           4096. A commit of one row writes the pages that it touches whole, so larger ones cost more there.
//   wal_autocheckpoint  at 16 MiB. A log that is used again from its start is faster than one that still grows (0.13 ms a
//                       commit against 0.21 ms), so a small one wins at one row a commit; one of 4 MiB moves its pages
//                       so often that p99 at 100 rows a commit is 2.4 ms instead of 0.8 ms; one of 64 MiB gains nothing
//                       but stops for 32 ms when it is moved. It is moved on this thread: a second thread would share
//                       the disk and could never finish, since commits append meanwhile.
//   journal_size_limit  cuts a log that a long read kept from being moved back to size.
//   cache_size          bounds memory; pages that are out of it are in the system's page cache.
//   mmap_size           0: mapped pages count as resident memory, and one bad page of a disk would be a signal, not an error.
//   temp_store          in memory: sorting a page of results needs no file.
//   locking_mode        not exclusive, though that would spare some locking: people read beside the writer.

import { DatabaseSync } from "node:sqlite";

export interface WriteSettings {
  readonly cacheBytesMax: number;
  /** The log is moved into the database when it has grown to this. */
  readonly walBytesMax: number;
  /** The database does not grow beyond this; Infinity: as far as the disk goes. */
  readonly databaseBytesMax: number;
}

const PAGE_BYTES = 4_096;

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
    if (Number.isFinite(settings.databaseBytesMax))
      db.exec(`PRAGMA max_page_count = ${Math.floor(settings.databaseBytesMax / PAGE_BYTES)}`);
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
