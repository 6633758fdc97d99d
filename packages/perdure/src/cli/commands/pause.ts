// perdure pause: holds runs.

import type { Command } from "commander";
import { actCommand, type Cli } from "../cli.ts";
import { actOnRuns, type ActOptions } from "../act-on-runs.ts";
import { addFilterOptions } from "../run-filter.ts";

export function pauseCommand(cli: Cli): Command {
  return addFilterOptions(actCommand("pause", "hold runs until they are resumed")).action(
    (runs: readonly string[], options: ActOptions) => actOnRuns(cli, "pause", runs, options),
  );
}
