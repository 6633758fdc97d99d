// Steps
// =====
// Throughput and latency of a run of ten dependent durable steps, awaited by its caller over HTTP, at 1, 10, 50 and
// 200 callers, beside peers on the same machine in the same run. Every system flushes to disk (fsync on).

import type { BenchOptions, Figures } from "./bench.ts";
import { absurd } from "./peers/absurd.ts";
import { dbos } from "./peers/dbos.ts";
import { perdure } from "./peers/perdure.ts";
import { restate } from "./peers/restate.ts";
import { measureInTurn } from "./rounds.ts";

export async function run(options: BenchOptions): Promise<Figures> {
  const callers = [1, 10, 50, 200];
  const plan = options.long
    ? { callers, rounds: 5, warmupMs: 2_000, measureMs: 5_000 }
    : { callers, rounds: 1, warmupMs: 700, measureMs: 1_500 };
  return measureInTurn([perdure, restate, dbos, absurd], plan, options);
}
