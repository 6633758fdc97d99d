// perdure budget: what a session and its sub-agents have used, and more for it.

import { InvalidArgumentError, Option, type Command } from "commander";
import type { BudgetRaiseRequest } from "@perdure/protocol";
import { adminCommand, type Cli, type CommonOptions } from "../cli.ts";
import { budgetLines } from "../chat/looks.ts";
import { UsageError } from "../errors.ts";
import { parseSessionName, personName } from "../session-name.ts";
import { parseDurationOption } from "../time-text.ts";

interface Options extends CommonOptions {
  readonly raise?: BudgetRaiseRequest;
  readonly as?: string;
  readonly comment?: string;
}

export function budgetCommand(cli: Cli): Command {
  return adminCommand("budget", "show the budget of a session, or raise it")
    .argument("<agent/session>", "whose it is")
    .addOption(
      new Option("--raise <amounts>", "add to its limits: tokens=50000,usd=1.5,wall=2h,calls=20").argParser(parseRaise),
    )
    .option("--as <name>", "with --raise: who you are (default: $USER)")
    .option("--comment <text>", "with --raise: why")
    .action(async (name: string, options: Options) => {
      if (parseSessionName(name).session === undefined)
        throw new UsageError(`"${name}" names no session`, "write agent/session; `perdure agents` lists them");
      const admin = cli.admin(options);
      const out = cli.output(options);
      const { raise, comment } = options;
      const status =
        raise === undefined
          ? await admin.budget(name)
          : await admin.raiseBudget(name, {
              ...raise,
              by: personName(options.as, cli.io.env),
              ...(comment === undefined ? {} : { comment }),
            });
      if (out.json) out.document(status);
      else for (const line of budgetLines(status)) out.text(line);
    });
}

function parseRaise(text: string): BudgetRaiseRequest {
  const raise: { tokens?: number; usd?: number; wall?: string; calls?: number } = {};
  for (const part of text.split(",")) {
    const [name = "", value = ""] = part.split("=").map((word) => word.trim());
    if (name === "wall") raise.wall = `${parseDurationOption(value)}ms`;
    else if (name === "usd") raise.usd = amount(part, value, (number) => Number.isFinite(number));
    else if (name === "tokens" || name === "calls") raise[name] = amount(part, value, Number.isSafeInteger);
    else throw new InvalidArgumentError(`"${part}" is none of tokens=…, usd=…, wall=…, calls=…`);
  }
  return raise;
}

function amount(part: string, value: string, fits: (number: number) => boolean): number {
  const number = value === "" ? Number.NaN : Number(value);
  if (number > 0 && fits(number)) return number;
  throw new InvalidArgumentError(`"${part}": write an amount above 0, such as tokens=50000 or usd=1.5.`);
}
