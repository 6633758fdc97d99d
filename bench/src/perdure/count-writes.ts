// Counts what ten-step runs write: `count-writes.ts <data> <at a time> <runs>`. Rows are counted in the tables themselves,
// bytes by the kernel (write_bytes of /proc/self/io: what goes to storage, the log and its checkpoints included).

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Commit, Store } from "@perdure/engine";
import { bench } from "../handlers/ten-steps.ts";
import { openRuntime } from "./runtime.ts";

export interface WriteCounts {
  readonly rows: number;
  readonly updates: number;
  readonly bytes: number;
  readonly flushes: number;
}

const [data = "", concurrent = "1", runs = "1"] = process.argv.slice(2);
let flushes = 0;
let updates = 0;

function counting(store: Store): Store {
  const commit = store.commit.bind(store);
  store.commit = (batch: Commit) => {
    flushes += 1;
    for (const { type } of batch.mutations) if (type === "updateRun" || type === "promoteRun") updates += 1;
    return commit(batch);
  };
  return store;
}

function writtenBytes(): number {
  return Number(/^write_bytes: (\d+)$/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1] ?? Number.NaN);
}

function rowsIn(file: string): number {
  const db = new DatabaseSync(file, { readOnly: true });
  const tables = db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .all() as { name: string }[];
  const counts = tables.map(({ name }) =>
    Number((db.prepare(`SELECT count(*) AS n FROM "${name}"`).get() as { n: number }).n),
  );
  db.close();
  return counts.reduce((sum, count) => sum + count, 0);
}

const runtime = await openRuntime(data, [bench], counting);
const file = join(data, readdirSync(data).find((name) => name.endsWith(".db") || name.endsWith(".sqlite")) ?? "");
const rowsBefore = rowsIn(file);
const bytesBefore = writtenBytes();
let left = Number(runs);
await Promise.all(
  Array.from({ length: Number(concurrent) }, async () => {
    while (left > 0) {
      left -= 1;
      await runtime.call({ target: { service: "bench", handler: "tenSteps" }, input: '{"n":1}' });
    }
  }),
);
const counts: WriteCounts = { rows: rowsIn(file) - rowsBefore, updates, bytes: writtenBytes() - bytesBefore, flushes };
process.send?.(counts);
await runtime.close(1_000);
