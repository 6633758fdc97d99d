// Reads of the memory store for decisions. Everything handed out is a copy.

import { type Entry, isFinished, type Payload, type Run, type RunId } from "@perdure/protocol";
import {
  KEY_QUEUE_PAGE,
  type KeyName,
  laneOf,
  type Loaded,
  type LoadedCommand,
  type LoadedKey,
  type LoadedRun,
  type LoadedStart,
  type Needs,
  type Timer,
  type Waiter,
  type WaitTarget,
  waitTargetName,
} from "../store.ts";
import { laneText } from "./apply.ts";
import { copy } from "./copy.ts";
import { imagesOf, newestWhole } from "./images.ts";
import { compareText } from "./order.ts";
import type { StorageData, StoredRun } from "./storage.ts";
import { loadRange, loadStream, rebuilt, streamsAt } from "./streams.ts";

export function load(data: StorageData, needs: Needs): Loaded {
  return {
    runs: loadRuns(data, needs),
    keys: needs.keys.map((key) => loadKey(data, key)),
    promises: needs.promises.map(({ key, name }) => ({
      key,
      name,
      result: copy(data.promises.get(laneText(key))?.get(name) ?? null),
    })),
    waiters: needs.waiters.map((target) => ({ target, waiters: loadWaiters(data, target) })),
    states: needs.states.map((key) => ({ key, state: loadState(data, key) })),
    children: needs.children.map((parent) => ({ parent, children: loadChildren(data, parent) })),
    commands: needs.commands.map(({ run, id }) => loadCommand(data, run, id)),
    tails: needs.tails.map(({ run, from }) => ({ run, from, entries: entriesFrom(data, run, from) })),
    images: needs.images.map(({ run, id }) => ({ id, images: imagesOf(data, run) })),
    streams: needs.streams.map((stream) => loadStream(data, stream)),
    ranges: needs.ranges.map(({ stream, from }) => loadRange(data, stream, from)),
    owned: needs.owned.map(({ owner, at }) => ({ owner, at, streams: streamsAt(data, owner, at) })),
    timers: needs.timers === null ? [] : loadTimers(data, needs.timers),
    finished: needs.finished === null ? [] : loadFinished(data, needs.finished),
  };
}

export function loadStart(data: StorageData, run: Run): LoadedStart {
  const { image, damaged } = newestWhole(data, run);
  const state = run.key === null || image !== null ? null : loadState(data, { service: run.service, key: run.key });
  const entries = image === null ? entriesOfCode(data, run) : entriesFrom(data, run.seq, image.info.entry + 1);
  return { image, entries, state, images: imagesOf(data, run.seq), damaged };
}

/** All that its code meets from its beginning on (M1). */
function entriesOfCode(data: StorageData, { seq, migrated }: Run): Entry[] {
  if (migrated === null) return entriesFrom(data, seq, 1);
  const stored = data.runs.get(seq);
  const kept = migrated.kept.flatMap((index) => readEntries(data, stored, index - 1, index));
  return [...kept, ...entriesFrom(data, seq, migrated.entry + 1)];
}

function entriesFrom(data: StorageData, run: number, from: number): Entry[] {
  return readEntries(data, data.runs.get(run), Math.max(0, from - 1));
}

/** By places in the list, with results that stand in streams. */
export function readEntries(data: StorageData, stored: StoredRun | undefined, from: number, to?: number): Entry[] {
  if (stored === undefined) return [];
  return stored.entries.slice(from, to).map((entry) => rebuilt(data, stored.run, entry));
}

/** In order of name. */
export function loadState(data: StorageData, key: KeyName): ReadonlyMap<string, Payload> {
  const values = [...(data.state.get(key.service)?.get(key.key) ?? [])];
  values.sort(([a], [b]) => compareText(a, b));
  return new Map(values.map(([name, value]) => [name, copy(value)]));
}

export function loadRunning(
  data: StorageData,
  afterSeq: number,
  limit: number,
): { readonly id: RunId; readonly seq: number }[] {
  const found = storedInOrder(data).filter(({ run }) => run.status === "running" && run.seq > afterSeq);
  return found.slice(0, limit).map(({ run }) => ({ id: run.id, seq: run.seq }));
}

export function storedInOrder(data: StorageData): StoredRun[] {
  return [...data.runs.values()].sort((a, b) => a.run.seq - b.run.seq);
}

function loadedRun({ run, entries }: StoredRun): LoadedRun {
  return { run: copy(run), entries: entries.length, commands: countCommands(entries) };
}

/** J1: the last command's id is their count. */
function countCommands(entries: readonly Entry[]): number {
  for (let i = entries.length - 1; i >= 0; i -= 1) {
    const entry = entries[i];
    if (entry?.kind === "command") return entry.id;
  }
  return 0;
}

function loadRuns(data: StorageData, needs: Needs): LoadedRun[] {
  const seqs = new Set<number>();
  for (const id of needs.runs) seqs.add(data.seqs.get(id) ?? 0);
  for (const seq of needs.runsBySeq) seqs.add(seq);
  const found: LoadedRun[] = [];
  for (const seq of seqs) {
    const stored = data.runs.get(seq);
    if (stored !== undefined) found.push(loadedRun(stored));
  }
  return found;
}

function loadKey(data: StorageData, key: KeyName): LoadedKey {
  let holder: RunId | null = null;
  const queued: Run[] = [];
  for (const seq of data.lanes.get(laneText(key)) ?? []) {
    const run = data.runs.get(seq)?.run;
    if (run === undefined) continue;
    if (laneOf(run) === "holder") holder = run.id;
    else queued.push(run);
  }
  queued.sort((a, b) => a.arrival - b.arrival || a.seq - b.seq);
  const queue = queued.slice(0, KEY_QUEUE_PAGE).map((run) => run.id);
  return { key, holder, queue, more: queued.length > queue.length };
}

function loadWaiters(data: StorageData, target: WaitTarget): Waiter[] {
  return copy(data.waiters.get(waitTargetName(target))?.list ?? []);
}

function loadChildren(data: StorageData, parent: RunId): LoadedRun[] {
  const seqs = [...(data.children.get(parent) ?? [])].sort((a, b) => a - b);
  const stored = seqs.map((seq) => data.runs.get(seq)).filter((child) => child !== undefined);
  return stored.filter(({ run }) => run.parent?.awaited === true && !isFinished(run.status)).map(loadedRun);
}

function loadCommand(data: StorageData, run: number, id: number): LoadedCommand {
  const stored = data.runs.get(run);
  const entries = stored?.entries ?? [];
  const found = entries.find((candidate) => candidate.kind === "command" && candidate.id === id);
  const entry = stored === undefined || found === undefined ? undefined : rebuilt(data, stored.run, found);
  if (entry?.kind !== "command") return { run, id, entry: null, complete: false };
  const complete =
    entry.result !== undefined || entries.some((other) => other.kind === "completion" && other.id === id);
  return { run, id, entry, complete };
}

function loadTimers(data: StorageData, due: { readonly until: number; readonly limit: number }): Timer[] {
  const found: Timer[] = [];
  for (const timer of data.timers) {
    if (timer.at > due.until || found.length >= due.limit) break;
    found.push(copy(timer));
  }
  return found;
}

function loadFinished(data: StorageData, page: { readonly afterSeq: number; readonly limit: number }): Run[] {
  const found = storedInOrder(data).filter(({ run }) => isFinished(run.status) && run.seq > page.afterSeq);
  return found.slice(0, page.limit).map(({ run }) => copy(run));
}
