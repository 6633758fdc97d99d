// Writing to a journal. Steps are held back until their result is there, so that both fit one row; any later command
// first writes the held ones (J1). Notifications go to the live attempt after the commit, wake a suspended run that awaits
// them, and simply stand in the journal of any other (E5: once appended, a later start loads them).

import type {
  Awaiting,
  CommandEntry,
  CompletionEntry,
  Kept,
  NotificationEntry,
  Result,
  RunId,
  SignalName,
} from "@perdure/protocol";
import type { Command } from "@perdure/protocol";
import type { Batch } from "../batch.ts";
import { commandText, type HotRun, type LiveAttempt } from "../view.ts";
import { wake } from "./attempts.ts";

/** Writes the held steps with ids up to `upTo` as commands without results. */
export function writeHeld(batch: Batch, run: HotRun, attempt: LiveAttempt, upTo: number): void {
  let written = 0;
  for (const step of attempt.held) {
    if (step.id > upTo) break;
    appendCommand(batch, run, step.id, step.command);
    attempt.open.add(step.id);
    written += 1;
  }
  if (written > 0) attempt.held = attempt.held.slice(written);
}

export function appendCommand(
  batch: Batch,
  run: HotRun,
  id: number,
  command: Command,
  extra: { result?: Result; kept?: Kept; child?: RunId } = {},
): CommandEntry {
  const entry: CommandEntry = { kind: "command", index: run.entries + 1, at: batch.now, id, command, ...extra };
  batch.append(run, entry);
  return entry;
}

/** Hands an entry to the live attempt once it is durable. */
export function give(batch: Batch, run: HotRun, entry: CommandEntry | NotificationEntry): void {
  if (run.attempt === null) return;
  run.attempt.given = entry.index;
  run.attempt.told = entry.index;
  batch.actions.push({ type: "notify", run: run.record.id, attempt: run.attempt.token, entry });
}

export function complete(batch: Batch, run: HotRun, id: number, result: Result, kept?: Kept): void {
  const entry = completion(batch, run, id, result);
  deliver(batch, run, kept === undefined ? entry : { ...entry, kept });
}

/** The completion stands in the journal, and nobody is told: the run is about to start again. */
export function recordCompletion(batch: Batch, run: HotRun, id: number, result: Result): void {
  batch.append(run, completion(batch, run, id, result));
}

function completion(batch: Batch, run: HotRun, id: number, result: Result): CompletionEntry {
  if (batch.view.commands.size > 0) markComplete(batch, commandText(run.record.seq, id));
  return { kind: "completion", index: run.entries + 1, at: batch.now, id, result };
}

/** What was loaded about the command for another event of this batch is out of date (J2). */
function markComplete(batch: Batch, text: string): void {
  const known = batch.view.commands.get(text);
  if (known !== undefined) batch.view.commands.set(text, { ...known, complete: true });
}

export function signal(batch: Batch, run: HotRun, name: SignalName, payload: Result): void {
  deliver(batch, run, { kind: "signal", index: run.entries + 1, at: batch.now, signal: name, payload });
}

/** Appends a notification and sees to it that the run's code gets it (E5). */
function deliver(batch: Batch, run: HotRun, entry: NotificationEntry): void {
  batch.append(run, entry);
  if (run.attempt !== null) give(batch, run, entry);
  else if (run.record.status === "suspended" && wakes(run.record.awaiting ?? [], entry)) wake(batch, run);
}

function wakes(awaiting: readonly Awaiting[], entry: NotificationEntry): boolean {
  if (entry.kind === "completion") return awaiting.some((item) => item.kind === "completion" && item.id === entry.id);
  if (entry.kind === "signal") return awaiting.some((item) => item.kind === "signal" && item.signal === entry.signal);
  return false;
}
