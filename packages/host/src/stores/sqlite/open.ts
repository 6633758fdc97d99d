// Opens a data directory
// ======================
//   lock ─▶ inspect the files ─▶ open, replay the log ─▶ inspect the content ─▶ migrate ─▶ mark as open
//
// Whatever fails on the way leaves the directory as it was, and unlocked.

import type { BlobStore } from "@perdure/engine";
import { isPerdureError } from "@perdure/protocol";
import { existsSync, mkdirSync, statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { openDirectoryBlobs } from "../../blobs/directory.ts";
import { openForReading, openForWriting } from "./connection.ts";
import { type DirectoryLock, lockDirectory } from "./directory-lock.ts";
import { isCorrupt, translate } from "./errors.ts";
import { type CheckSize, damaged, inspectContent, inspectFiles } from "./inspect.ts";
import { type Layout, layoutOf } from "./layout.ts";
import { checkVersion, isRecorded, migrate } from "./migrate.ts";
import { SqliteReader } from "./reader.ts";
import { SqliteStore } from "./sqlite-store.ts";

export interface SqliteStoreOptions {
  readonly directory: string;
  /** Where large payloads go. Default: the folder `blobs` in the directory. */
  readonly blobs?: BlobStore;
  /** Payloads above this go to the blob store. Default: 256 KiB. */
  readonly payloadInlineMax?: number;
  /** Opens what can be read, damaged or not, beside a running owner or not, and refuses commits. */
  readonly readOnly?: boolean;
  /** How much is read to find damage: `auto` checks small databases after a crash, `full` all pages. */
  readonly check?: CheckSize;
  /**
   * Goes on where the write-ahead log was found damaged or missing, from the last commit in it that is whole. All pages
   * are checked then: what had been moved from the log into the database already may be newer than the rest.
   */
  readonly acceptLoss?: boolean;
  readonly cacheBytesMax?: number;
  readonly walBytesMax?: number;
  /** Commits that would make the database larger are refused (P0043). Default: no limit but the disk. */
  readonly databaseBytesMax?: number;
  /** A statement of a person is stopped after this. */
  readonly sqlTimeMsMax?: number;
}

const MIB = 1024 * 1024;

const DEFAULTS = {
  payloadInlineMax: 256 * 1024,
  readOnly: false,
  check: "auto",
  acceptLoss: false,
  cacheBytesMax: 32 * MIB,
  walBytesMax: 16 * MIB,
  databaseBytesMax: Number.POSITIVE_INFINITY,
  sqlTimeMsMax: 10_000,
} as const;

const READER_CACHE_BYTES_MAX = 4 * MIB;

/** @throws StoreLockedError, StoreDamagedError, StoreVersionError, StoreWriteError */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<SqliteStore> {
  const settings: Settings = { ...DEFAULTS, ...options };
  const layout = layoutOf(options.directory);
  return settings.readOnly ? openReadOnly(layout, settings) : openWritable(layout, settings);
}

type Settings = Required<Omit<SqliteStoreOptions, "blobs">> & Pick<SqliteStoreOptions, "blobs">;

async function openWritable(layout: Layout, settings: Settings): Promise<SqliteStore> {
  makeDirectory(layout);
  const lock = lockDirectory(layout);
  const opened: DatabaseSync[] = [];
  try {
    const found = inspectFiles(layout, { unclean: lock.unclean, acceptLoss: settings.acceptLoss });
    if (found.length > 0) throw damaged(layout, found);
    const db = openForWriting(layout.database, settings);
    opened.push(db);
    prepareDatabase(db, layout, settings, lock);
    const blobs = settings.blobs ?? (await openDirectoryBlobs({ directory: layout.blobs }));
    const readable = openForReading(layout.database, READER_CACHE_BYTES_MAX);
    opened.push(readable);
    lock.markOpen();
    return new SqliteStore({
      writable: db,
      readable: db,
      file: layout.database,
      blobs,
      payloadInlineMax: settings.payloadInlineMax,
      damage: [],
      reader: new SqliteReader({
        db: readable,
        file: layout.database,
        blobs,
        sqlTimeMsMax: settings.sqlTimeMsMax,
        salvage: false,
      }),
      onClosing: () => lock.markClosing(),
      onClosed: () => lock.release(),
    });
  } catch (error) {
    for (const db of opened) db.close();
    lock.release();
    throw explain(error, layout);
  }
}

function prepareDatabase(db: DatabaseSync, layout: Layout, settings: Settings, lock: DirectoryLock): void {
  if (isRecorded(db)) checkVersion(db);
  // Where a part of the log is given up, the pages of it that had been moved already may not fit to the rest.
  inspectContent(db, layout, settings.acceptLoss && lock.unclean ? "full" : settings.check, lock.unclean);
  const migrated = migrate(db, Date.now());
  // A schema does not stay in the log; and what a crash left in it need not be replayed again.
  if (migrated || lock.unclean) db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  // A commit of our own, so that the log is on disk before the owner file says that it must be there.
  db.exec("UPDATE meta SET value = value + 1 WHERE name = 'opened'");
}

/** Without the lock: it may be open elsewhere, and whoever exports a damaged directory must not be stopped. */
async function openReadOnly(layout: Layout, settings: Settings): Promise<SqliteStore> {
  if (!existsSync(layout.database)) throw damaged(layout, [`there is no ${layout.database} to read`]);
  // Looked at before the database is opened. A log that an owner is writing to is whole up to its end, as after a crash.
  const damage = inspectFiles(layout, { unclean: false, acceptLoss: false });
  const opened: DatabaseSync[] = [];
  try {
    const readable = openForReading(layout.database, settings.cacheBytesMax);
    opened.push(readable);
    if (!isRecorded(readable)) throw damaged(layout, [`${layout.database} has no tables of Perdure`]);
    checkVersion(readable);
    const forReader = openForReading(layout.database, READER_CACHE_BYTES_MAX);
    opened.push(forReader);
    const blobs = settings.blobs ?? (await openDirectoryBlobs({ directory: layout.blobs, readOnly: true }));
    return new SqliteStore({
      writable: null,
      readable,
      file: layout.database,
      blobs,
      payloadInlineMax: settings.payloadInlineMax,
      damage,
      reader: new SqliteReader({
        db: forReader,
        file: layout.database,
        blobs,
        sqlTimeMsMax: settings.sqlTimeMsMax,
        salvage: true,
      }),
      onClosing: () => undefined,
      onClosed: () => undefined,
    });
  } catch (error) {
    for (const db of opened) db.close();
    throw explain(error, layout);
  }
}

function explain(error: unknown, layout: Layout): unknown {
  if (isPerdureError(error)) return error;
  if (isCorrupt(error)) return damaged(layout, [`${layout.database} is damaged (${(error as Error).message})`]);
  return translate(error, "open the data directory", layout.database);
}

function makeDirectory(layout: Layout): void {
  mkdirSync(layout.directory, { recursive: true });
  if (!statSync(layout.directory).isDirectory()) throw new TypeError(`${layout.directory} is not a directory`);
}
