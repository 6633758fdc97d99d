// Is what is in the data directory a whole database of ours?
// ==========================================================
// Looked at before anything is written: opening a database replays its log, and creating one beside a left-over log
// would throw the log away.
//
// D1. Nothing in a directory that looks damaged is changed (P0041); it can be opened read-only, and then shows as much
//     as can be read.

import { StoreDamagedError } from "@perdure/protocol";
import { closeSync, existsSync, fstatSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import type { Layout } from "./layout.ts";
import { APPLICATION_ID } from "./migrate.ts";
import { checkWal, isWalDamaged } from "./wal-check.ts";

const HEADER_BYTES = 100;
const MAGIC = "SQLite format 3\u0000";
/** After an unclean end a database up to this size is checked whole; larger ones on request. */
const QUICK_CHECK_BYTES_MAX = 32 * 1024 * 1024;
const TABLES = ["meta", "migrations", "runs", "entries", "timers", "state", "promises", "waiters", "blobs"];
/** Data of an older version is without these until it is migrated. */
const LATER_TABLES: ReadonlyMap<number, readonly string[]> = new Map([
  [2, ["streams", "chunks"]],
  [3, ["images", "image_bytes", "artifacts"]],
]);

export interface InspectOptions {
  readonly unclean: boolean;
  readonly acceptLoss: boolean;
}

/** What is wrong with the files, each as a sentence; empty where they are whole or there are none yet. */
export function inspectFiles(layout: Layout, options: InspectOptions): readonly string[] {
  const walBytes = sizeOf(layout.wal);
  if (!existsSync(layout.database)) return missingDatabase(layout, walBytes);
  const found = [...inspectHeader(layout, walBytes)];
  if (options.acceptLoss) return found;
  const accept = 'To go on without those commits open it with "acceptLoss"';
  if (options.unclean && walBytes === 0)
    found.push(
      `the write-ahead log ${layout.wal} is missing: the last owner did not close, so commits were in it. ${accept}`,
    );
  if (walBytes > 0) {
    const wal = checkWal(layout.wal);
    const where = wal.headerDamaged ? "in its header" : `at byte ${wal.validBytes}`;
    if (isWalDamaged(wal))
      found.push(
        `the write-ahead log ${layout.wal} is damaged ${where}: ${wal.commits} commits are whole, ${wal.headerDamaged ? "the" : wal.commitsLost} commits behind them cannot be applied. ${accept}`,
      );
  }
  return found;
}

function missingDatabase(layout: Layout, walBytes: number): readonly string[] {
  if (walBytes > 0)
    return [`${layout.database} is missing, but its write-ahead log is there. Restore it from a backup`];
  const blobs = existsSync(layout.blobs) && readdirSync(layout.blobs).some((name) => /^[0-9a-f]{2}$/.test(name));
  return blobs
    ? [
        `${layout.database} is missing, but the large payloads in ${layout.blobs} are there. Restore it from a backup, or move the blobs away to start anew`,
      ]
    : [];
}

function inspectHeader(layout: Layout, walBytes: number): readonly string[] {
  const file = openSync(layout.database, "r");
  try {
    const { size } = fstatSync(file);
    if (size === 0) return walBytes > 0 ? [`${layout.database} is empty, but its write-ahead log is not`] : [];
    const header = Buffer.alloc(HEADER_BYTES);
    const read = readSync(file, header, 0, HEADER_BYTES, 0);
    if (read < HEADER_BYTES || header.toString("latin1", 0, 16) !== MAGIC)
      return [
        `${layout.database} does not begin as a database does: its header is damaged, or it is another kind of file`,
      ];
    const application = header.readUInt32BE(68);
    // 0: a crash came between the creation of the file and its first transaction.
    if (application !== APPLICATION_ID && application !== 0)
      return [`${layout.database} is a database of another program (application id ${application})`];
    return inspectSize(layout, header, size, walBytes);
  } finally {
    closeSync(file);
  }
}

/** A checkpoint that was cut off leaves a short file too, but then the log still holds the rest. */
function inspectSize(layout: Layout, header: Buffer, size: number, walBytes: number): readonly string[] {
  const pageBytes = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16);
  const pages = header.readUInt32BE(28);
  if (walBytes > 0 || size >= pages * pageBytes) return [];
  return [
    `${layout.database} is cut off: its header tells of ${pages} pages of ${pageBytes} bytes, but the file ends after ${size} bytes`,
  ];
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

export type CheckSize = "auto" | "full" | "none";

/** Looks into the opened database. @throws StoreDamagedError, or SQLite's error where it cannot be read at all. */
export function inspectContent(db: DatabaseSync, layout: Layout, size: CheckSize, unclean: boolean): void {
  const rows = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  const there = new Set(rows.map((row) => row["name"]));
  const missing = there.size === 0 ? [] : TABLES.filter((table) => !there.has(table));
  if (missing.length === 0 && there.size > 0) missing.push(...missingLater(db, there));
  if (missing.length > 0) throw damaged(layout, [`the tables ${missing.join(", ")} are missing`]);
  const whole = size === "full" || (size === "auto" && unclean && sizeOf(layout.database) <= QUICK_CHECK_BYTES_MAX);
  if (!whole) return;
  const found = db
    .prepare("PRAGMA quick_check(10)")
    .all()
    .map((row) => String(row["quick_check"]));
  if (found.length !== 1 || found[0] !== "ok")
    throw damaged(layout, [`${layout.database} is damaged: ${found.join("; ")}`]);
}

function missingLater(db: DatabaseSync, there: ReadonlySet<unknown>): readonly string[] {
  const applied = db.prepare("SELECT number FROM migrations").all();
  const wanted = applied.flatMap((row) => LATER_TABLES.get(Number(row["number"])) ?? []);
  return wanted.filter((table) => !there.has(table));
}

export function damaged(layout: Layout, found: readonly string[]): StoreDamagedError {
  return new StoreDamagedError(
    `${found.join(". ")}. Nothing was changed. Opened read-only, ${layout.directory} can still be exported as far as it can be read`,
  );
}
