// What goes on from an entry: what it has in common with the run, what is done again, what is called off
// =======================================================================================================
// Pure: a journal and an entry give what a person is told before a fork or a rewind.
//
// B1. A fork takes the entries up to `at`. Of what they have asked for and not got by then, steps are begun again by it, and
//     the rest is waited for by it, too.
// B2. A rewind takes the entries after `at` away. What was asked for before and came back later keeps its result.
// B3. Sub-runs: a fork shares those that its entries have called; a rewind cancels those that were called since and go on.

import { COMPLETABLE, type EntryView, type RunId } from "@perdure/protocol";

export type CommandEntry = Extract<EntryView, { kind: "command" }>;

export interface BranchPlan {
  /** The entry at which it branches; null: at 0, or it is not known here. */
  readonly last: EntryView | null;
  readonly shared: number;
  readonly after: number;
  /** B1, B2. Steps without a result. */
  readonly again: readonly CommandEntry[];
  /** B1, B2. Everything else without one: times, runs, promises. */
  readonly waits: readonly CommandEntry[];
  /** Steps after it that have a result: their effects happen once more. */
  readonly repeated: readonly CommandEntry[];
  /** B3. Called up to the entry. */
  readonly sharedChildren: readonly RunId[];
  /** B3. Called since, and their answers are not here yet. */
  readonly openChildren: readonly RunId[];
}

export function forkPlan(entries: readonly EntryView[], at: number): BranchPlan {
  return planOf(entries, at, at);
}

export function rewindPlan(entries: readonly EntryView[], at: number): BranchPlan {
  return planOf(entries, at, entries.length);
}

/** @param heard results up to this entry count. */
function planOf(entries: readonly EntryView[], at: number, heard: number): BranchPlan {
  const completedAt = new Map<number, number>();
  for (const entry of entries) if (entry.kind === "completion") completedAt.set(entry.id, entry.index);
  const commands = entries.filter((entry) => entry.kind === "command");
  const isOpen = (entry: CommandEntry, until: number): boolean =>
    COMPLETABLE.has(entry.command.type) &&
    entry.result === undefined &&
    (completedAt.get(entry.id) ?? Number.POSITIVE_INFINITY) > until;
  const before = commands.filter(({ index }) => index <= at);
  const open = before.filter((entry) => isOpen(entry, heard));
  const since = commands.filter(({ index }) => index > at);
  const childrenOf = (some: readonly CommandEntry[]): readonly RunId[] => some.flatMap(({ child }) => child ?? []);
  return {
    last: entries[at - 1] ?? null,
    shared: Math.min(at, entries.length),
    after: Math.max(0, entries.length - at),
    again: open.filter(({ command }) => command.type === "step"),
    waits: open.filter(({ command }) => command.type !== "step"),
    repeated: since.filter((entry) => entry.command.type === "step" && !isOpen(entry, entries.length)),
    sharedChildren: childrenOf(before),
    openChildren: childrenOf(since.filter((entry) => isOpen(entry, entries.length))),
  };
}

/** What is typed as an entry. Null: there is no such one. */
export function readEntry(text: string, count: number): number | null {
  const entry = /^\d{1,9}$/.test(text.trim()) ? Number(text) : Number.NaN;
  return entry <= count ? entry : null;
}
