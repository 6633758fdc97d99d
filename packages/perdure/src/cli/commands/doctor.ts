// perdure doctor: looks at this machine and at the runtime, and says what is wrong and what to do.

import { resolve } from "node:path";
import type { Command } from "commander";
import { adminOption, ingressCommand, type Cli, type CommonOptions } from "../cli.ts";
import type { Check } from "../doctor/check.ts";
import { EXIT } from "../exit-codes.ts";
import type { Output } from "../output.ts";
import { padEnd, plural, printable } from "../text.ts";
import { VERSION } from "../../version.ts";

interface Options extends CommonOptions {
  readonly data: string;
}

export function doctorCommand(cli: Cli): Command {
  return ingressCommand("doctor", "look for what is wrong, with the machine and with the runtime")
    .addOption(adminOption())
    .option("--data <dir>", "the data directory", ".perdure")
    .action(async (options: Options) => {
      const checks = await look(cli, options);
      const failed = checks.filter((check) => check.status === "fail").length;
      const warned = checks.filter((check) => check.status === "warn").length;
      const out = cli.output(options);
      if (out.json) out.document({ status: failed > 0 ? "fail" : warned > 0 ? "warn" : "ok", checks });
      else print(checks, failed, warned, out);
      cli.exitCode = failed > 0 ? EXIT.failed : EXIT.ok;
    });
}

async function look(cli: Cli, options: Options): Promise<readonly Check[]> {
  // Loaded only here: the store is not needed by commands that talk to a runtime.
  const [machine, runtime] = await Promise.all([
    import("../doctor/machine-checks.ts"),
    import("../doctor/runtime-checks.ts"),
  ]);
  const directory = resolve(cli.io.cwd, options.data);
  const admin = cli.admin(options);
  const ingress = cli.ingress(options);
  const now = cli.io.now();
  const found = await runtime.checkRuntime(admin, ingress, VERSION, now);
  const checks = [
    machine.checkNode(),
    runtime.checkClock(now),
    ...found.checks,
    machine.checkDisk(directory),
    ...(await machine.checkData(directory, found.isUp)),
  ];
  if (found.isUp) return checks;
  return [
    ...checks,
    await machine.checkPort("ingress port", ingress.connection.url),
    await machine.checkPort("admin port", admin.connection.url),
  ];
}

const MARKS = { ok: ["green", "ok  "], warn: ["yellow", "warn"], fail: ["red", "FAIL"] } as const;

function print(checks: readonly Check[], failed: number, warned: number, out: Output): void {
  for (const check of checks) {
    const [colour, mark] = MARKS[check.status];
    out.text(`${out.paint(colour, mark)}  ${padEnd(check.name, 13)} ${printable(check.message)}`);
    if (check.do !== undefined) out.text(`${" ".repeat(20)}${out.paint("bold", "what to do:")} ${check.do}`);
  }
  const all = failed + warned === 0 ? "all is well" : `${plural(failed, "failure")}, ${plural(warned, "warning")}`;
  out.text(`\n${all}`);
}
