// Counts what the turns of one session write: `count-turns.ts <data> <turns>`.
//
// The write-ahead log is measured by its index, which SQLite shares in `-shm`: `mxFrame`, the number of the last valid frame,
// read before and after each commit. Where a commit begins the log anew, the number after it is what it wrote.

import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { type AgentAnswer, agent, scriptedModel, tool } from "@perdure/agents";
import type { Commit, Mutation, Store } from "@perdure/engine";
import { z } from "zod";
import { openRuntime } from "./runtime.ts";

export interface TurnWrites {
  readonly bytes: number;
  readonly rows: number;
  readonly commits: number;
}

export interface TurnsReport {
  readonly turns: readonly TurnWrites[];
}

const [data = "", turnsText = "1"] = process.argv.slice(2);
const turns = Number(turnsText);
/** With `BENCH_TRACE`, the mutations of the commits of this turn are printed. */
const traced = Number(process.env["BENCH_TRACE"] ?? 0);

const PAGE_BYTES = 4_096;
const FRAME_BYTES = PAGE_BYTES + 24;
/** In the header of the log's index, as its format is documented: native byte order. */
const MX_FRAME_AT = 16;

const model = scriptedModel(({ messages }) => {
  if (messages.at(-1)?.role === "tool") return "The next high water is at noon.";
  return {
    text: "I will look.",
    toolCalls: [{ id: `call_${messages.length}`, name: "search", input: { query: "tides" } }],
  };
});
const guide = agent("guide", {
  model,
  instructions: "You answer questions about the tides.",
  tools: {
    search: tool({
      description: "Searches.",
      kind: "read",
      inputSchema: z.object({ query: z.string() }),
      execute: ({ query }) => ({ hits: [`about ${query}`] }),
    }),
  },
  context: { maxTokens: 10_000_000 },
});

let now = { bytes: 0, rows: 0, commits: 0 };
let turn = 0;
let index = -1;

function frames(): number {
  if (index < 0) return 0;
  const bytes = Buffer.alloc(4);
  readSync(index, bytes, 0, 4, MX_FRAME_AT);
  return new Uint32Array(bytes.buffer, bytes.byteOffset, 1)[0] ?? 0;
}

function counting(store: Store): Store {
  const commit = store.commit.bind(store);
  store.commit = async (batch: Commit) => {
    const before = frames();
    await commit(batch);
    const after = frames();
    now.bytes += (after >= before ? after - before : after) * FRAME_BYTES;
    now.rows += batch.mutations.length;
    now.commits += 1;
    if (turn === traced) process.stderr.write(`commit ${now.commits}: ${batch.mutations.map(describe).join(", ")}\n`);
  };
  return store;
}

function describe(mutation: Mutation): string {
  switch (mutation.type) {
    case "appendEntry":
      return `appendEntry ${JSON.stringify(mutation.entry).slice(0, 110)}`;
    case "appendStream":
      return `appendStream ${mutation.stream.name} (${mutation.items.length})`;
    case "setState":
      return `setState ${mutation.name}`;
    default:
      return mutation.type;
  }
}

const runtime = await openRuntime(data, [guide], counting);
index = openSync(join(data, "perdure.db-shm"), "r");
const counted: TurnWrites[] = [];
for (turn = 1; turn <= turns; turn += 1) {
  now = { bytes: 0, rows: 0, commits: 0 };
  const { result } = await runtime.call({
    target: { service: "guide", key: "s1", handler: "send" },
    input: JSON.stringify({ text: "When is high water?" }),
  });
  if (result.kind !== "value" || (JSON.parse(String(result.value)) as AgentAnswer).reason !== "answered")
    throw new Error(`turn ${turn} ended with ${JSON.stringify(result)}`);
  counted.push(now);
  if (turn % 100 === 0) process.send?.({ progress: `${turn} turns, the last with ${now.bytes} bytes` });
}
closeSync(index);
const report: TurnsReport = { turns: counted };
process.send?.({ report });
await runtime.close(1_000);
