// Is this machine fit: Node, disk, data directory, ports?

import { accessSync, constants, existsSync, readdirSync, readFileSync, statfsSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openSqliteStore } from "@perdure/host";
import { findPortHolder } from "../../server/port-holder.ts";
import { explain } from "../errors.ts";
import { formatBytes, plural } from "../text.ts";
import { fail, ok, warn, type Check } from "./check.ts";

const GIB = 1024 ** 3;
const DISK_BYTES_WARN = GIB;
const DISK_BYTES_FAIL = 100 * 1024 ** 2;
const NODE_MAJOR_MIN = 24;

export function checkNode(version: string = process.versions.node): Check {
  const isNew = Number.parseInt(version, 10) >= NODE_MAJOR_MIN;
  return isNew
    ? ok("node", version)
    : fail(
        "node",
        `${version} is too old`,
        `install Node ${NODE_MAJOR_MIN} or newer, or run npx -p node@${NODE_MAJOR_MIN} perdure …`,
      );
}

export function checkDisk(directory: string): Check {
  const place = nearestExisting(directory);
  const { bavail, bsize } = statfsSync(place);
  const free = bavail * bsize;
  const text = `${formatBytes(free)} free at ${place}`;
  if (free < DISK_BYTES_FAIL) return fail("disk", text, "make room: a runtime that cannot write stops");
  return free < DISK_BYTES_WARN ? warn("disk", text, "make room before it is needed") : ok("disk", text);
}

function nearestExisting(path: string): string {
  let place = path;
  while (!existsSync(place) && dirname(place) !== place) place = dirname(place);
  return place;
}

/** @param isUp a runtime answers. */
export async function checkData(directory: string, isUp: boolean): Promise<readonly Check[]> {
  const stats = statSync(directory, { throwIfNoEntry: false });
  if (stats === undefined) {
    const parent = nearestExisting(directory);
    if (!mayWrite(parent))
      return [
        fail(
          "data",
          `${directory} does not exist, and ${parent} may not be written to`,
          "choose another with --data, or change who owns it",
        ),
      ];
    return [ok("data", `${directory} does not exist yet: the first start makes it`)];
  }
  if (!stats.isDirectory()) return [fail("data", `${directory} is not a directory`, "choose another with --data")];
  if (!mayWrite(directory))
    return [fail("data", `${directory} may not be written to`, "change who owns it, or choose another with --data")];
  const database = join(directory, "perdure.db");
  if (!existsSync(database)) return [ok("data", `${directory} is empty: the first start fills it`)];
  const locked = isLocked(directory);
  return [
    ok("data", `${directory}, ${formatBytes(sizeOf(directory))}`),
    checkLock(directory, locked, isUp),
    // Reading every page would slow down whoever works in there.
    locked ? ok("integrity", "not looked at while it is in use") : await checkIntegrity(directory, database),
  ];
}

function mayWrite(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function sizeOf(path: string): number {
  let total = 0;
  for (const entry of readdirSync(path, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) total += statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0;
  }
  return total;
}

type Store = Awaited<ReturnType<typeof openSqliteStore>>;

interface Owner {
  readonly pid: number;
  readonly host: string;
  readonly since: string;
  readonly state: "opening" | "open";
}

const SQLITE_BUSY = 5;

/**
 * The lock itself, which the kernel drops with its owner. A process of the same number says nothing: numbers are used again.
 * It is asked for through SQLite, since closing any other handle of the file would drop a lock of this process.
 */
function isLocked(directory: string): boolean {
  const path = join(directory, "perdure.lock");
  if (!existsSync(path)) return false;
  const db = new DatabaseSync(path, { readOnly: true, timeout: 0 });
  try {
    db.prepare("SELECT count(*) FROM sqlite_schema").get();
    return false;
  } catch (error) {
    if ((error as { readonly errcode?: number }).errcode === SQLITE_BUSY) return true;
    throw error;
  } finally {
    db.close();
  }
}

function readOwner(directory: string): Owner | undefined {
  try {
    return JSON.parse(readFileSync(join(directory, "perdure.owner.json"), "utf8")) as Owner;
  } catch {
    return undefined; // None, or one that a crash cut off.
  }
}

/** @param isUp a runtime answers, most likely the one that has it open. */
function checkLock(directory: string, locked: boolean, isUp: boolean): Check {
  const owner = readOwner(directory);
  if (locked) {
    const who = owner === undefined ? "open in another process" : `open in process ${owner.pid} since ${owner.since}`;
    if (isUp) return ok("lock", who);
    return warn(
      "lock",
      `${who}, and no runtime answers where it was looked for`,
      "name where it listens with --admin, or stop that process",
    );
  }
  if (owner === undefined) return ok("lock", "nobody has it open; the last owner closed it in order");
  if (owner.host !== hostname())
    return warn(
      "lock",
      `opened by process ${owner.pid} on ${owner.host}`,
      "look there: a data directory belongs to one machine at a time",
    );
  return ok(
    "lock",
    `nobody has it open; process ${owner.pid} ended without closing it, which the next start puts right`,
  );
}

async function countsOf(store: Store): ReturnType<Store["reader"]["counts"]> {
  try {
    return await store.reader.counts();
  } finally {
    await store.close();
  }
}

async function checkIntegrity(directory: string, database: string): Promise<Check> {
  const advice = `perdure export --data ${directory} writes out all that can be read; then restore a backup`;
  const walBytes = statSync(`${database}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (readOwner(directory)?.state === "open" && walBytes === 0)
    return fail(
      "integrity",
      `${database}-wal is missing: its last owner did not close it, so commits were in it`,
      advice,
    );
  try {
    const store = await openSqliteStore({ directory, readOnly: true });
    const counts = await countsOf(store);
    if (store.damage.length > 0) return fail("integrity", store.damage.join("; "), advice);
    const db = new DatabaseSync(database, { readOnly: true, timeout: 1_000 });
    let found: string[];
    try {
      const rows = db.prepare("PRAGMA quick_check(5)").all();
      found = rows.map((row) => String(row["quick_check"]));
    } finally {
      db.close();
    }
    if (found.length !== 1 || found[0] !== "ok")
      return fail("integrity", `${database} is damaged: ${found.join("; ")}`, advice);
    const runs = Object.values(counts).reduce((sum, count) => sum + count, 0);
    const text = `the database is whole; ${plural(runs, "run")}`;
    return ok("integrity", walBytes === 0 ? text : `${text}; so is the log that is left beside it`);
  } catch (error) {
    const { message, code } = explain(error);
    return fail("integrity", message, code === "P0042" ? "update Perdure" : advice);
  }
}

export async function checkPort(name: string, url: string): Promise<Check> {
  const { hostname: host, port: text, protocol } = new URL(url);
  const port = text === "" ? (protocol === "https:" ? 443 : 80) : Number(text);
  if (host !== "127.0.0.1" && host !== "localhost") return ok(name, `${host} is not looked at from here`);
  if (await isFree(port)) return ok(name, `port ${port} is free`);
  const holder = await findPortHolder(port);
  const who = holder === undefined ? "another process" : `process ${holder.pid} (${holder.command})`;
  return warn(
    name,
    `port ${port} is taken by ${who}`,
    "end it, or choose another port with --port and --admin-port; `perdure dev` takes the next free one",
  );
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ host: "127.0.0.1", port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
