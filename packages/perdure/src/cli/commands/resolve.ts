// perdure resolve: answers an awakeable.

import type { Command } from "commander";
import { adminCommand, type Cli, type CommonOptions } from "../cli.ts";
import { printAnswer } from "../print-answer.ts";
import { readInput } from "../target.ts";

export function resolveCommand(cli: Cli): Command {
  return adminCommand("resolve", "answer an awakeable (an approval, say)")
    .argument("<awakeable>", "its id (sign_1…); `perdure show <run>` says it")
    .argument("[json]", "the answer; - reads it from standard input")
    .action(async (awakeable: string, json: string | undefined, options: CommonOptions) => {
      const payload = await readInput(json, cli.io);
      printAnswer(cli, options, await cli.admin(options).resolve(awakeable, payload));
    });
}
