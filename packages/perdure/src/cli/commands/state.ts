// perdure state: the state that objects and workflows keep under their keys.

import { Command } from "commander";
import type { JsonValue, StateEdit, StateView } from "@perdure/protocol";
import { PAYLOAD_MAX } from "../api/admin-client.ts";
import { adminCommand, type Cli, type CommonOptions } from "../cli.ts";
import { RefusedError, UsageError } from "../errors.ts";
import { parseCount } from "../run-filter.ts";
import { checkJson, readInput } from "../target.ts";
import { formatValue } from "../format-value.ts";

interface ListOptions extends CommonOptions {
  readonly limit: number;
  readonly after?: string;
}

interface EditOptions extends CommonOptions {
  readonly force?: boolean;
}

const FORCE = "also while a run has the key's turn (what that run holds in memory does not change)";

export function stateCommand(cli: Cli): Command {
  return new Command("state")
    .description("look at and edit the state of objects and workflows")
    .addCommand(listCommand(cli))
    .addCommand(getCommand(cli))
    .addCommand(setCommand(cli))
    .addCommand(clearCommand(cli));
}

function listCommand(cli: Cli): Command {
  return adminCommand("list", "list the keys that have state")
    .argument("<service>", "an object or a workflow")
    .option("-n, --limit <count>", "how many at most (up to 1000)", parseCount, 100)
    .option("--after <key>", "those after this key")
    .action(async (service: string, options: ListOptions) => {
      const out = cli.output(options);
      const page = await cli.admin(options).stateKeys(service, Math.min(options.limit, 1_000), options.after);
      if (out.json) return out.document(page);
      for (const key of page.keys) out.text(key);
      if (page.nextAfter !== null) out.note(`more: the same with --after ${JSON.stringify(page.nextAfter)}`);
    });
}

function getCommand(cli: Cli): Command {
  return adminCommand("get", "print the state of a key, or one value of it")
    .argument("<service>", "an object or a workflow")
    .argument("<key>")
    .argument("[name]", "only this value, as JSON")
    .action(async (service: string, key: string, name: string | undefined, options: CommonOptions) => {
      const view = await cli.admin(options).state(service, key, PAYLOAD_MAX);
      const out = cli.output(options);
      if (name === undefined) return out.json ? out.document(view) : printState(cli, options, view);
      const value = view.state[name];
      if (value === undefined)
        throw new RefusedError(404, `${service}/${key} has no state "${name}"${namesHint(view)}`, undefined);
      if (out.json) out.document({ service, key, name, value });
      else out.text(formatValue(value, out.live));
    });
}

function setCommand(cli: Cli): Command {
  return adminCommand("set", "set a value")
    .argument("<service>", "an object or a workflow")
    .argument("<key>")
    .argument("<name>")
    .argument("<json>", "the value; - reads it from standard input")
    .option("--force", FORCE)
    .action(async (service: string, key: string, name: string, json: string, options: EditOptions) => {
      const text = await readInput(json, cli.io);
      if (text === undefined) throw new UsageError("there is no value on standard input");
      await edit(cli, service, key, { set: { [name]: checkJson(text) as JsonValue } }, options);
    });
}

function clearCommand(cli: Cli): Command {
  return adminCommand("clear", "remove values, or all that a key has")
    .argument("<service>", "an object or a workflow")
    .argument("<key>")
    .argument("[names...]", "what is removed; absent: everything under the key")
    .option("--force", FORCE)
    .action(async (service: string, key: string, names: readonly string[], options: EditOptions) => {
      const clear = names.length > 0 ? names : Object.keys((await cli.admin(options).state(service, key, 0)).state);
      if (clear.length === 0)
        return cli.output(options).json ? cli.output(options).document({ service, key, state: {} }) : undefined;
      await edit(cli, service, key, { clear }, options);
    });
}

async function edit(cli: Cli, service: string, key: string, change: StateEdit, options: EditOptions): Promise<void> {
  const view = await cli
    .admin(options)
    .editState(service, key, options.force === true ? { ...change, force: true } : change);
  if (options.json === true) cli.output(options).document(view);
  else printState(cli, options, view);
}

function printState(cli: Cli, options: CommonOptions, { state }: StateView): void {
  const out = cli.output(options);
  const names = Object.entries(state);
  if (names.length === 0) return out.note("no state");
  out.raw(
    out.table(
      [{ title: "NAME" }, { title: "VALUE", shrinksTo: 10 }],
      names.map(([name, value]) => [name, JSON.stringify(value)]),
    ),
  );
}

function namesHint({ state }: StateView): string {
  const names = Object.keys(state);
  return names.length === 0 ? "" : `; it has ${names.slice(0, 20).join(", ")}`;
}
