// perdure settle: a person says what became of an effect whose outcome nobody knows.

import type { Command } from "commander";
import type { JsonValue, SettleRequest } from "@perdure/protocol";
import { adminCommand, type Cli, type CommonOptions } from "../cli.ts";
import { UsageError } from "../errors.ts";
import { printAnswer } from "../print-answer.ts";
import { parseCount } from "../run-filter.ts";
import { findRun } from "../run-lookup.ts";
import { checkJson, readInput } from "../target.ts";

interface Options extends CommonOptions {
  /** `true` where no value was given: it happened, and returned nothing. */
  readonly happened?: string | true;
  readonly notHappened?: boolean;
  readonly failed?: string;
}

export function settleCommand(cli: Cli): Command {
  return adminCommand("settle", "say what became of an at-most-once effect whose outcome is unknown")
    .argument("<run>", "its id, or the beginning or end of it")
    .argument("<command>", "number of the command, as `perdure show` says it", parseCount)
    .option(
      "--happened [json]",
      "it happened, and this is its result (absent: nothing; - reads it from standard input)",
    )
    .option("--not-happened", "it did not happen: run it")
    .option("--failed <message>", "it failed for good: the code gets this as an error")
    .action(async (run: string, command: number, options: Options) => {
      const admin = cli.admin(options);
      const outcome = await outcomeOf(cli, options);
      printAnswer(cli, options, await admin.settle(await findRun(admin, run), command, outcome));
    });
}

async function outcomeOf(cli: Cli, { happened, notHappened, failed }: Options): Promise<SettleRequest> {
  const said = [happened !== undefined, notHappened === true, failed !== undefined].filter(Boolean).length;
  if (said !== 1) throw new UsageError("say one of --happened [json], --not-happened and --failed <message>");
  if (failed !== undefined) return { failure: { message: failed } };
  if (notHappened === true) return { happened: false };
  const json = typeof happened === "string" ? await readInput(happened, cli.io) : undefined;
  return json === undefined ? { happened: true } : { happened: true, value: checkJson(json) as JsonValue };
}
