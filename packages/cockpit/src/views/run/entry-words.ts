// Journal entries in words.

import type { CommandView, EntryView, RunStatus, WaitView } from "@perdure/protocol";
import type { Messages } from "../../i18n/messages.ts";
import { shortId, targetText } from "../../ui/run-link.tsx";

const APPROVALS = "perdure.approvals";

export interface EntryWords {
  /** What kind of thing it is: `step`, `call`. */
  readonly verb: string;
  /** What it is about: a name, a target, a key. */
  readonly about: string;
}

export function entryWords(entry: EntryView, t: Messages): EntryWords {
  const says = t.run.entry;
  switch (entry.kind) {
    case "command":
      return { verb: t.run.commands[entry.command.type], about: aboutCommand(entry.command) };
    case "completion":
      return { verb: says.result, about: `#${entry.id}` };
    case "signal":
      if (entry.signal === 1) return { verb: says.cancelRequest, about: "" };
      if (entry.awakeable !== undefined) return { verb: t.run.waits.awakeable, about: entry.awakeable };
      return { verb: says.signal(String(entry.signal)), about: "" };
    case "retry":
      return { verb: entry.id === 0 ? says.handlerTry : says.retryOf(entry.id), about: entry.failure.message };
    case "resumed":
      return { verb: entry.forget === undefined ? says.resumed : says.resumedForget(entry.forget), about: "" };
  }
}

function aboutCommand(command: CommandView): string {
  switch (command.type) {
    case "step":
    case "sleep":
      return command.name ?? "";
    case "call":
    case "send":
      return command.target === undefined ? "" : targetText(command.target);
    case "getState":
    case "setState":
    case "clearState":
    case "getPromise":
    case "peekPromise":
    case "completePromise":
      return command.key ?? "";
    case "sendSignal":
      return `${String(command.signal ?? "")}${command.run === undefined ? "" : ` → ${shortId(command.run)}`}`;
    case "attach":
    case "output":
      return aboutRef(command);
    case "completeAwakeable":
      return command.awakeable ?? "";
    case "append":
    case "readStream":
    case "streamLength":
    case "trimStream":
      return command.stream ?? "";
    case "getQueue":
    case "getStateKeys":
    case "clearAllState":
      return "";
  }
}

function aboutRef({ ref }: CommandView): string {
  if (ref === undefined) return "";
  if ("run" in ref) return shortId(ref.run);
  return "workflow" in ref ? `${ref.workflow}/${ref.key}` : targetText(ref.target);
}

/** What a run waits for, in words. A time that no command asked for is that of its start, or of the next try. */
export function waitWords(wait: WaitView, status: RunStatus, t: Messages): string {
  const says = t.run.waits;
  switch (wait.kind) {
    case "timer":
      return says.timer(wait.name ?? "");
    case "run":
      return wait.target.service === APPROVALS ? says.approval : says.run;
    case "step":
      return says.step(wait.name);
    case "promise":
      return says.promise(wait.name);
    case "awakeable":
      return says.awakeable;
    case "signal":
      return says.signal(String(wait.signal));
    case "time":
      return status === "scheduled" ? says.start : says.nextTry;
    case "command":
      return says.command(wait.command, wait.type === null ? "?" : t.run.commands[wait.type]);
  }
}
