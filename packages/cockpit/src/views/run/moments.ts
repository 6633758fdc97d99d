// Moments on the timeline: which row an image belongs to, and what is left to be replayed after the newest
// =========================================================================================================
// M1. Every entry belongs to one row: a completion or a try to that of its command. So does every moment.

import type { EntryView, MomentView } from "@perdure/protocol";
import type { Row } from "./timeline-layout.ts";

const NONE: readonly MomentView[] = [];

/** M1. Undefined: the entry is not loaded. */
export function rowOfEntry(rows: readonly Row[], entry: number): Row | undefined {
  return rows.find(
    ({ index, completion, retries }) =>
      index === entry || completion?.index === entry || retries.some((retry) => retry.index === entry),
  );
}

/** By the index of their row. */
export function momentsByRow(
  rows: readonly Row[],
  moments: readonly MomentView[],
): (row: Row) => readonly MomentView[] {
  const found = new Map<number, MomentView[]>();
  for (const moment of moments) {
    const row = rowOfEntry(rows, moment.entry);
    if (row === undefined) continue;
    const known = found.get(row.index);
    if (known === undefined) found.set(row.index, [moment]);
    else known.push(moment);
  }
  return ({ index }) => found.get(index) ?? NONE;
}

/** The moment that comes after an entry; after the last one, the first again. */
export function nextMoment(moments: readonly MomentView[], entry: number): MomentView | undefined {
  return moments.find((moment) => moment.entry > entry) ?? moments[0];
}

/** The last entry that belongs to a row so far: where one goes on from it, it is over. */
export function endOfRow({ index, completion, retries }: Row): number {
  return Math.max(index, completion?.index ?? 0, ...retries.map((retry) => retry.index));
}

/** The entry that an effect stands in; undefined: it is not loaded. */
export function entryOfCommand(entries: readonly EntryView[], id: number): number | undefined {
  return entries.find((entry) => entry.kind === "command" && entry.id === id)?.index;
}
