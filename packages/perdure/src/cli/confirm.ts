// Asks the person at the terminal. Where there is none, --yes has to be said.

import { createInterface } from "node:readline/promises";
import type { Cli, CommonOptions } from "./cli.ts";
import { InterruptedError, UsageError } from "./errors.ts";

/** @param what would be done. @throws UsageError where there is nobody to ask; InterruptedError where they say no. */
export async function confirm(cli: Cli, what: string, options: CommonOptions): Promise<void> {
  const { stdin, stderr } = cli.io;
  if (stdin.isTTY !== true || stderr.isTTY !== true || options.json === true)
    throw new UsageError(`this would ${what}`, "add --yes if that is meant");
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await prompt.question(`${what}? [y/N] `, { signal: cli.io.interrupted }).catch(() => "");
    if (!/^y(es)?$/i.test(answer.trim())) throw new InterruptedError();
  } finally {
    prompt.close();
  }
}
