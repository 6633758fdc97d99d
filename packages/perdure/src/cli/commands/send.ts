// perdure send: starts a run and does not wait for it.

import type { Command } from "commander";
import type { Cli, CommonOptions } from "../cli.ts";
import { ingressCommand } from "../cli.ts";
import { parseTarget, readInput } from "../target.ts";
import { parseDurationOption } from "../time-text.ts";

interface Options extends CommonOptions {
  readonly delay?: number;
  readonly idempotencyKey?: string;
}

export function sendCommand(cli: Cli): Command {
  return ingressCommand("send", "start a run, print its id and do not wait for it")
    .argument("<target>", "service/handler or object/key/handler")
    .argument("[json]", "the input; - reads it from standard input")
    .option("--delay <duration>", "start it later: 10s, 5m, 2h, 7d", parseDurationOption)
    .option("--idempotency-key <key>", "the same key gives the same run")
    .action(async (target: string, json: string | undefined, options: Options) => {
      const { delay, idempotencyKey } = options;
      const answer = await cli.ingress(options).send(parseTarget(target), {
        input: await readInput(json, cli.io),
        ...(delay === undefined ? {} : { delay: `${delay}ms` }),
        ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      });
      const out = cli.output(options);
      if (out.json) out.document(answer);
      else out.text(answer.runId);
      if (answer.status === "previouslyAccepted") out.note("it was there already");
      out.note(`its result: ${cli.commandLine(options, "result", answer.runId, "--wait")}`);
    });
}
