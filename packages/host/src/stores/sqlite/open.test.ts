import { AssertionError, StoreLockedError, StoreVersionError, StoreWriteError } from "@perdure/protocol";
import { runIdOf, runOf, stepEntry, Writer } from "@perdure/engine/testing";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { openForWriting } from "./connection.ts";
import { layoutOf } from "./layout.ts";
import { MIGRATIONS } from "./migrations/index.ts";
import { openSqliteStore } from "./open.ts";
import { lastBatch, numberedBatch, scratch } from "./testing/scratch.ts";

describe("opening", () => {
  test("a directory is made, and opens again after closing", async () => {
    using directory = scratch();
    const path = join(directory.path, "a", "b");
    const first = await openSqliteStore({ directory: path });
    await (await Writer.on(first)).commit(...numberedBatch(1));
    await first.close();
    await first.close();
    const second = await openSqliteStore({ directory: path });
    expect(await lastBatch(second)).toBe(1);
    await second.close();
  });

  test("what closes in order leaves one database file, and no owner", async () => {
    using directory = scratch();
    const store = await openSqliteStore({ directory: directory.path });
    const { wal, owner } = layoutOf(directory.path);
    expect(JSON.parse(readFileSync(owner, "utf8"))).toMatchObject({ pid: process.pid, state: "open" });
    await store.close();
    expect(statSync(wal, { throwIfNoEntry: false })).toBeUndefined();
    expect(statSync(owner, { throwIfNoEntry: false })).toBeUndefined();
  });

  test("P0040: a second opening in this process names it and the directory", async () => {
    using directory = scratch();
    const store = await openSqliteStore({ directory: directory.path });
    const second = openSqliteStore({ directory: directory.path });
    await expect(second).rejects.toBeInstanceOf(StoreLockedError);
    await expect(second).rejects.toThrow(String(process.pid));
    await expect(second).rejects.toThrow(directory.path);
    await (await Writer.on(store)).commit(...numberedBatch(1));
    await store.close();
    await (await openSqliteStore({ directory: directory.path })).close();
  });

  test("a read-only opening works beside the owner, and refuses commits", async () => {
    using directory = scratch();
    const store = await openSqliteStore({ directory: directory.path });
    const writer = await Writer.on(store);
    await writer.commit(...numberedBatch(1));
    const readOnly = await openSqliteStore({ directory: directory.path, readOnly: true });
    expect(await lastBatch(readOnly)).toBe(1);
    await writer.commit(...numberedBatch(2));
    expect(await lastBatch(readOnly)).toBe(2);
    await expect(readOnly.acquire("x")).rejects.toBeInstanceOf(StoreWriteError);
    await expect(readOnly.commit({ epoch: writer.epoch, mutations: numberedBatch(3) })).rejects.toBeInstanceOf(
      StoreWriteError,
    );
    await readOnly.close();
    await store.close();
  });

  test("a closed store refuses to load and to commit", async () => {
    using directory = scratch();
    const store = await openSqliteStore({ directory: directory.path });
    const writer = await Writer.on(store);
    await store.close();
    await expect(writer.load({})).rejects.toBeInstanceOf(AssertionError);
    await expect(writer.commit()).rejects.toBeInstanceOf(AssertionError);
  });
});

describe("versions", () => {
  async function withMigration(path: string, breaking: number): Promise<void> {
    await (await openSqliteStore({ directory: path })).close();
    const db = new DatabaseSync(layoutOf(path).database);
    db.prepare("INSERT INTO migrations (number, name, breaking, applied_at) VALUES (9999, 'tomorrow', ?, 0)").run(
      breaking,
    );
    db.close();
  }

  test("P0042: data of a newer version is refused, says what to do, and is left as it was", async () => {
    using directory = scratch();
    await withMigration(directory.path, 1);
    const before = readFileSync(layoutOf(directory.path).database);
    for (const readOnly of [false, true]) {
      const opening = openSqliteStore({ directory: directory.path, readOnly });
      await expect(opening).rejects.toBeInstanceOf(StoreVersionError);
      await expect(opening).rejects.toThrow(/9999 \(tomorrow\).*newer/s);
    }
    expect(readFileSync(layoutOf(directory.path).database).equals(before)).toBe(true);
  });

  test("a newer change that breaks nothing is tolerated", async () => {
    using directory = scratch();
    await withMigration(directory.path, 0);
    const store = await openSqliteStore({ directory: directory.path });
    expect(await lastBatch(store)).toBe(0);
    await store.close();
  });

  /** As the version before streams left it. */
  async function beforeStreams(path: string): Promise<void> {
    const store = await openSqliteStore({ directory: path });
    await (await Writer.on(store)).commit(...numberedBatch(1));
    await store.close();
    const db = new DatabaseSync(layoutOf(path).database);
    db.exec(
      "DROP TABLE streams; DROP TABLE chunks; DROP TABLE images; DROP TABLE image_bytes; DROP TABLE artifacts; DROP INDEX runs_bundle; DELETE FROM migrations WHERE number >= 2",
    );
    db.close();
  }

  test("data from before streams can be looked at as it is, and is brought up to date when it is opened", async () => {
    using directory = scratch();
    await beforeStreams(directory.path);
    const stream = { owner: { run: runIdOf(1) }, name: "log" };
    const readOnly = await openSqliteStore({ directory: directory.path, readOnly: true });
    expect(await lastBatch(readOnly)).toBe(1);
    expect(await readOnly.reader.stream(stream, 0, 9)).toEqual({ start: 0, end: 0, items: [] });
    expect(await readOnly.reader.streams(stream.owner)).toEqual([]);
    expect(await readOnly.reader.stats()).toMatchObject({ streams: 0, chunks: 0, images: 0, artifacts: 0 });
    expect(await readOnly.reader.images(runIdOf(1))).toEqual([]);
    expect(await readOnly.loadStart(runOf(1))).toMatchObject({ image: null, images: [] });
    expect([await readOnly.artifacts.list(), await readOnly.artifacts.get("0".repeat(64))]).toEqual([[], null]);
    await readOnly.close();
    const store = await openSqliteStore({ directory: directory.path });
    const writer = await Writer.on(store);
    expect(await lastBatch(store)).toBe(1);
    await writer.commit({ type: "appendStream", stream, from: 0, items: ["1"], writer: null, at: 5 });
    expect(await store.reader.streams(stream.owner)).toEqual([{ name: "log", start: 0, end: 1 }]);
    await store.close();
  });

  test("P0041: tables that a migration is said to have made are missed", async () => {
    using directory = scratch();
    await (await openSqliteStore({ directory: directory.path })).close();
    const db = new DatabaseSync(layoutOf(directory.path).database);
    db.exec("DROP TABLE chunks");
    db.close();
    await expect(openSqliteStore({ directory: directory.path })).rejects.toThrow(/the tables chunks are missing/);
  });

  test("migrations are numbered without gaps, and recorded", async () => {
    using directory = scratch();
    await (await openSqliteStore({ directory: directory.path })).close();
    expect(MIGRATIONS.map(({ number }) => number)).toEqual(MIGRATIONS.map((_, i) => i + 1));
    const db = new DatabaseSync(layoutOf(directory.path).database);
    expect(
      db
        .prepare("SELECT number, name FROM migrations")
        .all()
        .map((row) => ({ ...row })),
    ).toEqual(MIGRATIONS.map(({ number, name }) => ({ number, name })));
    db.close();
  });

  test("the schema is the one in schema.sql: a change of it needs a migration, and shows in review", async () => {
    using directory = scratch();
    await (await openSqliteStore({ directory: directory.path })).close();
    const db = new DatabaseSync(layoutOf(directory.path).database);
    const rows = db.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type DESC, name").all();
    db.close();
    await expect(`${rows.map((row) => `${String(row["sql"])};`).join("\n\n")}\n`).toMatchFileSnapshot("./schema.sql");
  });
});

describe("limits and costs", () => {
  test("E1: a commit is flushed before it is fulfilled", () => {
    using directory = scratch();
    const settings = { cacheBytesMax: 1e6, walBytesMax: 1e6, databaseBytesMax: Number.POSITIVE_INFINITY };
    const db = openForWriting(join(directory.path, "x.db"), settings);
    expect({ ...db.prepare("PRAGMA synchronous").get(), ...db.prepare("PRAGMA journal_mode").get() }).toEqual({
      synchronous: 2,
      journal_mode: "wal",
    });
    db.close();
  });

  test("P0043: a database that may not grow refuses the batch whole, and goes on", async () => {
    using directory = scratch();
    const store = await openSqliteStore({ directory: directory.path, databaseBytesMax: 1024 * 1024 });
    const writer = await Writer.on(store);
    let n = 0;
    const grow = async (): Promise<void> => {
      for (;;) await writer.commit(...numberedBatch(++n));
    };
    await expect(grow()).rejects.toBeInstanceOf(StoreWriteError);
    expect(n).toBeGreaterThan(20);
    expect(await lastBatch(store)).toBe(n - 1);
    await writer.commit(
      { type: "deleteRun", run: 1, id: runIdOf(1) },
      { type: "clearState", key: { service: "count", key: "k" }, name: "padding" },
    );
    await store.close();
  }, 60_000); // Hundreds of flushes: how long they take is the disk's affair.

  test("a ten-step run costs eleven appended rows and one update", async () => {
    using directory = scratch();
    const store = await openSqliteStore({ directory: directory.path });
    const writer = await Writer.on(store);
    await writer.commit({ type: "insertRun", run: runOf(1) });
    for (let i = 1; i <= 10; i += 1)
      await writer.commit({ type: "appendEntry", run: 1, commands: i, entry: stepEntry(i, i) });
    await writer.commit({
      type: "updateRun",
      run: runOf(1, { status: "succeeded", finishedAt: 5, result: { kind: "void" } }),
    });
    await store.close();
    const db = new DatabaseSync(layoutOf(directory.path).database);
    const counts = ["runs", "entries", "timers", "state", "waiters", "promises", "blobs", "chunks"].map(
      (table) => db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"],
    );
    expect(counts).toEqual([1, 10, 0, 0, 0, 0, 0, 0]);
    db.close();
  });

  test("an append is one row, and rewrites none", async () => {
    using directory = scratch();
    const store = await openSqliteStore({ directory: directory.path });
    const writer = await Writer.on(store);
    const stream = { owner: { service: "s", key: "k" }, name: "log" };
    for (let i = 0; i < 40; i += 1)
      await writer.commit({
        type: "appendStream",
        stream,
        from: i * 5,
        items: ["1", "2", "3", "4", '"five"'],
        writer: null,
        at: i,
      });
    await store.close();
    const db = new DatabaseSync(layoutOf(directory.path).database);
    const all = db.prepare("SELECT from_offset, count, at, data FROM chunks").all();
    expect(all.map((row) => ({ ...row }))).toEqual(
      Array.from({ length: 40 }, (_, i) => ({ from_offset: i * 5, count: 5, at: i, data: '1\n2\n3\n4\n"five"' })),
    );
    expect(db.prepare("SELECT count(*) AS n, sum(start) AS start FROM streams").get()).toEqual({ n: 1, start: 0 });
    db.close();
  });

  test("a sleeping run takes less than half a kilobyte", async () => {
    using directory = scratch();
    const store = await openSqliteStore({ directory: directory.path });
    const writer = await Writer.on(store);
    const count = 5_000;
    for (let from = 1; from <= count; from += 500) {
      const seqs = Array.from({ length: 500 }, (_, i) => from + i);
      await writer.commit(
        ...seqs.flatMap((seq) => [
          {
            type: "insertRun",
            run: runOf(seq, { status: "suspended", awaiting: [{ kind: "completion", id: 1 }] }),
          } as const,
          {
            type: "appendEntry",
            run: seq,
            commands: 1,
            entry: {
              kind: "command",
              index: 1,
              at: 1,
              id: 1,
              command: { type: "sleep", wakeAt: 1_790_000_000_000 + seq },
            },
          } as const,
          { type: "addTimer", timer: { at: 1_790_000_000_000 + seq, run: seq, kind: "sleep", id: 1 } } as const,
        ]),
      );
    }
    await store.close();
    expect(statSync(layoutOf(directory.path).database).size / count).toBeLessThan(512);
  });
});
