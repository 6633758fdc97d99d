// perdure call: starts a run and waits for its result.

import type { Command } from "commander";
import type { Cli, CommonOptions } from "../cli.ts";
import { ingressCommand } from "../cli.ts";
import { InterruptedError } from "../errors.ts";
import { printOutcome } from "../outcome.ts";
import { parseTarget, readInput } from "../target.ts";

interface Options extends CommonOptions {
  readonly idempotencyKey?: string;
}

export function callCommand(cli: Cli): Command {
  return ingressCommand("call", "call a handler, wait for its result and print it")
    .argument("<target>", "service/handler or object/key/handler")
    .argument("[json]", "the input; - reads it from standard input")
    .option("--idempotency-key <key>", "the same key gives the same run")
    .action(async (target: string, json: string | undefined, options: Options) => {
      await call(cli, target, json, options);
    });
}

async function call(cli: Cli, target: string, json: string | undefined, options: Options): Promise<void> {
  const ingress = cli.ingress(options);
  const out = cli.output(options);
  const { idempotencyKey } = options;
  const input = await readInput(json, cli.io);
  // Sent first, then waited for: the run is known before anything can go wrong on the way to its result.
  const { runId, status } = await ingress.send(parseTarget(target), {
    input,
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  });
  out.note(`${runId}${status === "previouslyAccepted" ? " (was there already)" : ""}`);
  try {
    const outcome = await ingress.attach(runId, () => out.note("the runtime went away; waiting for it"));
    cli.exitCode = printOutcome(cli, options, runId, outcome);
  } catch (error) {
    if (error instanceof InterruptedError)
      cli.hint(options, `the run goes on: ${cli.commandLine(options, "result", runId, "--wait")}`);
    throw error;
  }
}
