// perdure signal: sends a message into a live run.

import type { Command } from "commander";
import { adminCommand, type Cli, type CommonOptions } from "../cli.ts";
import { printAnswer } from "../print-answer.ts";
import { findRun } from "../run-lookup.ts";
import { readInput } from "../target.ts";

export function signalCommand(cli: Cli): Command {
  return adminCommand("signal", "send a signal to a run")
    .argument("<run>", "its id, or the beginning or end of it")
    .argument("<name>", "the signal's name, as in ctx.signal(name)")
    .argument("[json]", "what it carries; - reads it from standard input")
    .action(async (run: string, name: string, json: string | undefined, options: CommonOptions) => {
      const admin = cli.admin(options);
      const payload = await readInput(json, cli.io);
      printAnswer(cli, options, await admin.signal(await findRun(admin, run), name, payload));
    });
}
