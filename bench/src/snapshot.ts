// Snapshot
// ========
// Agents that are remembered by their memory: what an image takes beside the agent's own text, what capturing and restoring
// it takes, and how many a minute can be woken. A restore is counted until the run has seen what came after its image.

import { type BenchOptions, type Figures, progress, round } from "./bench.ts";
import { removeDirectory, startProgress, temporaryDirectory } from "./children.ts";
import type { StormReport } from "./isolates/storm.ts";

const KIBIBYTE = 1_024;
const MS_MAX = 900_000;

export async function run(options: BenchOptions): Promise<Figures> {
  const data = temporaryDirectory("snapshot");
  const args = options.long ? [data, "2000", "60"] : [data, "300", "15"];
  const module = new URL("isolates/storm.ts", import.meta.url);
  const report = await startProgress<StormReport>("perdure", module, args, MS_MAX, progress);
  removeDirectory(data);
  const { imageBytes, textBytes, textZstdBytes, restores, seconds } = report;
  return {
    "perdure.delta_kb": round((imageBytes - textZstdBytes) / KIBIBYTE),
    "perdure.image_kb": round(imageBytes / KIBIBYTE),
    "perdure.text_zstd_kb": round(textZstdBytes / KIBIBYTE),
    "perdure.text_kb": round(textBytes / KIBIBYTE),
    "perdure.capture_ms": round(report.captureMs),
    "perdure.restore_p50_ms": round(report.restoreMs),
    "perdure.restores_per_min": round((restores / seconds) * 60),
    "perdure.cpu_ms_per_restore": round(report.cpuMs),
    "perdure.loop_cpu_ms_per_restore": round(report.loopCpuMs),
    "perdure.rss_mb_before": round(report.rssMbBefore),
    "perdure.rss_mb": round(report.rssMb),
  };
}
