// What a line means that somebody typed: something to say, a command, or an answer to what the agent asks.

import type { MessagePolicy } from "@perdure/agents";

export const CHAT_COMMANDS = ["stop", "status", "history", "budget", "help", "quit"] as const;
export type ChatCommand = (typeof CHAT_COMMANDS)[number];

export type TypedLine =
  | { readonly kind: "nothing" }
  /** Without a policy the agent decides what becomes of it. */
  | { readonly kind: "message"; readonly text: string; readonly policy?: MessagePolicy }
  | { readonly kind: "command"; readonly name: ChatCommand; readonly argument: string }
  | { readonly kind: "answer"; readonly decision: "approved" | "rejected"; readonly comment?: string }
  /** Approve something else than what is asked; without an input it is still to be written. */
  | { readonly kind: "edit"; readonly input?: unknown }
  | { readonly kind: "wrong"; readonly why: string };

const POLICIES: ReadonlySet<string> = new Set<MessagePolicy>(["steer", "queue", "interrupt", "restart", "collect"]);
const ANSWER = /^(y|yes|n|no)(?:\s+(.+))?$/is;
const EDIT = /^(?:e|edit)(?:\s+(.+))?$/is;

/** @param asked something waits for a yes or a no. */
export function readTypedLine(line: string, asked: boolean): TypedLine {
  const text = line.trim();
  if (text === "") return { kind: "nothing" };
  if (text.startsWith("//")) return { kind: "message", text: text.slice(1) }; // A message that begins with a slash.
  if (text.startsWith("/")) return readCommand(text);
  return (asked ? readAnswer(text) : undefined) ?? { kind: "message", text };
}

function readCommand(text: string): TypedLine {
  const [, name = "", argument = ""] = /^\/(\S*)\s*(.*)$/s.exec(text) ?? [];
  const command = CHAT_COMMANDS.find((one) => one === name);
  if (command !== undefined) return { kind: "command", name: command, argument };
  if (!POLICIES.has(name)) return { kind: "wrong", why: `there is no /${name}: /help lists what there is` };
  if (argument === "") return { kind: "wrong", why: `/${name} goes with a message: /${name} and then this` };
  return { kind: "message", text: argument, policy: name as MessagePolicy };
}

function readAnswer(text: string): TypedLine | undefined {
  const [answer, word = "", comment] = ANSWER.exec(text) ?? [];
  if (answer !== undefined) {
    const decision = word.toLowerCase().startsWith("y") ? "approved" : "rejected";
    return { kind: "answer", decision, ...(comment === undefined ? {} : { comment: comment.trim() }) };
  }
  const edit = EDIT.exec(text);
  if (edit === null) return undefined;
  const [, json] = edit;
  if (json === undefined) return { kind: "edit" };
  const read = readJson(json);
  // "Edit the first part" is a message.
  return read === undefined ? undefined : { kind: "edit", input: read.value };
}

export function readJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined; // The caller knows what that means.
  }
}

export const CHAT_HELP = `Type a message. While the agent works it is taken into account before its next step.
  /queue …        wait for a turn of its own            /interrupt …   stop what it says now, and go on from this
  /steer …        the default, said outright            /restart …     call off all that is under way, and begin anew
  /collect …      wait, and share a turn with others of these
  y, n, e         answer what it asks: yes, no (n and a reason), edit what will be done (or e and JSON)
  /stop           end the turn, keeping what there is   (Ctrl-C does the same, twice it quits)
  /status /history [items] /budget /help
  /quit           leave; the agent goes on without you`;
