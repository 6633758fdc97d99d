// perdure purge: deletes finished runs.

import type { Command } from "commander";
import { actCommand, type Cli } from "../cli.ts";
import { actOnRuns, type ActOptions } from "../act-on-runs.ts";
import { addFilterOptions } from "../run-filter.ts";

export function purgeCommand(cli: Cli): Command {
  return addFilterOptions(actCommand("purge", "delete finished runs with their journals")).action(
    (runs: readonly string[], options: ActOptions) => actOnRuns(cli, "purge", runs, options),
  );
}
