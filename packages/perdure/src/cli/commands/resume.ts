// perdure resume: lets paused runs go on.

import type { Command } from "commander";
import { actCommand, type Cli } from "../cli.ts";
import { actOnRuns, type ActOptions } from "../act-on-runs.ts";
import { addFilterOptions } from "../run-filter.ts";

export function resumeCommand(cli: Cli): Command {
  return addFilterOptions(actCommand("resume", "let paused runs go on; what retries or waits looks again now")).action(
    (runs: readonly string[], options: ActOptions) => actOnRuns(cli, "resume", runs, options),
  );
}
