// perdure cancel: asks runs to cancel themselves, children first.

import type { Command } from "commander";
import { actCommand, type Cli } from "../cli.ts";
import { actOnRuns, type ActOptions } from "../act-on-runs.ts";
import { addFilterOptions } from "../run-filter.ts";

export function cancelCommand(cli: Cli): Command {
  return addFilterOptions(actCommand("cancel", "ask runs to cancel themselves, their children first")).action(
    (runs: readonly string[], options: ActOptions) => actOnRuns(cli, "cancel", runs, options),
  );
}
