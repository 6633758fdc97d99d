// perdure chat: talks to a session of an agent.

import { Option, type Command } from "commander";
import type { MessagePolicy } from "@perdure/agents";
import { adminOption, ingressCommand, type Cli, type CommonOptions } from "../cli.ts";
import { RefusedError } from "../errors.ts";

export interface ChatFlags extends CommonOptions {
  readonly session: string;
  readonly as?: string;
  readonly message?: string;
  readonly policy?: MessagePolicy;
}

export function chatCommand(cli: Cli): Command {
  return ingressCommand("chat", "talk to an agent: see what it does, steer it, answer what it asks")
    .addOption(adminOption())
    .argument("<agent>", "its name")
    .option("-s, --session <id>", "which conversation; a new id begins a new one", "main")
    .option("--as <name>", "who you are, for what you approve (default: $USER)")
    .option("-m, --message <text>", "say this, print the answer and leave")
    .addOption(
      new Option("--policy <policy>", "with --message: what becomes of it while the agent is at work").choices([
        "steer",
        "interrupt",
        "queue",
        "collect",
        "restart",
      ]),
    )
    .action(async (agent: string, flags: ChatFlags) => {
      // Loaded only here: the other commands do without.
      const { askOnce, talk } = await import("../chat/talk.ts");
      await checkAgent(cli, agent, flags);
      if (flags.message === undefined) await talk(cli, agent, flags);
      else await askOnce(cli, agent, flags.message, flags);
    });
}

/** A slip in the name is worth a clear word. Where the admin API is out of reach, the ingress will say it. */
async function checkAgent(cli: Cli, agent: string, flags: ChatFlags): Promise<void> {
  let names: readonly string[];
  try {
    names = (await cli.admin(flags).agents()).agents.map(({ name }) => name);
  } catch {
    return; // The ingress may be there all the same.
  }
  if (names.includes(agent)) return;
  const there = names.length === 0 ? "no agent is served" : `there are ${names.join(", ")}`;
  throw new RefusedError(404, `there is no agent "${agent}": ${there}`, undefined, {
    do: "export what agent() returns from a file that is served",
  });
}
