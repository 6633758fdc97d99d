// perdure fork: a new run that shares the first entries of another.

import type { Command } from "commander";
import type { ForkBody, JsonValue } from "@perdure/protocol";
import { adminCommand, type Cli, type CommonOptions } from "../cli.ts";
import { findEntry } from "../moment-lookup.ts";
import { printAnswer } from "../print-answer.ts";
import { findRun } from "../run-lookup.ts";
import { checkJson, readInput } from "../target.ts";

interface Options extends CommonOptions {
  readonly at?: string;
  readonly key?: string;
  readonly input?: string;
  readonly note?: string;
}

export function forkCommand(cli: Cli): Command {
  return adminCommand("fork", "start a run that shares the first entries of another, and goes on on its own")
    .argument("<run>", "its id, or the beginning or end of it")
    .option("--at <entry>", "the last entry that is shared, or a moment's name; 0 shares nothing (default: all)")
    .option("--key <key>", "the key of the fork of an object or workflow (default: one is made)")
    .option("--input <json>", "another input, with --at 0; - reads it from standard input")
    .option("--note <json>", "what the fork gets as the signal perdure.fork")
    .action(async (text: string, options: Options) => {
      const admin = cli.admin(options);
      const run = await findRun(admin, text);
      const input = options.input === undefined ? undefined : await readInput(options.input, cli.io);
      const body: ForkBody = {
        ...(options.at === undefined ? {} : { at: await findEntry(admin, run, options.at) }),
        ...(options.key === undefined ? {} : { key: options.key }),
        ...(input === undefined ? {} : { input: checkJson(input) as JsonValue }),
        ...(options.note === undefined ? {} : { note: checkJson(options.note) as JsonValue }),
      };
      printAnswer(cli, options, await admin.fork(run, body));
    });
}
