// Turns
// =====
// What a turn of an agent writes when its session is 10, 100 and 1,000 turns old: the same question, one tool call and the same
// answer in each. Counted in the process itself, one turn at a time, on average over nine turns around each of the three.
//
//   bytes     of the write-ahead log, in frames of a page and its head: what a commit has to flush. Checkpoints, which copy
//             pages into the database later and for many commits at once, are not in it
//   rows      appended or changed: one for each mutation of a commit
//   commits   each with its flush
//
// The aim: 1,000 at most 1.2 times 10. The requests to the model do grow, since the session is not compacted here; they are
// stored nowhere.

import { type BenchOptions, type Figures, progress, round } from "./bench.ts";
import { removeDirectory, startProgress, temporaryDirectory } from "./children.ts";
import type { TurnWrites, TurnsReport } from "./perdure/count-turns.ts";

const AROUND = 4;
const AGES = [10, 100, 1_000];

export async function run(options: BenchOptions): Promise<Figures> {
  const data = temporaryDirectory("turns");
  try {
    const { turns } = await startProgress<TurnsReport>(
      "perdure",
      new URL("perdure/count-turns.ts", import.meta.url),
      [data, String(1_000 + AROUND)],
      options.long ? 1_800_000 : 600_000,
      progress,
    );
    const figures: Figures = {};
    for (const age of AGES) {
      const near = turns.slice(age - 1 - AROUND, age + AROUND);
      const mean = (of: (turn: TurnWrites) => number): number =>
        round(near.reduce((sum, turn) => sum + of(turn), 0) / near.length);
      figures[`perdure.t${age}.bytes`] = mean(({ bytes }) => bytes);
      figures[`perdure.t${age}.rows`] = mean(({ rows }) => rows);
      figures[`perdure.t${age}.commits`] = mean(({ commits }) => commits);
    }
    figures["perdure.ratio"] = round((figures["perdure.t1000.bytes"] ?? 0) / (figures["perdure.t10.bytes"] ?? 0));
    return figures;
  } finally {
    removeDirectory(data);
  }
}
