// The same script as a run that is remembered by its memory, and as one that is remembered by its journal, in turn:
// `pace.ts <data> <rounds> <pause ms>`. Warm: bundle and threads are there before the first is timed.

import { median } from "../bench.ts";
import { inJournals, inSnapshots, type Research } from "./agent.ts";
import { openIsolateRuntime } from "./runtime.ts";

export interface PaceReport {
  readonly snapshotMs: number;
  readonly journalMs: number;
}

const [data = "", roundsText = "10", pauseText = "0"] = process.argv.slice(2);
const WARM_UPS = 3;

const { runtime, close } = await openIsolateRuntime({
  data,
  definitions: [inSnapshots, inJournals],
  source: new URL("agent.ts", import.meta.url),
});
const times = { snapshot: [] as number[], journal: [] as number[] };
for (let round = 0; round < Number(roundsText) + WARM_UPS; round += 1) {
  for (const service of round % 2 === 0 ? (["snapshot", "journal"] as const) : (["journal", "snapshot"] as const)) {
    const input: Research = { topic: "tides", turns: 10, pauseMs: Number(pauseText), stays: false };
    const began = performance.now();
    const target = { service, handler: "research" };
    const { result } = await runtime.call({ target, input: JSON.stringify(input) });
    if (result.kind !== "value") throw new Error(`a run failed: ${JSON.stringify(result)}`);
    if (round >= WARM_UPS) times[service].push(performance.now() - began);
  }
}
const report: PaceReport = { snapshotMs: median(times.snapshot), journalMs: median(times.journal) };
process.send?.({ report });
await close();
