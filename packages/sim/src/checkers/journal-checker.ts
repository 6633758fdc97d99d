// E1: journals only grow, keep their order, and hold what was acknowledged. With J1, J2, and C2 (what attempts are told).

import { COMPLETABLE, type Entry } from "@perdure/protocol";
import type { Observation } from "../observations.ts";
import type { Checker, Context, SeenAttempt } from "./checker.ts";
import { isCurrent } from "./checker.ts";
import { asRead, type ShadowRun } from "./shadow.ts";

export const journalChecker: Checker = {
  name: "journal",
  beforeMutation(context, mutation) {
    if (mutation.type === "appendEntry") checkAppend(context, mutation.run, mutation.entry, mutation.commands);
    else if (mutation.type === "truncate") checkTruncate(context, mutation.run, mutation.from, mutation.commands);
  },
  observe(context, observation) {
    if (observation.type === "stored") checkStored(context, observation);
    else if (observation.type === "started") checkStart(context, observation.attempt);
    else if (observation.type === "told") checkTold(context, observation.attempt, observation.entries);
  },
};

function checkAppend(context: Context, seq: number, entry: Entry, commands: number): void {
  const { shadow, report, names } = context;
  const run = shadow.bySeq.get(seq);
  if (run === undefined || run.deleted)
    return report("E1", `an entry is written for run number ${seq}, which is not there`);
  const where = `${names.of(run.record.id)} entry ${entry.index}`;
  if (entry.index !== run.entries.length + 1) report("E1", `${where} is written after entry ${run.entries.length}`);
  if (entry.kind === "command" && entry.id !== run.commands + 1)
    report("J1", `${where}: command ${entry.id} follows command ${run.commands}`);
  if (commands !== Math.max(run.commands, entry.kind === "command" ? entry.id : 0))
    report("J1", `${where}: the journal is said to hold ${commands} commands, not ${run.commands}`);
  if (entry.kind === "retry" && entry.id > run.commands)
    report("J1", `${where} is about command ${entry.id}, which is not in the journal`);
  if (entry.kind !== "completion") return;
  const command = shadow.command(run, entry.id);
  if (command === undefined) report("J1", `${where} completes command ${entry.id}, which is not in the journal`);
  else if (!COMPLETABLE.has(command.command.type)) report("J2", `${where} completes a ${command.command.type}`);
  if (run.completed.has(entry.id)) report("J2", `${where} completes command ${entry.id} a second time`);
}

function checkTruncate(context: Context, seq: number, from: number, commands: number): void {
  const run = context.shadow.bySeq.get(seq);
  if (run === undefined) return;
  const left = run.entries.filter(({ entry }) => entry.index < from && entry.kind === "command").length;
  if (left !== commands)
    context.report(
      "J1",
      `${context.names.of(run.record.id)} is cut before ${from}: ${left} commands are left, not ${commands}`,
    );
}

/** Key order does not matter: stores may write it anew. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (typeof part !== "object" || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

function checkStored(context: Context, stored: Extract<Observation, { type: "stored" }>): void {
  const { shadow, names, report } = context;
  const there = new Set<number>();
  for (const { run, entries } of stored.runs) {
    there.add(run.seq);
    const known = shadow.bySeq.get(run.seq);
    if (known === undefined || known.deleted) {
      report("E1", `the storage holds run ${names.of(run.id)}, which was never stored, or was deleted`);
      continue;
    }
    if (canonical(known.record) !== canonical(run))
      report(
        "E1",
        `the storage holds another record of ${names.of(run.id)}:\n  stored ${canonical(run)}\n  wanted ${canonical(known.record)}`,
      );
    const wanted = known.entries.map(({ entry }) => shadow.readable(known, asRead(entry)));
    if (canonical(wanted) !== canonical(entries.map(asRead)))
      report(
        "E1",
        `the storage holds ${entries.length} entries of ${names.of(run.id)}, not the ${wanted.length} that were acknowledged`,
      );
  }
  for (const run of shadow.bySeq.values())
    if (!run.deleted && !there.has(run.record.seq)) report("E1", `the storage has lost run ${names.of(run.record.id)}`);
}

function checkStart(context: Context, number: number): void {
  const attempt = context.attempts.get(number);
  if (attempt === undefined || !isCurrent(context, attempt)) return;
  checkEntries(context, attempt, attempt.start.entries, attempt.start.image?.info.entry ?? 0, true);
}

function checkTold(context: Context, number: number, entries: readonly Entry[]): void {
  const attempt = context.attempts.get(number);
  if (attempt === undefined || !isCurrent(context, attempt)) return;
  checkEntries(context, attempt, entries, attempt.told, false);
}

function checkEntries(
  context: Context,
  attempt: SeenAttempt,
  entries: readonly Entry[],
  after: number,
  whole: boolean,
): void {
  const { shadow, names, report } = context;
  const run = shadow.run(attempt.start.run);
  if (run === undefined || run.record.generation !== attempt.start.generation) return;
  let last = after;
  for (const entry of entries) {
    const where = `attempt ${attempt.number} of ${names.of(attempt.start.run)}`;
    if (entry.index <= last || (whole && entry.index !== last + 1))
      report("C2", `${where} is told of entry ${entry.index} after entry ${last}`);
    last = entry.index;
    checkSame(context, run, entry, where);
  }
}

function checkSame(context: Context, run: ShadowRun, entry: Entry, where: string): void {
  const known = run.entries[entry.index - 1]?.entry;
  if (known === undefined) context.report("E1", `${where} is told of entry ${entry.index}, which is not durable`);
  else if (known !== entry && !isSame(context, run, known, entry))
    context.report("E2", `${where} is told another entry ${entry.index} than the journal holds`);
}

/** A journal that was loaded just before a trim shows what was there. */
function isSame({ shadow }: Context, run: ShadowRun, known: Entry, entry: Entry): boolean {
  const read = canonical(asRead(entry));
  return read === canonical(asRead(known)) || read === canonical(shadow.readable(run, asRead(known)));
}
