// A million sleeping runs in one process: `sleepers.ts <data> <runs>`. Submits them, waits until all have suspended,
// reports what they cost, and then the rate at which they wake and end once their time has come.
//
// The time they sleep until is one for all, chosen when the last one is asleep: nothing else would show a rate. It is set
// by an object that all of them would otherwise have to ask; here the submitter simply gives a duration that ends then.

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { service } from "@perdure/sdk";
import { openRuntime } from "./runtime.ts";

export interface SleeperReport {
  readonly asleep: number;
  readonly submitSeconds: number;
  readonly rssMb: number;
  readonly diskBytesPerRun: number;
  readonly wakeupsPerSecond: number;
}

const [data = "", runsText = "1"] = process.argv.slice(2);
const runs = Number(runsText);
/** Runs that are submitted and not yet durable. */
const IN_FLIGHT = 500;
/** For each thousand: rather more than a slow disk takes, so that all sleep before the first wakes. */
const MS_PER_THOUSAND = Number(process.env["SLEEPERS_MS_PER_THOUSAND"] ?? 150);

const sleeper = service("sleeper", {
  async nap(ctx, input: { ms: number }) {
    await ctx.sleep(input.ms);
    return "awake";
  },
});

const runtime = await openRuntime(data, [sleeper]);
const count = async (status: "suspended" | "succeeded"): Promise<number> =>
  (await runtime.reader.counts())[status] ?? 0;

const wakeAt = Date.now() + 20_000 + (runs / 1_000) * MS_PER_THOUSAND;
const began = performance.now();
let submitted = 0;
await Promise.all(
  Array.from({ length: IN_FLIGHT }, async () => {
    while (submitted < runs) {
      submitted += 1;
      await submit();
    }
  }),
);
while ((await count("suspended")) < runs && Date.now() < wakeAt) await sleep(250);
const submitSeconds = (performance.now() - began) / 1_000;
const asleep = await count("suspended");
process.send?.({ progress: `${asleep} asleep after ${submitSeconds.toFixed(1)} s` });
await sleep(6_000); // What a burst has left behind is given back when nothing happens.

const rssMb = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) / 1_024;
const disk = readdirSync(data).reduce(
  (sum, name) => sum + (name.startsWith("perdure.db") && !name.endsWith("-shm") ? statSync(join(data, name)).size : 0),
  0,
);
await sleep(Math.max(0, wakeAt - Date.now()));
const wakingAt = performance.now();
while ((await count("succeeded")) < runs) await sleep(100);
const wakeSeconds = (performance.now() - wakingAt) / 1_000;

const report: SleeperReport = {
  asleep,
  submitSeconds,
  rssMb,
  diskBytesPerRun: disk / runs,
  wakeupsPerSecond: runs / wakeSeconds,
};
process.send?.({ report });
await runtime.close(1_000);

/** A runtime that has no room says so; whoever submits a million at once waits then, as a client does on 429. */
async function submit(): Promise<void> {
  for (;;) {
    try {
      await runtime.submit({
        target: { service: "sleeper", handler: "nap" },
        input: JSON.stringify({ ms: Math.max(1, wakeAt - Date.now()) }),
      });
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== "P0032") throw error;
      await sleep(50);
    }
  }
}
