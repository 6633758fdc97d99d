// perdure restart: cuts a run's journal before an entry, and lets the run go on from there.

import type { Command } from "commander";
import { adminCommand, type Cli, type CommonOptions } from "../cli.ts";
import { printAnswer } from "../print-answer.ts";
import { parseCount } from "../run-filter.ts";
import { findRun } from "../run-lookup.ts";

interface Options extends CommonOptions {
  readonly from: number;
}

export function restartCommand(cli: Cli): Command {
  return adminCommand("restart", "forget the journal of a run from an entry on, and go on from there")
    .argument("<run>", "its id, or the beginning or end of it")
    .requiredOption("--from <entry>", "the first entry that is forgotten; 1 starts anew", parseCount)
    .action(async (run: string, options: Options) => {
      const admin = cli.admin(options);
      printAnswer(cli, options, await admin.restart(await findRun(admin, run), options.from));
    });
}
