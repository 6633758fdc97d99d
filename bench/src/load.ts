// Load
// ====
// The load generator: a closed loop of C callers against one URL. It runs in a child process of its own, so that it
// uses the other core, and spends as little of it as it can: one keep-alive socket per caller (caller.ts), no promises
// on the way, two timers for the whole measurement.
//
// L1. Every answer is checked (k in, k + 10 out; k differs from request to request); a wrong one ends the measurement.
// L2. Latencies are exact: every one is kept and sorted.
// L3. A run counts if it ended inside the window. The warm-up lasts until every caller could have had one answer, the
//     window until every caller could have had two; both at least as long as planned, and at most `stretch` times.
//     Callers that still wait at the end are cut off.

import { setTimeout as sleep } from "node:timers/promises";
import { startCaller } from "./caller.ts";
import { startModule, within } from "./children.ts";

export interface LoadPlan {
  readonly url: string;
  readonly callers: number;
  readonly warmupMs: number;
  readonly measureMs: number;
}

export interface LoadResult {
  readonly runs_per_s: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
}

const stretch = 5;

type Answer = { result: LoadResult } | { error: string };

/** Called by benchmarks: runs one plan in a child process. */
export async function load(plan: LoadPlan): Promise<LoadResult> {
  const budgetMs = stretch * (plan.warmupMs + plan.measureMs) + 10_000;
  const child = await within(
    budgetMs,
    `load on ${plan.url}`,
    startModule<Answer>("load", new URL(import.meta.url), [JSON.stringify(plan)]),
  );
  await child.stop();
  if ("error" in child.ready) throw new Error(`load on ${plan.url}: ${child.ready.error}`);
  return child.ready.result;
}

async function generate(plan: LoadPlan): Promise<LoadResult> {
  const latencies: number[] = [];
  const failed = Promise.withResolvers<never>();
  let ended = 0;
  let measuring = false;

  const phase = async (ms: number, enough: () => boolean): Promise<void> => {
    const startedAt = performance.now();
    let waitMs = ms;
    do {
      await Promise.race([failed.promise, sleep(waitMs)]);
      waitMs = 20;
    } while (!enough() && performance.now() - startedAt < stretch * ms);
  };

  for (let caller = 0; caller < plan.callers; caller += 1) {
    let n = caller * 1_000_000;
    let startedAt = 0;
    const next = (): string => {
      n += 1;
      startedAt = performance.now();
      return `{"n":${n}}`;
    };
    startCaller(plan.url, {
      first: next,
      answered(status, body) {
        if (status !== 200 || Number(body) !== n + 10)
          throw new Error(`asked ${n}, got ${status} ${body.slice(0, 500)}`);
        ended += 1;
        if (measuring) latencies.push(performance.now() - startedAt);
        return next();
      },
      failed: failed.reject,
    });
  }

  await phase(plan.warmupMs, () => ended >= plan.callers);
  measuring = true;
  const begin = performance.now();
  await phase(plan.measureMs, () => latencies.length >= 2 * plan.callers);
  const seconds = (performance.now() - begin) / 1_000;
  if (latencies.length === 0) throw new Error("no run ended inside the window");

  const sorted = Float64Array.from(latencies).sort();
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
  return { runs_per_s: sorted.length / seconds, p50_ms: at(0.5), p99_ms: at(0.99) };
}

if (import.meta.main) {
  const answer: Answer = await generate(JSON.parse(process.argv[2] ?? "") as LoadPlan).then(
    (result) => ({ result }),
    (error: unknown) => ({ error: String(error) }),
  );
  process.send?.(answer, () => process.exit(0));
}
