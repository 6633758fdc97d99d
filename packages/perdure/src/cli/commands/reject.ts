// perdure reject: answers an awakeable with an error.

import type { Command } from "commander";
import { adminCommand, type Cli, type CommonOptions } from "../cli.ts";
import { printAnswer } from "../print-answer.ts";

export function rejectCommand(cli: Cli): Command {
  return adminCommand("reject", "answer an awakeable with an error")
    .argument("<awakeable>", "its id (sign_1…); `perdure show <run>` says it")
    .argument("<reason>", "what the code gets as the error's message")
    .action(async (awakeable: string, message: string, options: CommonOptions) => {
      printAnswer(cli, options, await cli.admin(options).reject(awakeable, { message }));
    });
}
