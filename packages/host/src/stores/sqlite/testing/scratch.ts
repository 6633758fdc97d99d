// Data directories for tests: made, copied as a crash leaves them, looked into.

import type { Mutation, Store } from "@perdure/engine";
import { runOf, stepEntry } from "@perdure/engine/testing";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { layoutOf } from "../layout.ts";

const NO_NEEDS = {
  runs: [],
  runsBySeq: [],
  keys: [],
  promises: [],
  waiters: [],
  states: [],
  children: [],
  commands: [],
  tails: [],
  images: [],
  streams: [],
  ranges: [],
  owned: [],
  timers: null,
  finished: null,
} as const;

/** A directory that is removed when the scope ends. */
export function scratch(): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), "perdure-sqlite-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** What would be on the disk if the owner died now. `owner`: with the file that tells of it. */
export function crashCopy(from: string, to: string, options: { readonly owner: boolean }): void {
  mkdirSync(to, { recursive: true });
  const [source, target] = [layoutOf(from), layoutOf(to)];
  copyFileSync(source.database, target.database);
  for (const file of ["wal", ...(options.owner ? (["owner"] as const) : [])] as const) {
    if (existsSync(source[file])) copyFileSync(source[file], target[file]);
  }
}

/** Changes a byte of an image or artifact where it stands: in its row, or in the blob store. */
export function damageBytes(directory: string, table: "image_bytes" | "artifacts", hash: string): void {
  const { database, blobs } = layoutOf(directory);
  const db = new DatabaseSync(database);
  const data = db.prepare(`SELECT data FROM ${table} WHERE hash = ?`).get(hash)?.["data"];
  if (data instanceof Uint8Array) db.prepare(`UPDATE ${table} SET data = ? WHERE hash = ?`).run(changed(data), hash);
  else {
    const blob = join(blobs, hash.slice(0, 2), hash.slice(2));
    writeFileSync(blob, changed(readFileSync(blob)));
  }
  db.close();
}

function changed(bytes: Uint8Array): Uint8Array {
  return bytes.with(bytes.length >> 1, (bytes[bytes.length >> 1] ?? 0) ^ 0xff);
}

/** The mutations of commit `n` (from 1), each of which shows by itself that the commit was applied. */
export function numberedBatch(n: number): readonly Mutation[] {
  const runs = [3 * n - 2, 3 * n - 1, 3 * n];
  return [
    ...runs.map((seq): Mutation => ({ type: "insertRun", run: runOf(seq) })),
    ...runs.map((run): Mutation => ({ type: "appendEntry", run, commands: 1, entry: stepEntry(1, 1) })),
    { type: "setState", key: { service: "count", key: "k" }, name: "n", value: `${n}` },
    {
      type: "setState",
      key: { service: "count", key: "k" },
      name: "padding",
      value: `"${"x".repeat((n * 977) % 9_000)}"`,
    },
    { type: "addTimer", timer: { at: n, run: 3 * n, kind: "wake", id: 0 } },
  ];
}

/** The number of the last batch that is there. @throws where one is there in part. */
export async function lastBatch(store: Store): Promise<number> {
  const loaded = await store.load({
    ...NO_NEEDS,
    states: [{ service: "count", key: "k" }],
    timers: { until: 1e9, limit: 1e6 },
  });
  const n = Number(loaded.states[0]?.state.get("n") ?? 0);
  const seqs = Array.from({ length: 3 * n + 3 }, (_, i) => i + 1);
  const { runs } = await store.load({ ...NO_NEEDS, runsBySeq: seqs });
  const whole = runs.length === 3 * n && runs.every(({ entries }) => entries === 1) && loaded.timers.length === n;
  if (!whole)
    throw new Error(`batch ${n} or ${n + 1} is there in part: ${runs.length} runs, ${loaded.timers.length} timers`);
  return n;
}
