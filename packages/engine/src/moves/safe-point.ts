// Safe points: where a run may go over to other code, and what is not lost by it.
//
// Everything that has happened by then is in the state that the code gave to its safe point, but for what is still under way:
// a call or a step whose result nobody has seen yet would be lost, so a run with such is not at a safe point.

import {
  CANCEL_SIGNAL,
  type CommandEntry,
  type Entry,
  isFinished,
  type Migrated,
  type Result,
  type Run,
} from "@perdure/protocol";
import { openCommands, resultOf } from "./as-of.ts";

/** As the journal of a run has it. */
export interface SafePoint extends Omit<Migrated, "told" | "at"> {
  /** Length of the journal that was looked at. */
  readonly entries: number;
  readonly state: Result;
}

/** What was looked at: the entries of a run that its code can meet, those that `Run.migrated` leaves out left out. */
export function safePointOf(run: Run, journal: readonly Entry[]): SafePoint | { readonly refusal: string } {
  const refusal = statusRefusal(run) ?? cancelRefusal(journal);
  if (refusal !== null) return { refusal };
  const entries = journal.at(-1)?.index ?? 0;
  const last = journal.findLast((entry) => entry.kind === "command");
  if (last === undefined) return sinceMigration(run, journal) ?? { refusal: "it has not come to a safe point yet" };
  const safePoint = last.command.type === "step" ? last.command.safePoint : undefined;
  if (safePoint === undefined)
    return {
      refusal: `it is not at a safe point: the last thing that it did is ${described(last)}, entry ${last.index}`,
    };
  const state = resultOf(journal, last.id);
  const [open] = openCommands(journal).filter(isUnderWay);
  if (state === undefined || open !== undefined)
    return { refusal: `${described(open ?? last)} at entry ${(open ?? last).index} is still under way` };
  return { ...safePoint, entry: last.index, commands: last.id, entries, state };
}

/** Code that has asked for nothing since its migration is still at that safe point, with the state that it was given there. */
function sinceMigration({ migrated }: Run, journal: readonly Entry[]): SafePoint | undefined {
  const told = journal.findLast((entry) => entry.kind === "resumed" && entry.migrated !== undefined);
  if (migrated === null || told?.kind !== "resumed" || told.migrated === undefined) return undefined;
  const { told: _told, at: _at, ...point } = migrated;
  return { ...point, entries: journal.at(-1)?.index ?? 0, state: told.migrated.state };
}

function statusRefusal({ status, cancelling }: Run): string | null {
  if (isFinished(status)) return `it has ended (${status})`;
  if (status === "scheduled" || status === "queued")
    return `it has not begun (${status}), and begins on the newest code`;
  return cancelling === null ? null : "it is being cancelled";
}

function cancelRefusal(journal: readonly Entry[]): string | null {
  const isCancelled = journal.some((entry) => entry.kind === "signal" && entry.signal === CANCEL_SIGNAL);
  return isCancelled ? "it was cancelled, and its code is cleaning up" : null;
}

/** Sleeps and promises are let go: code that still wants them asks for them anew. */
function isUnderWay({ command }: CommandEntry): boolean {
  return command.type === "step" || command.type === "call" || command.type === "attach";
}

function described({ command }: CommandEntry): string {
  switch (command.type) {
    case "step":
      return `the step "${command.name}"`;
    case "call":
    case "send":
      return `a ${command.type} to ${command.target.service}/${command.target.handler}`;
    default:
      return `a ${command.type}`;
  }
}

/** The code that a run had after entry `at`, and where it began. `journal`: at least the entries after `at`. */
export function codeAsOf(
  run: Pick<Run, "deployment" | "migrated">,
  journal: readonly Entry[],
  at: number,
): Pick<Run, "deployment" | "migrated"> {
  let { deployment, migrated } = run;
  while (migrated !== null && migrated.told > at) {
    const { told } = migrated;
    const entry = journal.find(({ index }) => index === told);
    if (entry?.kind !== "resumed" || entry.migrated === undefined) break;
    ({ from: deployment, before: migrated } = entry.migrated);
  }
  return { deployment, migrated };
}
