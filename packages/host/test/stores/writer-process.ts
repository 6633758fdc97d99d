// A process that commits numbered batches to a data directory until it is killed, and says so after each.

import { writeSync } from "node:fs";
import { openSqliteStore } from "../../src/stores/sqlite/open.ts";
import { lastBatch, numberedBatch } from "../../src/stores/sqlite/testing/scratch.ts";

const [, , directory = "", mode = "write"] = process.argv;

/** Straight to the pipe: what was written is with the parent even if this process dies at once. */
function say(line: string): void {
  writeSync(1, `${line}\n`);
}

// A small log, so that many of the kills meet a checkpoint; a small limit, so that blobs take part.
const store = await openSqliteStore({ directory, walBytesMax: 128 * 1024, payloadInlineMax: 4_000 });
const { epoch } = await store.acquire("writer");
say("open");
if (mode === "hold") setInterval(() => undefined, 1_000);
for (let n = (await lastBatch(store)) + 1; mode === "write"; n += 1) {
  await store.commit({ epoch, mutations: numberedBatch(n) });
  say(String(n));
  if (n % 7 === 0) await store.collectBlobs({ sweep: n % 21 === 0 });
}
