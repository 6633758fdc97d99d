// Divergence: the code takes another path than the journal
// ========================================================
// Compared is what tells two commands apart for a reader: type, name, target, key, and how many items are appended. The
// payloads are not: they may be long, and a new deployment may well build the same call with another field in it.

import type { Command, RunRef, Target } from "@perdure/protocol";
import { JournalMismatchError } from "@perdure/protocol";

/** Whether `now` may stand where `recorded` is. Runs for every command of a replay, so it builds nothing. */
export function sameCommand(recorded: Command, now: Command): boolean {
  switch (now.type) {
    case "step":
      return recorded.type === "step" && recorded.name === now.name;
    case "sleep":
      return recorded.type === "sleep" && recorded.name === now.name;
    case "call":
    case "send":
      return recorded.type === now.type && recorded.name === now.name && sameTarget(recorded.target, now.target);
    case "getQueue":
    case "getStateKeys":
    case "clearAllState":
      return recorded.type === now.type;
    case "getState":
    case "setState":
    case "clearState":
    case "getPromise":
    case "peekPromise":
    case "completePromise":
      return recorded.type === now.type && recorded.key === now.key;
    case "sendSignal":
      return recorded.type === "sendSignal" && recorded.run === now.run && recorded.signal === now.signal;
    case "attach":
    case "output":
      return recorded.type === now.type && describeRef(recorded.ref) === describeRef(now.ref);
    case "completeAwakeable":
      return recorded.type === "completeAwakeable" && recorded.awakeable === now.awakeable;
    case "append":
      return recorded.type === "append" && recorded.stream === now.stream && recorded.count === now.count;
    case "readStream":
    case "streamLength":
    case "trimStream":
      return recorded.type === now.type && recorded.stream === now.stream;
  }
}

function sameTarget(a: Target, b: Target): boolean {
  return a.service === b.service && a.handler === b.handler && a.key === b.key;
}

/** What code did at a place where the journal has a command: another command, or nothing more. */
export type Divergence =
  | { readonly kind: "command"; readonly command: Command }
  | { readonly kind: "ended"; readonly how: string }
  | { readonly kind: "blocked" };

export function mismatchError(
  id: number,
  recorded: Command,
  divergence: Divergence,
  position: string | undefined,
): JournalMismatchError {
  const [recordedHead, recordedRest] = describeCommand(recorded);
  const [nowHead, nowRest] = describeDivergence(divergence);
  const width = Math.max(recordedHead.length, nowHead.length);
  const recordedText = `${recordedHead.padEnd(width)}  ${recordedRest}`.trimEnd();
  const nowText = `${nowHead.padEnd(width)}  ${nowRest}`.trimEnd();
  const lines = [
    `The code took a different path on replay at command ${id}.`,
    `  recorded  ${recordedText}`,
    `  now       ${nowText}`,
    ...(position === undefined ? [] : [`  at ${position}`]),
    "Did the deployed code change, or does it branch on something not recorded? See docs/errors/P0016.md",
  ];
  const metadata = {
    command: String(id),
    recorded: recordedText,
    now: nowText,
    ...(position === undefined ? {} : { position }),
  };
  return new JournalMismatchError(lines.join("\n"), { metadata });
}

function describeDivergence(divergence: Divergence): readonly [string, string] {
  switch (divergence.kind) {
    case "command":
      return describeCommand(divergence.command);
    case "ended":
      return ["end", divergence.how];
    case "blocked":
      return ["nothing", "the code waits for something that the journal does not have"];
  }
}

/** Two columns: what it is, and what it is about. */
function describeCommand(command: Command): readonly [string, string] {
  switch (command.type) {
    case "step":
      return ["step", named(command.name)];
    case "sleep":
      return ["sleep", command.name === undefined ? "" : named(command.name)];
    case "call":
    case "send":
      return [
        command.type,
        `${describeTarget(command.target)}${command.name === undefined ? "" : ` ${named(command.name)}`}`,
      ];
    case "getQueue":
    case "getStateKeys":
    case "clearAllState":
      return [command.type, ""];
    case "getState":
    case "setState":
    case "clearState":
    case "getPromise":
    case "peekPromise":
    case "completePromise":
      return [command.type, `key=${JSON.stringify(command.key)}`];
    case "sendSignal":
      return ["sendSignal", `signal=${JSON.stringify(command.signal)} run=${command.run}`];
    case "attach":
    case "output":
      return [command.type, describeRef(command.ref)];
    case "completeAwakeable":
      return ["completeAwakeable", command.awakeable];
    case "append":
      return ["append", `stream=${JSON.stringify(command.stream)} count=${command.count}`];
    case "readStream":
    case "streamLength":
    case "trimStream":
      return [command.type, `stream=${JSON.stringify(command.stream)}`];
  }
}

function named(name: string): string {
  return `name=${JSON.stringify(name)}`;
}

function describeTarget(target: Target): string {
  return target.key === undefined
    ? `${target.service}/${target.handler}`
    : `${target.service}/${target.key}/${target.handler}`;
}

function describeRef(ref: RunRef): string {
  if ("run" in ref) return ref.run;
  if ("workflow" in ref) return `${ref.workflow}/${ref.key}`;
  return `${describeTarget(ref.target)} idempotencyKey=${JSON.stringify(ref.idempotencyKey)}`;
}

/** Functions of the SDK between the place where the stack is captured and the user's code. */
const OURS =
  /\b(?:captureStack|ReplayAttempt|HandlerContext|TargetCalls\w*|RunReference|ChildReference|signalRun|cancelRun|WorkflowPromiseReference|StreamReference|SignalIterator)\b|\bProxy\.<anonymous>/;
const PRIVATE = /^\s*at (?:async )?#/;
const FRAMES_MAX = 25;

/** Where in user code the SDK was called, from a stack that was captured inside of it. V8's and QuickJS' form. */
export function callerPosition(stack: string | undefined): string | undefined {
  const frames = (stack ?? "").split("\n").filter((line) => /^\s*at /.test(line));
  // V8 names a private method without its class: those between two of ours are ours, the user's stand after them.
  const others = frames.findIndex((line) => !OURS.test(line) && !PRIVATE.test(line));
  const ours = frames.slice(0, others < 0 ? frames.length : others).findLastIndex((line) => OURS.test(line));
  return frames[ours + 1]?.trim().slice("at ".length);
}

export function captureStack(): string | undefined {
  const errors = Error as { stackTraceLimit?: number };
  const before = errors.stackTraceLimit;
  if (before !== undefined) errors.stackTraceLimit = FRAMES_MAX;
  const { stack } = new Error("position");
  if (before !== undefined) errors.stackTraceLimit = before;
  return stack;
}
