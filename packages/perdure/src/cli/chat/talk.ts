// A chat and its surroundings: a terminal, or a pipe; and the one question that needs neither.

import type { AgentAnswer } from "@perdure/agents";
import type { Cli } from "../cli.ts";
import type { ChatFlags } from "../commands/chat.ts";
import type { InputStream } from "../io.ts";
import { printOutcome } from "../outcome.ts";
import type { Output } from "../output.ts";
import { personName } from "../session-name.ts";
import { AgentSession } from "./agent-session.ts";
import { ApprovalDesk } from "./approval-desk.ts";
import { Chat } from "./chat.ts";
import { PlainScreen, type Screen } from "./screen.ts";
import { Terminal, type TerminalStreams } from "./terminal.ts";

export async function talk(cli: Cli, agent: string, flags: ChatFlags): Promise<void> {
  const out = cli.output(flags);
  const isTerminal = out.live && cli.io.stdin.isTTY === true;
  await (isTerminal ? talkAtTerminal(cli, agent, flags, out) : talkThroughPipe(cli, agent, flags, out));
}

async function talkAtTerminal(cli: Cli, agent: string, flags: ChatFlags, out: Output): Promise<void> {
  const { stdin: input, stdout: output } = cli.io;
  const terminal = new Terminal({ input, output } as unknown as TerminalStreams, out.paint);
  const chat = newChat(cli, agent, flags, out, terminal, {
    onAsk: (question) => terminal.ask(question),
    edit: (text) => editAtTerminal(cli, terminal, text),
  });
  terminal.onLine((line) => chat.typed(line));
  terminal.onInterrupt(() => chat.interrupted());
  terminal.onEnd(() => chat.quit());
  try {
    await chat.open();
    terminal.ask(undefined);
    cli.exitCode = await chat.over;
  } finally {
    chat.close();
    terminal.close();
  }
}

/** In the editor that the environment names; without one the input is put where it is typed. */
async function editAtTerminal(cli: Cli, terminal: Terminal, text: string): Promise<string | undefined> {
  const editor = cli.io.env["VISUAL"] || cli.io.env["EDITOR"];
  if (editor !== undefined && editor !== "") return terminal.edit(editor, text);
  terminal.fill(`e ${JSON.stringify(JSON.parse(text))}`);
  return undefined;
}

async function talkThroughPipe(cli: Cli, agent: string, flags: ChatFlags, out: Output): Promise<void> {
  const screen = new PlainScreen(cli.io.stdout);
  const chat = newChat(cli, agent, flags, out, screen, {
    onAsk: () => undefined,
    edit: async () => {
      cli.hint(flags, 'type e and the JSON of what is to be done instead: e {"…": …}');
      return undefined;
    },
  });
  const release = cli.io.onStop(() => chat.interrupted());
  try {
    await chat.open();
    readLines(cli.io.stdin, chat).catch(() => chat.ended());
    cli.exitCode = await chat.over;
  } finally {
    release();
    chat.close();
  }
}

async function readLines(input: InputStream, chat: Chat): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of input) {
    const lines = (rest + (typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true }))).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) chat.typed(line);
  }
  if (rest !== "") chat.typed(rest);
  chat.ended();
}

function newChat(
  cli: Cli,
  agent: string,
  flags: ChatFlags,
  out: Output,
  screen: Screen,
  person: Pick<ConstructorParameters<typeof Chat>[0], "onAsk" | "edit">,
): Chat {
  let isAway = false;
  const onAway = (): void => {
    if (isAway) return;
    isAway = true;
    if (out.json) out.line({ type: "away" });
    else screen.line(out.paint("dim", "(the runtime is away; waiting for it)"));
  };
  const onBack = (): void => {
    if (isAway && !out.json) screen.line(out.paint("dim", "(it is back)"));
    isAway = false;
  };
  const session = sessionOf(cli, agent, flags, onAway);
  const as = personName(flags.as, cli.io.env);
  return new Chat({ session, admin: cli.admin(flags), screen, out, as, onAway, onBack, ...person });
}

function sessionOf(cli: Cli, agent: string, flags: ChatFlags, onAway: () => void): AgentSession {
  return new AgentSession(cli.ingress(flags), { agent, session: flags.session }, onAway);
}

/** Prints the answer alone. What waits for a person meanwhile is said on standard error. */
export async function askOnce(cli: Cli, agent: string, text: string, flags: ChatFlags): Promise<void> {
  const out = cli.output(flags);
  const session = sessionOf(cli, agent, flags, () => cli.hint(flags, "the runtime is away; waiting for it"));
  const run = await session.send(text, flags.policy);
  out.note(`accepted: ${run}`);
  const desk = new ApprovalDesk({
    session,
    admin: cli.admin(flags),
    onAsked: ({ id, title }) =>
      cli.hint(flags, `waits for an answer: ${title}\n  ${cli.commandLine(flags, "approvals", "approve", id)}`),
    onTurn: () => undefined,
  });
  void desk.watch();
  try {
    const outcome = await session.outcome(run);
    if (outcome.kind !== "json" || out.json) cli.exitCode = printOutcome(cli, flags, run, outcome);
    else out.text((JSON.parse(outcome.text) as AgentAnswer).text);
  } finally {
    desk.close();
  }
}
