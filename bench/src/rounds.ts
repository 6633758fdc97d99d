// Rounds
// ======
// Measures several systems in turn: every number of callers, every system, round after round, so that a slow moment
// of the machine falls on all of them alike. Figures are medians over the rounds.

import { type BenchOptions, type Figures, median, progress, round } from "./bench.ts";
import { load } from "./load.ts";
import type { Peer, Target } from "./peers/peer.ts";

export interface RoundsPlan {
  readonly callers: readonly number[];
  readonly rounds: number;
  readonly warmupMs: number;
  readonly measureMs: number;
}

const metrics = ["runs_per_s", "p50_ms", "p99_ms"] as const;

export async function measureInTurn(peers: readonly Peer[], plan: RoundsPlan, options: BenchOptions): Promise<Figures> {
  const unknown = options.only?.filter((name) => !peers.some((peer) => peer.name === name)) ?? [];
  if (unknown.length > 0)
    throw new Error(`--only knows ${peers.map((peer) => peer.name).join(", ")}; not ${unknown.join(", ")}`);
  const chosen = peers.filter((peer) => options.only?.includes(peer.name) ?? peer.missing === undefined);
  for (const peer of peers) {
    if (peer.missing === undefined || (options.only !== undefined && !chosen.includes(peer))) continue;
    if (options.only !== undefined) throw new Error(`${peer.name} ${peer.missing}`);
    progress(`without ${peer.name}: it ${peer.missing}`);
  }

  progress(`starting ${chosen.map((peer) => peer.name).join(", ")}`);
  const startedAt = performance.now();
  const starts = await Promise.allSettled(chosen.map((peer) => peer.start()));
  const targets = new Map<string, Target>();
  starts.forEach((start, i) => {
    if (start.status === "fulfilled") targets.set(chosen[i]?.name ?? "", start.value);
  });
  try {
    for (const start of starts) if (start.status === "rejected") throw start.reason;
    for (const target of targets.values()) target.pause?.();
    progress(`ready after ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);
    return await measure(targets, plan);
  } finally {
    await Promise.allSettled([...targets.values()].map((target) => target.stop()));
  }
}

async function measure(targets: ReadonlyMap<string, Target>, plan: RoundsPlan): Promise<Figures> {
  const samples = new Map<string, number[]>();
  const total = plan.rounds * plan.callers.length * targets.size;
  let done = 0;
  for (let turn = 0; turn < plan.rounds; turn += 1) {
    for (const callers of plan.callers) {
      for (const [name, target] of targets) {
        target.resume?.();
        const result = await load({ url: target.url, callers, warmupMs: plan.warmupMs, measureMs: plan.measureMs });
        target.pause?.();
        done += 1;
        const figures = `${result.runs_per_s.toFixed(0)} runs/s, p50 ${result.p50_ms.toFixed(1)} ms, p99 ${result.p99_ms.toFixed(1)} ms`;
        progress(`${done}/${total}  ${name} at ${callers}: ${figures}`);
        for (const metric of metrics) {
          const key = `${name}.c${callers}.${metric}`;
          samples.set(key, [...(samples.get(key) ?? []), result[metric]]);
        }
      }
    }
  }
  const names = [...targets.keys()];
  const keys = names.flatMap((name) =>
    plan.callers.flatMap((callers) => metrics.map((metric) => `${name}.c${callers}.${metric}`)),
  );
  return Object.fromEntries(keys.map((key) => [key, round(median(samples.get(key) ?? []))]));
}
