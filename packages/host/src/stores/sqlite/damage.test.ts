import { StoreDamagedError } from "@perdure/protocol";
import { fullRun, runOf, Writer } from "@perdure/engine/testing";
import {
  closeSync,
  cpSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { layoutOf } from "./layout.ts";
import { openSqliteStore } from "./open.ts";
import { crashCopy, lastBatch, numberedBatch, scratch } from "./testing/scratch.ts";

const BATCHES = 12;

/** A directory as a crash left it after BATCHES commits, and how long the log was after each of them. */
async function crashed(directory: string): Promise<{ readonly path: string; readonly logBytes: readonly number[] }> {
  const live = join(directory, "live");
  const store = await openSqliteStore({ directory: live });
  const writer = await Writer.on(store);
  const logBytes = [statSync(layoutOf(live).wal).size];
  for (let n = 1; n <= BATCHES; n += 1) {
    await writer.commit(...numberedBatch(n));
    logBytes.push(statSync(layoutOf(live).wal).size);
  }
  const path = join(directory, "crashed");
  crashCopy(live, path, { owner: true });
  await store.close();
  return { path, logBytes };
}

function copyOf(path: string, name: string): string {
  const copy = `${path}-${name}`;
  rmSync(copy, { recursive: true, force: true });
  cpSync(path, copy, { recursive: true });
  return copy;
}

/** Opens, reads which batch is the last, and closes; P0041 where it is refused. */
async function reopened(
  directory: string,
  options: { readonly acceptLoss?: boolean; readonly readOnly?: boolean } = {},
): Promise<number | "P0041"> {
  try {
    const store = await openSqliteStore({ directory, ...options });
    try {
      return await lastBatch(store);
    } finally {
      await store.close();
    }
  } catch (error) {
    if (error instanceof StoreDamagedError) return "P0041";
    throw error;
  }
}

function flip(file: string, at: number): void {
  const handle = openSync(file, "r+");
  writeSync(handle, Buffer.from([(readFileSync(file)[at] ?? 0) ^ 0xff]), 0, 1, at);
  closeSync(handle);
}

/** Every position around where a commit ends, and a spread of others. */
function positions(logBytes: readonly number[], count: number): readonly number[] {
  const end = logBytes.at(-1) ?? 0;
  const spread = Array.from({ length: count }, (_, i) => Math.floor(((i + 0.37) * end) / count));
  const borders = logBytes.flatMap((at) => [at - 1, at, at + 1]);
  return [...new Set([...spread, ...borders])].filter((at) => at > 32 && at <= end);
}

describe("a log that was cut", () => {
  test("T1, E1: at any byte, the whole commits before the cut are there, and no part of another", async () => {
    using directory = scratch();
    const { path, logBytes } = await crashed(directory.path);
    for (const at of positions(logBytes, 60)) {
      const copy = copyOf(path, "cut");
      truncateSync(layoutOf(copy).wal, at);
      const whole = logBytes.filter((bytes) => bytes <= at).length - 1;
      expect(await reopened(copy), `cut at ${at}`).toBe(Math.max(0, whole));
    }
  }, 60_000);

  test("P0041: a log that is gone is missed, and can be accepted as lost", async () => {
    using directory = scratch();
    const { path } = await crashed(directory.path);
    rmSync(layoutOf(path).wal);
    expect(await reopened(path)).toBe("P0041");
    await expect(openSqliteStore({ directory: path })).rejects.toThrow(/perdure\.db-wal is missing/);
    expect(await reopened(path, { acceptLoss: true })).toBe(0);
    expect(await reopened(path)).toBe(0);
  });
});

describe("a log that was changed", () => {
  test("T1: at any byte, what is there is a whole number of commits, or it is refused", async () => {
    using directory = scratch();
    const { path, logBytes } = await crashed(directory.path);
    for (const at of positions(logBytes, 60)) {
      const copy = copyOf(path, "changed");
      flip(layoutOf(copy).wal, Math.min(at, (logBytes.at(-1) ?? 0) - 1));
      const whole = Math.max(0, logBytes.filter((bytes) => bytes <= at).length - 1);
      const found = await reopened(copy);
      // What comes last may have been torn by the crash: then it is left out and nobody is told.
      const allowed = whole < BATCHES - 2 ? ["P0041"] : ["P0041", BATCHES - 2, BATCHES - 1, BATCHES];
      expect(allowed, `changed at ${at}`).toContain(found);
      expect(await reopened(copy, { readOnly: true }), `changed at ${at}, read-only`).toBe(
        Math.min(whole, BATCHES - (at >= (logBytes.at(-1) ?? 0) ? 1 : 0)),
      );
      const accepted = await reopened(copy, { acceptLoss: true });
      expect(accepted, `changed at ${at}, accepted`).toBe(found === "P0041" ? whole : found);
    }
  }, 60_000);

  test("P0041: the message says where, how much is whole and how much is not; nothing was changed", async () => {
    using directory = scratch();
    const { path, logBytes } = await crashed(directory.path);
    const at = (logBytes[4] ?? 0) + 500;
    flip(layoutOf(path).wal, at);
    const before = readFileSync(layoutOf(path).wal);
    await expect(openSqliteStore({ directory: path })).rejects.toThrow(
      /damaged at byte \d+: \d+ commits are whole, 8 commits behind them cannot be applied/,
    );
    expect(readFileSync(layoutOf(path).wal).equals(before)).toBe(true);
    // Whoever exports what is left is told what is missing.
    const readable = await openSqliteStore({ directory: path, readOnly: true });
    expect(readable.damage.join()).toMatch(/8 commits behind them cannot be applied/);
    await readable.close();
  });

  test("P0041: a damaged header of the log would lose all of it", async () => {
    using directory = scratch();
    const { path } = await crashed(directory.path);
    flip(layoutOf(path).wal, 9);
    expect(await reopened(path)).toBe("P0041");
    expect(await reopened(path, { acceptLoss: true })).toBe(0);
  });
});

describe("a database that was damaged", () => {
  /** Closed in order, with enough runs for many pages. */
  async function closed(directory: string): Promise<string> {
    const path = join(directory, "closed");
    const store = await openSqliteStore({ directory: path });
    const writer = await Writer.on(store);
    for (let n = 1; n <= 200; n += 1) await writer.commit(...numberedBatch(n));
    await store.close();
    return path;
  }

  test("P0041: garbage, another file, a cut file and a missing file each say what they are", async () => {
    using directory = scratch();
    const path = await closed(directory.path);
    const damages: readonly [string, RegExp, (file: string) => void][] = [
      ["garbage", /does not begin as a database does/, (file) => writeFileSync(file, Buffer.alloc(8_192, 7))],
      ["header", /does not begin as a database does/, (file) => flip(file, 3)],
      ["short", /does not begin as a database does/, (file) => truncateSync(file, 50)],
      ["other", /database of another program/, (file) => flip(file, 70)],
      ["cut", /is cut off/, (file) => truncateSync(file, 40_960)],
    ];
    for (const [name, message, damage] of damages) {
      const copy = copyOf(path, name);
      damage(layoutOf(copy).database);
      const bytes = readFileSync(layoutOf(copy).database);
      await expect(openSqliteStore({ directory: copy }), name).rejects.toBeInstanceOf(StoreDamagedError);
      await expect(openSqliteStore({ directory: copy }), name).rejects.toThrow(message);
      expect(readFileSync(layoutOf(copy).database).equals(bytes), name).toBe(true);
    }
  });

  test("P0041: a database that is gone is missed where its log or its blobs are there", async () => {
    using directory = scratch();
    const { path } = await crashed(directory.path);
    rmSync(layoutOf(path).database);
    await expect(openSqliteStore({ directory: path })).rejects.toThrow(
      /perdure\.db is missing, but its write-ahead log is there/,
    );
    rmSync(layoutOf(path).wal);
    const store = await openSqliteStore({ directory: path, payloadInlineMax: 10 });
    await (await Writer.on(store)).commit({ type: "insertRun", run: runOf(1, { input: '"a large one"' }) });
    await store.close();
    rmSync(layoutOf(path).database);
    await expect(openSqliteStore({ directory: path })).rejects.toThrow(/large payloads in .* are there/);
  });

  test("P0041: a damaged page is found by a check on request, and by whoever reads it", async () => {
    using directory = scratch();
    const path = await closed(directory.path);
    const { database } = layoutOf(path);
    const handle = openSync(database, "r+");
    for (let page = 36; page < 40; page += 1) writeSync(handle, Buffer.alloc(4_096, 0xa5), 0, 4_096, page * 4_096);
    closeSync(handle);
    await expect(openSqliteStore({ directory: path, check: "full" })).rejects.toBeInstanceOf(StoreDamagedError);
    const store = await openSqliteStore({ directory: path, readOnly: true });
    await expect(lastBatch(store)).rejects.toBeInstanceOf(StoreDamagedError);
    const runs = await store.reader.runs({ limit: 1_000, order: "oldest" });
    expect(runs.length).toBeGreaterThan(300);
    expect(runs.length).toBeLessThan(601);
    await store.close();
  });

  test("a damaged blob is named, and the rest can be read", async () => {
    using directory = scratch();
    const path = join(directory.path, "blobs");
    const store = await openSqliteStore({ directory: path, payloadInlineMax: 10 });
    const writer = await Writer.on(store);
    await writer.commit(
      { type: "insertRun", run: runOf(1, { input: '"a large one"' }) },
      { type: "insertRun", run: { ...fullRun(2), result: null } },
    );
    rmSync(layoutOf(path).blobs, { recursive: true });
    await expect(writer.run(runOf(1).id)).rejects.toThrow(/the blob [0-9a-f]{64} is missing/);
    expect(await writer.run(fullRun(2).id)).toMatchObject({ seq: 2 });
    await store.close();
  });
});
