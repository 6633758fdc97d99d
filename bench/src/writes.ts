// Writes
// ======
// What a ten-step run costs the disk: rows appended and rows updated, bytes written, flushes. Measured in a process of its
// own, once with one run at a time and once with 200, where runs share flushes.

import { type BenchOptions, type Figures, progress, round } from "./bench.ts";
import { removeDirectory, startModule, temporaryDirectory } from "./children.ts";
import type { WriteCounts } from "./perdure/count-writes.ts";

export async function run(options: BenchOptions): Promise<Figures> {
  const figures: Figures = {};
  for (const [prefix, concurrent, runs] of [
    ["perdure", 1, options.long ? 5_000 : 1_000],
    ["perdure.c200", 200, options.long ? 100_000 : 20_000],
  ] as const) {
    progress(`${runs} runs, ${concurrent} at a time`);
    const data = temporaryDirectory("writes");
    const child = await startModule<WriteCounts>("perdure", new URL("perdure/count-writes.ts", import.meta.url), [
      data,
      String(concurrent),
      String(runs),
    ]);
    const { rows, updates, bytes, flushes } = child.ready;
    await child.stop();
    removeDirectory(data);
    figures[`${prefix}.rows_per_run`] = round(rows / runs);
    figures[`${prefix}.updates_per_run`] = round(updates / runs);
    figures[`${prefix}.bytes_per_run`] = round(bytes / runs);
    figures[`${prefix}.flushes_per_run`] = round(flushes / runs);
  }
  return figures;
}
