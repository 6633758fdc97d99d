// Journal entries in words: what the code asked for, what came back.

import type { CommandView, EntryView, KeptView, ResultView, SignalName, WaitView } from "@perdure/protocol";
import { codeName } from "./migration-text.ts";
import { shortId } from "./run-lookup.ts";
import { targetText } from "./target.ts";
import { plural, printable } from "./text.ts";
import { clockTime } from "./time-text.ts";
import { failureText, payloadText, resultText, type ValueOptions } from "./values.ts";

export function commandText(command: CommandView, options: ValueOptions): string {
  const quoted = (text: string | undefined): string => printable(JSON.stringify(text ?? ""));
  switch (command.type) {
    case "step":
      return `step ${quoted(command.name)}${command.atMostOnce === true ? " (at most once)" : ""}${command.into === undefined ? "" : ` into stream ${quoted(command.into)}`}`;
    case "sleep":
      return `sleep${command.name === undefined ? "" : ` ${quoted(command.name)}`} until ${clockTime(Date.parse(command.wakeAt ?? ""))}`;
    case "call":
      return `call ${calledText(command)}`;
    case "send":
      return `send ${calledText(command)}${command.invokeAt === undefined ? "" : ` at ${clockTime(Date.parse(command.invokeAt))}`}`;
    case "getState":
      return `read state ${quoted(command.key)}`;
    case "getQueue":
      return "read what queues for the key";
    case "getStateKeys":
      return "read the names in state";
    case "setState":
      return `set state ${quoted(command.key)} = ${payloadText(command.value ?? null, options)}`;
    case "clearState":
      return `clear state ${quoted(command.key)}`;
    case "clearAllState":
      return "clear all state";
    case "getPromise":
      return `wait for promise ${quoted(command.key)}`;
    case "peekPromise":
      return `look at promise ${quoted(command.key)}`;
    case "completePromise":
      return `settle promise ${quoted(command.key)}${completionText(command, options)}`;
    case "sendSignal":
      return `signal ${signalText(command.signal ?? "", command.awakeable)} to ${command.run === undefined ? "a run" : shortId(command.run)}${completionText(command, options)}`;
    case "attach":
      return `attach to ${refText(command)}`;
    case "output":
      return `look at the result of ${refText(command)}`;
    case "completeAwakeable":
      return `settle awakeable ${command.awakeable ?? ""}${completionText(command, options)}`;
    case "append":
      return `append ${plural(command.count ?? 0, "item")} to stream ${quoted(command.stream)}`;
    case "readStream":
      return `read stream ${quoted(command.stream)}${command.from ? ` from ${command.from}` : ""}`;
    case "streamLength":
      return `length of stream ${quoted(command.stream)}`;
    case "trimStream":
      return `trim stream ${quoted(command.stream)} before ${command.before ?? 0}`;
  }
}

function calledText(command: CommandView): string {
  const target = command.target === undefined ? "" : printable(targetText(command.target));
  return command.name === undefined ? target : `${target} ${JSON.stringify(command.name)}`;
}

function completionText(command: CommandView, options: ValueOptions): string {
  return command.completion === undefined || command.completion.kind === "void"
    ? ""
    : ` with ${resultText(command.completion, options)}`;
}

function refText({ ref }: CommandView): string {
  if (ref === undefined) return "a run";
  if ("run" in ref) return shortId(ref.run);
  if ("workflow" in ref) return printable(`${ref.workflow}/${ref.key}`);
  return printable(`${targetText(ref.target)} (idempotency key ${ref.idempotencyKey})`);
}

function signalText(signal: SignalName, awakeable?: string): string {
  if (awakeable !== undefined) return `awakeable ${awakeable}`;
  return signal === 1 ? "cancel" : printable(JSON.stringify(signal));
}

/** What came of a command, to be put behind it. */
export function outcomeText(
  command: CommandView,
  result: ResultView | undefined,
  kept: KeptView | undefined,
  options: ValueOptions,
): string {
  if (result === undefined) return "";
  const equals = options.paint("dim", "=");
  if (command.type === "append")
    return result.kind === "value" ? ` ${options.paint("dim", `at ${JSON.stringify(result.value)}`)}` : "";
  const where = kept === undefined ? "" : ` ${options.paint("dim", keptText(command, kept))}`;
  return ` ${equals} ${resultText(result, options)}${where}`;
}

/** A stream that the command itself names is not named again. */
function keptText(command: CommandView, { stream, from, count }: KeptView): string {
  const name =
    command.stream === stream || command.into === stream ? "" : `stream ${printable(JSON.stringify(stream))} `;
  return count === 1 ? `(${name}at ${from})` : `(${name}from ${from} to ${from + count - 1})`;
}

/** The whole entry on one line, for streams. */
export function entryText(entry: EntryView, options: ValueOptions): string {
  switch (entry.kind) {
    case "command": {
      const child = entry.child === undefined ? "" : ` as ${shortId(entry.child)}`;
      return `${commandText(entry.command, options)}${child}${outcomeText(entry.command, entry.result, entry.kept, options)}`;
    }
    case "completion":
      return `#${entry.id} came back: ${resultText(entry.result, options)}`;
    case "signal":
      return `received ${entry.signal === 1 ? "the request to cancel" : `${signalText(entry.signal, entry.awakeable)}: ${resultText(entry.payload, options)}`}`;
    case "retry":
      return retryText(entry, options);
    case "resumed":
      if (entry.migrated !== undefined)
        return `goes on with ${codeName(entry.migrated.to)}, from the safe point "${entry.migrated.point}"`;
      return `resumed${entry.forget === undefined ? "" : `, #${entry.forget} may run again`}`;
  }
}

export function retryText(entry: Extract<EntryView, { kind: "retry" }>, options: ValueOptions): string {
  const what = entry.id === 0 ? "the handler" : `#${entry.id}`;
  const next =
    entry.retryAt === undefined ? "waits for a person" : `next try at ${clockTime(Date.parse(entry.retryAt))}`;
  return options.paint(
    "yellow",
    `try ${entry.tries} of ${what} failed: ${failureText(entry.failure, options.width)}; ${next}`,
  );
}

/** What a run waits for, in words. */
export function waitText(wait: WaitView): string {
  switch (wait.kind) {
    case "timer":
      return `sleep #${wait.command}${wait.name === null ? "" : ` ${printable(JSON.stringify(wait.name))}`} until ${clockTime(Date.parse(wait.at))}`;
    case "run":
      return `#${wait.command} ${printable(targetText(wait.target))}, which is ${wait.runId}`;
    case "step":
      return `step #${wait.command} ${printable(JSON.stringify(wait.name))}`;
    case "promise":
      return `promise #${wait.command} ${printable(JSON.stringify(wait.name))}`;
    case "awakeable":
      return `awakeable ${wait.id}`;
    case "signal":
      return `signal ${signalText(wait.signal)}`;
    case "time":
      return `${clockTime(Date.parse(wait.at))}`;
    case "command":
      return `#${wait.command}${wait.type === null ? "" : ` (${wait.type})`}`;
  }
}
