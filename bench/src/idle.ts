// Idle
// ====
// Agents that wait in their images: the resident memory of the process that owns 100 of them, and of one that owns 100,000
// (10,000 in the short form), and the disk that each takes, its rows and its image.

import { type BenchOptions, type Figures, progress, round } from "./bench.ts";
import { removeDirectory, startProgress, temporaryDirectory } from "./children.ts";
import type { IdlersReport } from "./isolates/idlers.ts";

const FEW = 100;
const MS_MAX = 3_600_000;

export async function run(options: BenchOptions): Promise<Figures> {
  const figures: Figures = {};
  for (const agents of [FEW, options.long ? 100_000 : 10_000]) {
    const data = temporaryDirectory("idle");
    const module = new URL("isolates/idlers.ts", import.meta.url);
    const report = await startProgress<IdlersReport>("perdure", module, [data, String(agents)], MS_MAX, progress);
    removeDirectory(data);
    if (report.images < agents) throw new Error(`only ${report.images} of ${agents} agents were imaged`);
    figures[`perdure.n${agents}.rss_mb`] = round(report.rssMb);
    if (agents !== FEW) figures[`perdure.n${agents}.disk_bytes_per_agent`] = round(report.diskBytesPerAgent);
  }
  return figures;
}
