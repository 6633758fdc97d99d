// Overhead
// ========
// What it costs a warm run that its code lives in an isolate: a research agent of ten turns, as a run that is remembered by its
// memory and as one that is remembered by its journal. With a model that takes its time (100 ms for each answer), and, as
// `bare_ms`, with one that does not.

import { type BenchOptions, type Figures, progress, round } from "./bench.ts";
import { removeDirectory, startProgress, temporaryDirectory } from "./children.ts";
import type { PaceReport } from "./isolates/pace.ts";

const MODEL_MS = 100;
const MS_MAX = 600_000;

export async function run(options: BenchOptions): Promise<Figures> {
  const rounds = options.long ? 30 : 10;
  const paced = await pace(rounds, MODEL_MS);
  const bare = await pace(rounds * 4, 0);
  return {
    "perdure-snapshot.wall_s": round(paced.snapshotMs / 1_000),
    "perdure-snapshot.bare_ms": round(bare.snapshotMs),
    "perdure-journal.wall_s": round(paced.journalMs / 1_000),
    "perdure-journal.bare_ms": round(bare.journalMs),
  };
}

async function pace(rounds: number, pauseMs: number): Promise<PaceReport> {
  const data = temporaryDirectory("overhead");
  const args = [data, String(rounds), String(pauseMs)];
  progress(`${rounds} runs of each, ${pauseMs} ms for an answer of the model`);
  try {
    return await startProgress<PaceReport>(
      "perdure",
      new URL("isolates/pace.ts", import.meta.url),
      args,
      MS_MAX,
      progress,
    );
  } finally {
    removeDirectory(data);
  }
}
