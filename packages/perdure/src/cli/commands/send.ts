// perdure send: starts a run and does not wait for it.

import type { Command } from "commander";
import { ingressCommand, type Cli, type CommonOptions } from "../cli.ts";
import { checkTarget, readInput } from "./input.ts";

interface SendFlags extends CommonOptions {
  readonly idempotencyKey?: string;
  readonly delay?: string;
}

export const sendCommand = (cli: Cli): Command =>
  ingressCommand("send", "start a run and print its id")
    .argument("<target>", "service/handler, or object/key/handler")
    .argument("[input]", "JSON, or - to read it from standard input")
    .option("--idempotency-key <key>", "the same key gives the same run")
    .option("--delay <duration>", "start it later: 10s, 2h, 7d, PT15M")
    .action(async (target: string, text: string | undefined, flags: SendFlags) => {
      checkTarget(target);
      const input = await readInput(cli.io, text);
      const sent = await cli.ingress(flags).send({ target, input, idempotencyKey: flags.idempotencyKey, delay: flags.delay });
      const output = cli.output(flags);
      if (output.json) {
        output.document(sent);
        return;
      }
      output.text(sent.runId);
      if (sent.status === "previouslyAccepted") output.note("this run was there already");
      output.note(`look at it: ${cli.commandLine({}, "show", sent.runId)}`);
    });
