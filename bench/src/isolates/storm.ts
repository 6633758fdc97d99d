// Suspended agents are woken, one word each: `storm.ts <data> <agents> <seconds>`
// ==============================================================================
// Each has ten turns behind it and waits for a word, in its image on disk. A word wakes it: its image is loaded and put into
// an isolate, it sees the word and waits for the next one, and is let go. First one at a time, for the times of the parts;
// then as fast as they go, some hundred at a time, through the same runtime, store and threads as ever.

import { setTimeout as sleep } from "node:timers/promises";
import { zstdCompressSync } from "node:zlib";
import type { RunId } from "@perdure/protocol";
import { median } from "../bench.ts";
import { inSnapshots, type Research } from "./agent.ts";
import { openIsolateRuntime } from "./runtime.ts";

export interface StormReport {
  readonly imageBytes: number;
  /** Of the transcript alone. */
  readonly textBytes: number;
  readonly textZstdBytes: number;
  /** Medians, one at a time. */
  readonly captureMs: number;
  readonly restoreMs: number;
  /** Restores in the storm. */
  readonly restores: number;
  readonly seconds: number;
  /** Of all threads, for each restore; and of the event loop's alone. */
  readonly cpuMs: number;
  readonly loopCpuMs: number;
  readonly rssMb: number;
  readonly rssMbBefore: number;
}

const [data = "", agentsText = "1000", secondsText = "10"] = process.argv.slice(2);
const agents = Number(agentsText);
/** Signals that are under way at once. */
const AWAKE = 64;
const TURNS = 10;
const QUIET_WAKES = 300;
const MEBIBYTE = 1_048_576;

const { runtime, store, isolates, close } = await openIsolateRuntime({
  data,
  definitions: [inSnapshots],
  source: new URL("agent.ts", import.meta.url),
  policy: { warmMs: 0 },
});
const waits = new Map<RunId, () => void>();
runtime.changes.subscribe(undefined, ({ change }) => {
  if (change.type === "run" && change.run.status === "suspended") waits.get(change.run.id)?.();
});

const runs: RunId[] = [];
for (let from = 0; from < agents; from += AWAKE) {
  const count = Math.min(AWAKE, agents - from);
  runs.push(...(await Promise.all(Array.from({ length: count }, (_, index) => submit(from + index)))));
  while (((await runtime.reader.counts()).suspended ?? 0) < from + count) await sleep(20);
}
const images = await Promise.all(runs.slice(0, 100).map((run) => store.reader.images(run)));
const text = Buffer.from(await transcript(runs[0] as RunId));
process.send?.({ progress: `${agents} agents are suspended` });

const { captures, restored } = await quiet();
process.send?.({ progress: `${restored.length} restores, one at a time` });
const storm = await wakeAll(Number(secondsText) * 1_000);

const report: StormReport = {
  imageBytes: median(images.map((list) => list.at(-1)?.size ?? Number.NaN)),
  textBytes: text.length,
  textZstdBytes: zstdCompressSync(text).length,
  captureMs: median(captures),
  restoreMs: median(restored),
  ...storm,
};
process.send?.({ report });
await close();

async function submit(index: number): Promise<RunId> {
  const input: Research = { topic: `topic ${index}`, turns: TURNS, pauseMs: 0, stays: true };
  const target = { service: "snapshot", handler: "research" };
  return (await runtime.submit({ target, input: JSON.stringify(input) })).run;
}

/** One word, until the run is suspended again. */
async function wake(run: RunId): Promise<void> {
  const suspended = new Promise<void>((resolve) => waits.set(run, resolve));
  await runtime.signal(run, "word", { kind: "value", value: '"go on"' });
  await suspended;
}

async function quiet(): Promise<{ readonly captures: readonly number[]; readonly restored: readonly number[] }> {
  const captures: number[] = [];
  const restored: number[] = [];
  const few = runs.slice(0, 10); // So that they have heard enough to be imaged now and then.
  for (let round = 0; round < QUIET_WAKES; round += 1) {
    const before = { ...isolates.figures };
    await wake(few[round % few.length] as RunId);
    const { restoreMs, captureMs, images: count } = isolates.figures;
    restored.push(restoreMs - before.restoreMs);
    if (count > before.images) captures.push(captureMs - before.captureMs);
  }
  return { captures, restored };
}

async function wakeAll(ms: number) {
  const rssMbBefore = process.memoryUsage.rss() / MEBIBYTE;
  const { restores: before } = isolates.figures;
  const [cpuBefore, loopBefore] = [process.cpuUsage(), process.threadCpuUsage()];
  const began = performance.now();
  let next = 0;
  await Promise.all(
    Array.from({ length: AWAKE }, async () => {
      while (performance.now() - began < ms) {
        next += 1;
        await wake(runs[next % runs.length] as RunId);
      }
    }),
  );
  const seconds = (performance.now() - began) / 1_000;
  const restores = isolates.figures.restores - before;
  const [cpu, loop] = [process.cpuUsage(cpuBefore), process.threadCpuUsage(loopBefore)];
  return {
    restores,
    seconds,
    cpuMs: (cpu.user + cpu.system) / 1_000 / restores,
    loopCpuMs: (loop.user + loop.system) / 1_000 / restores,
    rssMb: process.memoryUsage.rss() / MEBIBYTE,
    rssMbBefore,
  };
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
