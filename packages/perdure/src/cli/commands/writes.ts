// perdure writes: the switch that takes the writes of agents away, at once, and gives them back.

import { Argument, type Command } from "commander";
import type { ControlView } from "@perdure/protocol";
import { adminCommand, type Cli, type CommonOptions } from "../cli.ts";
import { UsageError } from "../errors.ts";
import type { Output } from "../output.ts";
import { personName } from "../session-name.ts";
import type { Column, Row } from "../table.ts";
import { ago } from "../time-text.ts";

interface Options extends CommonOptions {
  readonly reason?: string;
  readonly as?: string;
}

const COLUMNS: readonly Column[] = [
  { title: "FOR" },
  { title: "WRITES" },
  { title: "BY" },
  { title: "SINCE" },
  { title: "REASON", shrinksTo: 12 },
];

export function writesCommand(cli: Cli): Command {
  return adminCommand("writes", "allow, ask for or deny what agents change; alone, show what holds")
    .argument("[whom]", "an agent, agent/session, or * for all")
    .addArgument(new Argument("[mode]", "what becomes of tools that write").choices(["allow", "ask", "deny"]))
    .option("--reason <text>", "why; it is told to whoever is refused, and kept in the audit log")
    .option("--as <name>", "who you are (default: $USER)")
    .action(async (key: string | undefined, mode: ControlView["writes"] | undefined, options: Options) => {
      const admin = cli.admin(options);
      const out = cli.output(options);
      if (key === undefined) return list((await admin.controls()).controls, out);
      if (mode === undefined)
        return list(
          (await admin.controls()).controls.filter((one) => one.key === key),
          out,
        );
      if (mode !== "allow" && options.reason === undefined)
        throw new UsageError(`say why with --reason: whoever is refused is told, and the audit log keeps it`);
      const { reason } = options;
      const change = { key, writes: mode, by: personName(options.as, cli.io.env) };
      const control = await admin.changeControl(reason === undefined ? change : { ...change, reason });
      if (out.json) out.document(control);
      else out.text(`${control.key}  ${painted(control.writes, out)}`);
    });
}

function list(controls: readonly ControlView[], out: Output): void {
  if (out.json) return out.document({ controls });
  if (controls.length === 0) return out.note("nobody has said anything: writes are allowed as the agents' rules say");
  out.raw(
    out.table(
      COLUMNS,
      controls.map((control) => row(control, out)),
    ),
  );
}

function row({ key, writes, by, at, reason }: ControlView, out: Output): Row {
  const since = at === undefined ? "" : ago(Date.parse(at), out.now);
  return [key, { text: writes, paint: (text) => out.paint(COLOURS[writes], text) }, by ?? "", since, reason ?? ""];
}

const COLOURS = { allow: "green", ask: "yellow", deny: "red" } as const;

function painted(writes: ControlView["writes"], out: Output): string {
  return out.paint(COLOURS[writes], writes);
}
