// perdure kill: ends runs at once, without compensation.

import type { Command } from "commander";
import { actCommand, type Cli } from "../cli.ts";
import { actOnRuns, type ActOptions } from "../act-on-runs.ts";
import { addFilterOptions } from "../run-filter.ts";

export function killCommand(cli: Cli): Command {
  return addFilterOptions(actCommand("kill", "end runs and their children at once, without compensation")).action(
    (runs: readonly string[], options: ActOptions) => actOnRuns(cli, "kill", runs, options),
  );
}
