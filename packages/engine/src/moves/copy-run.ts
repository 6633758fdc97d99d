// A copy of a run: its first entries, the newest image that has seen no more, and what its streams held. For forks, which go
// on from there, and for what a run was before it was rewound.
//
// What a copy shares with its origin is what has happened: results, children that were started. What has not, is its own.

import {
  assert,
  type Entry,
  type ForkOrigin,
  type Instant,
  type Run,
  type RunId,
  streamOwner,
} from "@perdure/protocol";
import type { Batch } from "../batch.ts";
import { type HotRun, type Mutable, ownedText, streamKey } from "../view.ts";
import { codeAsOf } from "./safe-point.ts";
import { streamEndAsOf } from "./as-of.ts";
import { addImage, imagesOf } from "./images.ts";

/** Later than anything that there is. */
export const THE_END: Instant = Number.MAX_SAFE_INTEGER;

/** When the run was where it was after entry `at`. */
export function instantOf(run: HotRun, journal: readonly Entry[], at: number): Instant {
  return at < run.entries ? (journal[at - 1]?.at ?? 0) : THE_END;
}

/** All entries of a run; null where it has grown, or was cut, in this batch since they were loaded. */
export function wholeJournal(batch: Batch, run: HotRun): readonly Entry[] | null {
  const journal = batch.view.tails.get(run.record.seq) ?? [];
  return journal.length === run.entries && (journal[0]?.index ?? 1) === 1 ? journal : null;
}

/** The record of the copy, as it begins: with nothing behind it, and nothing that it waits for. */
export function copyRecord(
  batch: Batch,
  source: HotRun,
  journal: readonly Entry[],
  to: { readonly id: RunId; readonly key: string | null; readonly at: number },
): Mutable<Run> {
  const { id, key, at } = to;
  batch.counters.seq += 1;
  return {
    ...source.record,
    ...codeAsOf(source.record, journal, at),
    id,
    seq: batch.counters.seq,
    key,
    idempotencyKey: null,
    parent: null,
    forkedFrom: originOf(source.record, at),
    createdAt: batch.now,
    changedAt: batch.now,
    scheduledAt: null,
    finishedAt: null,
    arrival: 0,
    generation: 0,
    retry: null,
    awaiting: null,
    pausedBy: null,
    cancelling: null,
    migrating: null,
    trims: null,
    watched: false,
    result: null,
  };
}

/** Null: nothing is shared. */
function originOf({ id, key, createdAt, idempotencyKey, forkedFrom }: Run, at: number): ForkOrigin | null {
  if (at === 0) return null;
  if (forkedFrom === null) return { run: id, key, entry: at, createdAt, idempotencyKey, origin: null };
  // What the source had from its own origin is as well said to come from there.
  if (at <= forkedFrom.entry) return shortened(forkedFrom, at);
  return { ...forkedFrom, run: id, key, entry: at, origin: forkedFrom };
}

/** The journal was cut: of what it shares with its origin, the entries up to `at` are left. */
export function shortened(fork: ForkOrigin | null, at: number): ForkOrigin | null {
  if (fork === null || at === 0) return null;
  if (fork.entry <= at) return fork;
  if (fork.origin !== null && at <= fork.origin.entry) return shortened(fork.origin, at);
  return { ...fork, entry: at };
}

export function copyEntries(batch: Batch, copy: HotRun, entries: readonly Entry[]): void {
  for (const entry of entries) batch.append(copy, entry);
}

/** The newest that has seen no more than there is, and where names are kept, those that have one. Bytes are shared by hash. */
export function copyImages(batch: Batch, source: HotRun, copy: HotRun, names: "with names" | "without names"): void {
  const seen = imagesOf(source).filter(({ entry }) => entry <= copy.entries);
  for (const info of seen) {
    if (names === "with names" && info.name !== null) addImage(batch, copy, info, null);
    else if (info === seen.at(-1)) addImage(batch, copy, { ...info, name: null }, null);
  }
}

/** The streams of the source's owner become those of the copy's, as they stood after entry `at`. Where each of them ends. */
export function copyStreams(
  batch: Batch,
  source: HotRun,
  copy: HotRun,
  journal: readonly Entry[],
  at: number,
): ReadonlyMap<string, number> {
  const [from, to] = [streamOwner(source.record), streamOwner(copy.record)];
  const ends = new Map<string, number>();
  const owned = batch.view.owned.get(ownedText(from, instantOf(source, journal, at)));
  assert(owned !== undefined, "the streams of the origin were loaded");
  for (const { name, end: stored, endAt } of owned.streams) {
    const end = Math.max(stored, batch.view.streams.get(streamKey({ owner: from, name }))?.end ?? 0);
    const before = at === source.entries ? end : streamEndAsOf(journal, at, { name, end, endAt });
    batch.mutations.push({ type: "copyStream", from: { owner: from, name }, to: { owner: to, name }, before });
    ends.set(name, before);
  }
  return ends;
}
