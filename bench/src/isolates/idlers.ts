// Agents that wait in their images, and a process that does nothing: `idlers.ts <data> <agents>`. Every agent is imaged,
// also those that have done so little that the runtime would not.

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { inSnapshots, type Research } from "./agent.ts";
import { openIsolateRuntime } from "./runtime.ts";

export interface IdlersReport {
  readonly rssMb: number;
  readonly diskBytesPerAgent: number;
  readonly images: number;
}

const [data = "", agentsText = "100"] = process.argv.slice(2);
const agents = Number(agentsText);
const IN_FLIGHT = 64;
/** What a burst has left behind is given back when nothing happens. */
const SETTLE_MS = 20_000;

const { runtime, isolates, close } = await openIsolateRuntime({
  data,
  definitions: [inSnapshots],
  source: new URL("agent.ts", import.meta.url),
  policy: { warmMs: 0, tailEntries: 1 },
});
const bytesOnDisk = (): number =>
  readdirSync(data).reduce(
    (sum, name) =>
      name.startsWith("perdure.db") && !name.endsWith("-shm") ? sum + statSync(join(data, name)).size : sum,
    0,
  );

const empty = bytesOnDisk();
for (let from = 0; from < agents; from += IN_FLIGHT) {
  const count = Math.min(IN_FLIGHT, agents - from);
  await Promise.all(Array.from({ length: count }, (_, index) => submit(from + index)));
  while (((await runtime.reader.counts()).suspended ?? 0) < from + count - IN_FLIGHT) await sleep(5);
  if (from % 10_240 === 0) process.send?.({ progress: `${from} agents` });
}
while (((await runtime.reader.counts()).suspended ?? 0) < agents) await sleep(20);
const { images } = isolates.figures;
await sleep(SETTLE_MS);
const report: IdlersReport = {
  rssMb: Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) / 1_024,
  diskBytesPerAgent: (bytesOnDisk() - empty) / agents,
  images,
};
process.send?.({ report });
await close();

async function submit(index: number): Promise<void> {
  const input: Research = { topic: `topic ${index}`, turns: 1, pauseMs: 0, stays: true };
  await runtime.submit({ target: { service: "snapshot", handler: "research" }, input: JSON.stringify(input) });
}
