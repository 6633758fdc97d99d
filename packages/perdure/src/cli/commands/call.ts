// perdure call: calls a handler and prints its answer.

import type { Command } from "commander";
import { ingressCommand, type Cli, type CommonOptions } from "../cli.ts";
import { printAnswer } from "./answer.ts";
import { checkTarget, readInput } from "./input.ts";

interface CallFlags extends CommonOptions {
  readonly idempotencyKey?: string;
}

export const callCommand = (cli: Cli): Command =>
  ingressCommand("call", "call a handler and print its answer")
    .argument("<target>", "service/handler, or object/key/handler")
    .argument("[input]", "JSON, or - to read it from standard input")
    .option("--idempotency-key <key>", "the same key gives the same run, and its answer")
    .action(async (target: string, text: string | undefined, flags: CallFlags) => {
      checkTarget(target);
      const input = await readInput(cli.io, text);
      const answer = await cli.ingress(flags).call({ target, input, idempotencyKey: flags.idempotencyKey });
      printAnswer(cli.output(flags), answer);
    });
