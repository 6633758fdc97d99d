// Suspended agents are woken, one word each, as fast as they go: `storm.ts <data> <agents> <seconds>`
// ===================================================================================================
// Each has ten turns behind it and waits for a word in its image, on disk. A word wakes it: its image is loaded and put into
// an isolate, it sees the word, waits for the next one, is imaged and let go. Agents are woken one after the other, a few
// hundred at a time, through the same runtime, store and threads as ever.

import { setTimeout as sleep } from "node:timers/promises";
import { zstdCompressSync } from "node:zlib";
import type { RunId } from "@perdure/protocol";
import { median } from "../bench.ts";
import { remembered, type Research } from "./agent.ts";
import { openIsolateRuntime } from "./runtime.ts";

export interface StormReport {
  readonly imageBytes: number;
  /** Of the transcript alone. */
  readonly textBytes: number;
  readonly textZstdBytes: number;
  readonly captureMs: number;
  readonly restoreMs: number;
  readonly restores: number;
  /** Of all threads, for each restore; and of the event loop's alone. */
  readonly cpuMs: number;
  readonly loopCpuMs: number;
  readonly seconds: number;
  readonly rssMb: number;
  readonly rssMbBefore: number;
}

const [data = "", agentsText = "1000", secondsText = "10"] = process.argv.slice(2);
const agents = Number(agentsText);
const AWAKE = Number(process.env["AWAKE"] ?? 256);
const TURNS = 10;

const { runtime, store, isolates, close } = await openIsolateRuntime({
  data,
  definitions: [remembered],
  source: new URL("agent.ts", import.meta.url),
  policy: { warmMs: 0 },
});

const runs: RunId[] = [];
for (let from = 0; from < agents; from += AWAKE) {
  const count = Math.min(AWAKE, agents - from);
  runs.push(...(await Promise.all(Array.from({ length: count }, (_, index) => submit(from + index)))));
  while (((await runtime.reader.counts()).suspended ?? 0) < from + count) await sleep(20);
}
process.send?.({ progress: `${agents} agents are suspended` });

const sizes = await Promise.all(runs.slice(0, 100).map(async (run) => (await store.reader.images(run)).at(-1)?.size));
const text = Buffer.from(await transcript(runs[0] as RunId));
const rssMbBefore = process.memoryUsage.rss() / 1_048_576;
const before = { ...isolates.figures };
const cpuBefore = process.cpuUsage();
const loopBefore = process.threadCpuUsage();
const began = performance.now();
const until = began + Number(secondsText) * 1_000;
let next = 0;
const waits = new Map<RunId, () => void>();
const watching = runtime.changes.subscribe(undefined, ({ change }) => {
  if (change.type === "run" && change.run.status === "suspended") waits.get(change.run.id)?.();
});
await Promise.all(
  Array.from({ length: AWAKE }, async () => {
    while (performance.now() < until) {
      const run = runs[next % runs.length] as RunId;
      next += 1;
      const suspended = new Promise<void>((resolve) => waits.set(run, resolve));
      await runtime.signal(run, "word", { kind: "value", value: '"go on"' });
      await suspended;
    }
  }),
);
watching.close();
const seconds = (performance.now() - began) / 1_000;
const cpu = process.cpuUsage(cpuBefore);
const loop = process.threadCpuUsage(loopBefore);
const { figures } = isolates;
const restores = figures.restores - before.restores;
const report: StormReport = {
  imageBytes: median(sizes.map((size) => size ?? Number.NaN)),
  textBytes: text.length,
  textZstdBytes: zstdCompressSync(text).length,
  captureMs: (figures.captureMs - before.captureMs) / (figures.images - before.images),
  restoreMs: (figures.restoreMs - before.restoreMs) / restores,
  restores,
  cpuMs: (cpu.user + cpu.system) / 1_000 / restores,
  loopCpuMs: (loop.user + loop.system) / 1_000 / restores,
  seconds,
  rssMb: process.memoryUsage.rss() / 1_048_576,
  rssMbBefore,
};
process.send?.({ report });
await close();

async function submit(index: number): Promise<RunId> {
  const input: Research = { topic: `topic ${index}`, turns: TURNS, stays: true };
  const target = { service: "remembered", handler: "research" };
  return (await runtime.submit({ target, input: JSON.stringify(input) })).run;
}

/** What the agent holds: the texts of its steps' results. */
async function transcript(run: RunId): Promise<string> {
  const entries = await store.reader.journal(run, 0, 1_000);
  const texts: string[] = [];
  for (const entry of entries) {
    const result = "result" in entry ? entry.result : undefined;
    if (result?.kind !== "value" || typeof result.value !== "string") continue;
    const value = JSON.parse(result.value) as string | { readonly text: string };
    texts.push(typeof value === "string" ? value : value.text);
  }
  return texts.join("");
}
