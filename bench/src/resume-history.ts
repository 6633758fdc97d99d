// Resume-history
// ==============
// From the signal until a suspended run goes on (its next step begins), in runs with 10, 1,000 and 100,000 entries (10,000 in
// the short form): remembered by their memory, by their journals, and by Restate. Medians of rounds in which all take turns.

import { type BenchOptions, type Figures, progress, round } from "./bench.ts";
import { removeDirectory, startProgress, temporaryDirectory } from "./children.ts";
import { resumeRestate } from "./isolates/restate-resume.ts";
import type { ResumerReport } from "./isolates/resumer.ts";

const MS_MAX = 3_600_000;

export async function run(options: BenchOptions): Promise<Figures> {
  const lengths = options.long ? [10, 1_000, 100_000] : [10, 1_000, 10_000];
  const isWanted = (name: string): boolean => options.only === undefined || options.only.includes(name);
  const figures: Figures = {};
  if (isWanted("perdure")) {
    const report = await ours(lengths, options.long ? 30 : 15);
    for (const [name, ms] of Object.entries(report)) {
      const [service = "", entries = ""] = name.split(".");
      figures[`perdure-${service}.e${entries}.resume_ms`] = round(ms);
    }
  }
  if (isWanted("restate")) {
    const times = await resumeRestate(lengths, options.long ? 10 : 5);
    for (const [entries, ms] of times) figures[`restate.e${entries}.resume_ms`] = round(ms);
  }
  return figures;
}

async function ours(lengths: readonly number[], rounds: number): Promise<ResumerReport> {
  const data = temporaryDirectory("resume");
  const module = new URL("isolates/resumer.ts", import.meta.url);
  try {
    const args = [data, String(rounds), ...lengths.map(String)];
    return await startProgress<ResumerReport>("perdure", module, args, MS_MAX, progress);
  } finally {
    removeDirectory(data);
  }
}
