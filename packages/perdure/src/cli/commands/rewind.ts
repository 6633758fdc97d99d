// perdure rewind: puts a run back to where it was after an entry. What it was is kept as a branch.

import type { Command } from "commander";
import { adminCommand, type Cli, type CommonOptions } from "../cli.ts";
import { findEntry } from "../moment-lookup.ts";
import { printAnswer } from "../print-answer.ts";
import { findRun } from "../run-lookup.ts";

interface Options extends CommonOptions {
  readonly to: string;
}

export function rewindCommand(cli: Cli): Command {
  return adminCommand("rewind", "put a run back to where it was after an entry; what it is now is kept as a branch")
    .argument("<run>", "its id, or the beginning or end of it")
    .requiredOption("--to <entry>", "the last entry that stays, or a moment's name; 0 begins anew")
    .action(async (text: string, options: Options) => {
      const admin = cli.admin(options);
      const run = await findRun(admin, text);
      const answer = await admin.rewind(run, await findEntry(admin, run, options.to));
      printAnswer(cli, options, answer);
      cli.hint(options, `what it was: ${cli.commandLine(options, "show", answer.branch)}`);
    });
}
