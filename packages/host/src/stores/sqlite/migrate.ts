// Schema migrations: numbered modules, each applied in one transaction together with the row that records it.
//
// A `breaking` migration makes the data unreadable for older versions of Perdure; one that is not only adds what they
// can ignore (an index, a nullable column). So an older version refuses data only where it would misread it (P0042).

import { StoreVersionError } from "@perdure/protocol";
import type { DatabaseSync } from "node:sqlite";
import { MIGRATIONS } from "./migrations/index.ts";

export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly breaking: boolean;
  readonly sql: string;
}

/** Marks the file as ours in its header: "Perd". */
export const APPLICATION_ID = 0x50657264;

const RECORD =
  "CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, breaking INTEGER NOT NULL, applied_at INTEGER NOT NULL) STRICT";

/**
 * Brings the schema up to date, all of it or nothing. Says whether there was something to do.
 * @throws StoreVersionError where the data was written by a newer Perdure.
 */
export function migrate(db: DatabaseSync, now: number): boolean {
  const isNew = !isRecorded(db);
  if (!isNew) checkVersion(db);
  const done = isNew ? new Set<number>() : appliedMigrations(db);
  const due = MIGRATIONS.filter((migration) => !done.has(migration.number));
  if (due.length === 0) return false;
  db.exec("BEGIN IMMEDIATE");
  try {
    if (isNew) db.exec(`PRAGMA application_id = ${APPLICATION_ID}; ${RECORD}`);
    const record = db.prepare("INSERT INTO migrations (number, name, breaking, applied_at) VALUES (?, ?, ?, ?)");
    for (const migration of due) {
      record.run(migration.number, migration.name, migration.breaking ? 1 : 0, now);
      db.exec(migration.sql);
    }
    db.exec("COMMIT");
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
  return true;
}

export function isRecorded(db: DatabaseSync): boolean {
  return db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'").get() !== undefined;
}

/** @throws StoreVersionError */
export function checkVersion(db: DatabaseSync): void {
  const known = new Set(MIGRATIONS.map((migration) => migration.number));
  const rows = db.prepare("SELECT number, name FROM migrations WHERE breaking = 1 ORDER BY number").all();
  const foreign = rows.filter((row) => !known.has(Number(row["number"])));
  if (foreign.length === 0) return;
  const names = foreign.map((row) => `${String(row["number"])} (${String(row["name"])})`).join(", ");
  throw new StoreVersionError(
    `the data was written by a newer Perdure: this version does not know its schema change ${names}. Start the version that wrote it, or a newer one; nothing was changed`,
  );
}

function appliedMigrations(db: DatabaseSync): ReadonlySet<number> {
  return new Set(
    db
      .prepare("SELECT number FROM migrations")
      .all()
      .map((row) => Number(row["number"])),
  );
}
