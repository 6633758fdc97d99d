// Journal
// =======
// A table of journal rows and three ways to make a batch of them durable.

import { closeSync, fdatasync, openSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";

export type Row = readonly [run: number, index: number, kind: string, value: string];

/** Resolves once all rows are on disk. Never called again before it has resolved. */
export type Commit = (rows: readonly Row[]) => Promise<void> | void;

export function openTable(directory: string, synchronous: "FULL" | "NORMAL"): (rows: readonly Row[]) => void {
  const database = new DatabaseSync(join(directory, "journal.sqlite"));
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = ${synchronous};
    CREATE TABLE entries (run INTEGER, entry INTEGER, kind TEXT, value TEXT, PRIMARY KEY (run, entry)) WITHOUT ROWID, STRICT;
  `);
  const insert = database.prepare("INSERT INTO entries VALUES (?, ?, ?, ?)");
  const [begin, commit] = [database.prepare("BEGIN IMMEDIATE"), database.prepare("COMMIT")];
  return (rows) => {
    begin.run();
    for (const row of rows) insert.run(row[0], row[1], row[2], row[3]);
    commit.run();
  };
}

const variants: Record<string, (directory: string) => Commit> = {
  main: (directory) => openTable(directory, "FULL"),

  worker(directory) {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { workerData: directory });
    let done = (): void => {};
    worker.on("message", () => done());
    worker.on("error", (error) => {
      throw error;
    });
    return (rows) =>
      new Promise((resolve) => {
        done = resolve;
        worker.postMessage(rows);
      });
  },

  // NORMAL writes a commit into the write-ahead log without flushing it; the flush happens here, off the thread,
  // before anybody acts on the commit. A crash in between loses only what nobody was told. A second descriptor is
  // safe on the log (SQLite's locks sit on the database and its -shm file, and closing one would drop those).
  async(directory) {
    const write = openTable(directory, "NORMAL");
    const log = openSync(join(directory, "journal.sqlite-wal"), "r+");
    process.once("exit", () => closeSync(log));
    const flush = promisify(fdatasync);
    return (rows) => {
      write(rows);
      return flush(log);
    };
  },
};

/** Group commit: what is appended while one batch is made durable, or in one turn of the event loop, is the next. */
export function openJournal(variant: string, directory: string): (row: Row, durable: () => void) => void {
  const commit = variants[variant]?.(directory);
  if (commit === undefined) throw new Error(`no variant "${variant}"`);
  let rows: Row[] = [];
  let waiting: (() => void)[] = [];
  let busy = false;
  const flush = async (): Promise<void> => {
    const [batch, acts] = [rows, waiting];
    rows = [];
    waiting = [];
    const pending = commit(batch);
    if (pending !== undefined) await pending;
    busy = false;
    for (const act of acts) act();
    schedule();
  };
  const schedule = (): void => {
    if (busy || rows.length === 0) return;
    busy = true;
    setImmediate(() => void flush());
  };
  return (row, durable) => {
    rows.push(row);
    waiting.push(durable);
    schedule();
  };
}
