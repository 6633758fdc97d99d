// Sleepers
// ========
// 1,000,000 runs asleep at once (--long; 50,000 in the short form): the resident memory of the process that owns them, the
// disk that each takes, and how many a second wake, replay and end when their time has come.

import { type BenchOptions, type Figures, progress, round } from "./bench.ts";
import { removeDirectory, startProgress, temporaryDirectory } from "./children.ts";
import type { SleeperReport } from "./perdure/sleepers.ts";

export async function run(options: BenchOptions): Promise<Figures> {
  const runs = options.long ? 1_000_000 : 50_000;
  const data = temporaryDirectory("sleepers");
  progress(`putting ${runs} runs to sleep`);
  const report = await startProgress<SleeperReport>(
    "perdure",
    new URL("perdure/sleepers.ts", import.meta.url),
    [data, String(runs)],
    options.long ? 1_800_000 : 180_000,
    progress,
  );
  removeDirectory(data);
  if (report.asleep !== runs)
    progress(`only ${report.asleep} of ${runs} were asleep before the first woke: the disk is slower than expected`);
  return {
    "perdure.sleepers": runs,
    "perdure.rss_mb": round(report.rssMb),
    "perdure.disk_bytes_per_run": round(report.diskBytesPerRun),
    "perdure.wakeups_per_s": round(report.wakeupsPerSecond),
    "perdure.asleep_after_s": round(report.submitSeconds),
  };
}
