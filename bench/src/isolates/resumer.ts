// Runs of different length that wait, suspended, and are woken in turn: `resumer.ts <data> <rounds> <entries>…`. Timed is from
// the signal until the run's next step begins, for runs that are remembered by their memory and by their journals.

import { setTimeout as sleep } from "node:timers/promises";
import type { RunId } from "@perdure/protocol";
import { median } from "../bench.ts";
import { inJournals, inSnapshots, type Growth } from "./agent.ts";
import { nextSeen } from "./hands.ts";
import { openIsolateRuntime } from "./runtime.ts";

/** By service and number of entries. */
export type ResumerReport = Readonly<Record<string, number>>;

const [data = "", roundsText = "10", ...lengths] = process.argv.slice(2);

const { runtime, close } = await openIsolateRuntime({
  data,
  definitions: [inSnapshots, inJournals],
  source: new URL("agent.ts", import.meta.url),
  policy: { warmMs: 0 },
  suspendAfterMs: 1,
});
const runs = new Map<string, RunId>();
const times = new Map<string, number[]>();
for (const service of ["snapshot", "journal"] as const) {
  for (const length of lengths) {
    const input: Growth = { entries: Number(length) };
    const target = { service, handler: "grow" };
    const { run } = await runtime.submit({ target, input: JSON.stringify(input) });
    while ((await runtime.run(run)).status !== "suspended") await sleep(20);
    process.send?.({ progress: `${service}: a journal of ${length} entries` });
    runs.set(`${service}.${length}`, run);
    times.set(`${service}.${length}`, []);
  }
}
for (let round = 0; round < Number(roundsText); round += 1) {
  for (const [name, run] of runs) {
    while ((await runtime.run(run)).status !== "suspended") await sleep(2);
    const seen = nextSeen();
    const began = performance.now();
    await runtime.signal(run, "round", { kind: "value", value: String(round) });
    times.get(name)?.push((await seen) - began);
  }
}
const report: ResumerReport = Object.fromEntries([...times].map(([name, list]) => [name, median(list)]));
process.send?.({ report });
await close();
