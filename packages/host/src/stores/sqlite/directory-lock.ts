// One process per data directory
// ==============================
// Node has no file lock, SQLite has: an exclusive transaction on a database of its own, held as long as the store is
// open. The kernel drops it with the process, so that nothing is stale after kill -9.
//
// The owner file beside it is for people and for the next opening: whom to stop, and whether the last owner closed in
// order (then there is no file) or died with a write-ahead log that must still be there.
//
// L1. Nobody opens the lock's file but through SQLite: closing any other handle of it would drop the lock of the process.
// L2. The owner file says `open` only after a commit of this owner is durable, and goes before the database is closed.

import { StoreLockedError } from "@perdure/protocol";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { DatabaseSync } from "node:sqlite";
import { isBusy, translate } from "./errors.ts";
import type { Layout } from "./layout.ts";

interface Owner {
  readonly pid: number;
  readonly host: string;
  readonly since: string;
  readonly state: "opening" | "open";
}

export interface DirectoryLock {
  /** The last owner died: it had written, and did not close. */
  readonly unclean: boolean;
  markOpen(): void;
  markClosing(): void;
  release(): void;
}

/** @throws StoreLockedError where another process, or this one, has the directory open. */
export function lockDirectory(layout: Layout): DirectoryLock {
  const db = takeLock(layout);
  const unclean = readOwner(layout)?.state === "open";
  const owner = { pid: process.pid, host: hostname(), since: new Date().toISOString() };
  const write = (state: Owner["state"]): void =>
    writeFileSync(layout.owner, `${JSON.stringify({ ...owner, state })}\n`);
  // An unclean end must still be known should this opening fail.
  write(unclean ? "open" : "opening");
  return {
    unclean,
    markOpen: () => write("open"),
    markClosing: () => rmSync(layout.owner, { force: true }),
    release: () => db.close(),
  };
}

function takeLock(layout: Layout): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(layout.lock, { timeout: 0 });
    db.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE");
    return db;
  } catch (error) {
    db?.close();
    if (!isBusy(error)) throw translate(error, "lock the data directory", layout.lock);
    throw new StoreLockedError(lockedMessage(layout), { cause: error });
  }
}

function lockedMessage(layout: Layout): string {
  const owner = readOwner(layout);
  const who =
    owner === undefined
      ? "another process"
      : owner.pid === process.pid
        ? `this process (pid ${owner.pid})`
        : `process ${owner.pid} on ${owner.host}`;
  return `the data directory ${layout.directory} is open in ${who}. Stop it, or choose another directory`;
}

function readOwner(layout: Layout): Owner | undefined {
  try {
    return JSON.parse(readFileSync(layout.owner, "utf8")) as Owner;
  } catch {
    return undefined; // None, or one that a crash cut off: it is only a hint.
  }
}
