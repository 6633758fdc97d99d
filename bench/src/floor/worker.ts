// Worker
// ======
// The thread that owns SQLite in the floor's `worker` variant: rows in, an empty message out once they are durable.

import { parentPort, workerData } from "node:worker_threads";
import { openTable, type Row } from "./journal.ts";

const write = openTable(workerData as string, "FULL");
parentPort?.on("message", (rows: readonly Row[]) => {
  write(rows);
  parentPort?.postMessage(0);
});
