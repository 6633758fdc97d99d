// perdure result: what a run returned.

import type { Command } from "commander";
import type { Cli, CommonOptions } from "../cli.ts";
import { adminOption, ingressCommand } from "../cli.ts";
import { printOutcome } from "../outcome.ts";
import { findRun } from "../run-lookup.ts";

interface Options extends CommonOptions {
  readonly wait?: boolean;
}

export function resultCommand(cli: Cli): Command {
  return ingressCommand("result", "print the result of a run")
    .addOption(adminOption())
    .argument("<run>", "its id, or the beginning or end of it")
    .option("-w, --wait", "wait until the run has ended")
    .action(async (run: string, options: Options) => {
      const id = await findRun(cli.admin(options), run);
      const ingress = cli.ingress(options);
      const out = cli.output(options);
      const outcome =
        options.wait === true
          ? await ingress.attach(id, () => out.note("the runtime went away; waiting for it"))
          : await ingress.output(id);
      cli.exitCode = printOutcome(cli, options, id, outcome);
    });
}
