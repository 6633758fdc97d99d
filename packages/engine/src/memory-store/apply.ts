// Applies mutations to the memory store's disk. Every change first says how it is undone.

import {
  assert,
  type ImageInfo,
  type Payload,
  type Result,
  type Run,
  type RunId,
  type StreamRef,
  streamText,
  unreachable,
} from "@perdure/protocol";
import { type KeyName, laneOf, type Mutation, type Timer, type Waiter, waitTargetName } from "../store.ts";
import { copy } from "./copy.ts";
import type { StoredBytes } from "./images.ts";
import { compareText, compareTimers, lowerBound } from "./order.ts";
import { setIn, type StorageData, type StoredRun } from "./storage.ts";
import { endOf, ownerText, type StoredStream, withoutKept } from "./streams.ts";

/** @throws AssertionError where a mutation contradicts what is stored; nothing is changed then. */
export function applyMutations(data: StorageData, mutations: readonly Mutation[]): void {
  const writer = new Writer(data);
  try {
    for (const mutation of mutations) writer.apply(mutation);
  } catch (error) {
    writer.undo();
    throw error;
  }
}

export function laneText(key: KeyName): string {
  return `${key.service}\u0000${key.key}`;
}

class Writer {
  readonly #data: StorageData;
  readonly #undo: (() => void)[] = [];

  constructor(data: StorageData) {
    this.#data = data;
  }

  undo(): void {
    for (const step of this.#undo.reverse()) step();
  }

  apply(mutation: Mutation): void {
    switch (mutation.type) {
      case "insertRun":
        return this.#insertRun(copy(mutation.run));
      case "updateRun":
        return this.#updateRun(copy(mutation.run));
      case "promoteRun":
        return this.#promoteRun(mutation.id, mutation.at);
      case "deleteRun":
        return this.#deleteRun(mutation.run, mutation.id);
      case "appendEntry":
        return this.#appendEntry(mutation);
      case "truncate":
        return this.#truncate(mutation);
      case "appendStream":
        return this.#appendStream(mutation);
      case "copyStream":
        return this.#copyStream(mutation);
      case "trimStream":
        return this.#trimStream(mutation.stream, mutation.before);
      case "addImage":
        return this.#addImage(mutation.run, copy(mutation.info), mutation.bytes);
      case "nameImage":
        return this.#nameImage(mutation.run, mutation.entry, mutation.name);
      case "dropImages":
        return this.#dropImages(mutation.run, ({ entry }) => mutation.entries.includes(entry));
      case "addTimer":
        return this.#addTimer(copy(mutation.timer));
      case "removeTimer":
        return this.#removeTimer(mutation.timer);
      case "setState":
        return this.#setState(mutation.key, mutation.name, copy(mutation.value));
      case "clearState":
        return this.#clearState(mutation.key, mutation.name);
      case "clearAllState":
        return this.#clearAllState(mutation.key);
      case "setPromise":
        return this.#setPromise(mutation.key, mutation.name, copy(mutation.result));
      case "clearPromises":
        return this.#delete(this.#data.promises, laneText(mutation.key));
      case "addWaiter":
        return this.#addWaiter(copy(mutation.waiter));
      case "removeWaiters":
        return this.#removeWaiters(waitTargetName(mutation.target), () => true);
      default:
        return unreachable(mutation);
    }
  }

  #set<K, V>(map: Map<K, V>, key: K, value: V): void {
    const had = map.has(key);
    const old = map.get(key) as V;
    this.#undo.push(() => (had ? map.set(key, old) : map.delete(key)));
    map.set(key, value);
  }

  #delete<K, V>(map: Map<K, V>, key: K): void {
    if (!map.has(key)) return;
    const old = map.get(key) as V;
    this.#undo.push(() => map.set(key, old));
    map.delete(key);
  }

  #add<V>(set: Set<V>, value: V): void {
    if (set.has(value)) return;
    this.#undo.push(() => set.delete(value));
    set.add(value);
  }

  #drop<V>(set: Set<V>, value: V): void {
    if (!set.has(value)) return;
    this.#undo.push(() => set.add(value));
    set.delete(value);
  }

  #splice<T>(list: T[], at: number, remove: number, ...insert: T[]): void {
    const removed = list.splice(at, remove, ...insert);
    this.#undo.push(() => list.splice(at, insert.length, ...removed));
  }

  #insertRun(run: Run): void {
    const data = this.#data;
    assert(!data.seqs.has(run.id), `a run is inserted once: ${run.id}`);
    assert(!data.runs.has(run.seq), `a run number is given once: ${run.seq}`);
    this.#set(data.runs, run.seq, { run, entries: [], images: [] });
    this.#set(data.seqs, run.id, run.seq);
    if (run.parent !== null) this.#add(setIn(data.children, run.parent.run), run.seq);
    this.#fileInLane(run);
    this.#raise(run);
  }

  #raise(run: Run): void {
    const data = this.#data;
    const { lastSeq, lastArrival } = data;
    if (run.seq <= lastSeq && run.arrival <= lastArrival) return;
    this.#undo.push(() => Object.assign(data, { lastSeq, lastArrival }));
    data.lastSeq = Math.max(lastSeq, run.seq);
    data.lastArrival = Math.max(lastArrival, run.arrival);
  }

  #fileInLane(run: Run): void {
    if (run.key === null) return;
    const name = laneText({ service: run.service, key: run.key });
    const lane = this.#data.lanes.get(name);
    if (laneOf(run) !== null) this.#add(setIn(this.#data.lanes, name), run.seq);
    else if (lane !== undefined) this.#drop(lane, run.seq);
  }

  #stored(seq: number, id: RunId): StoredRun {
    const stored = this.#data.runs.get(seq);
    assert(stored !== undefined && stored.run.id === id, `there is no run ${id} with number ${seq}`);
    return stored;
  }

  #replace(stored: StoredRun, run: Run): void {
    const old = stored.run;
    this.#undo.push(() => (stored.run = old));
    stored.run = run;
    this.#fileInLane(run);
    this.#raise(run);
  }

  #updateRun(run: Run): void {
    const stored = this.#stored(run.seq, run.id);
    const old = stored.run;
    const same =
      old.service === run.service && old.handler === run.handler && old.key === run.key && old.mode === run.mode;
    assert(
      same && old.createdAt === run.createdAt && old.idempotencyKey === run.idempotencyKey,
      `what a run was submitted with never changes: ${run.id}`,
    );
    assert(
      old.parent?.run === run.parent?.run && old.parent?.command === run.parent?.command,
      `a run keeps its parent: ${run.id}`,
    );
    this.#replace(stored, { ...run, input: old.input, headers: old.headers });
  }

  #promoteRun(id: RunId, at: number): void {
    const stored = this.#data.runs.get(this.#data.seqs.get(id) ?? 0);
    assert(stored?.run.status === "queued", `only a queued run gets its key's turn: ${id}`);
    this.#replace(stored, { ...stored.run, status: "running", changedAt: at });
  }

  #deleteRun(seq: number, id: RunId): void {
    const data = this.#data;
    const stored = data.runs.get(seq);
    if (stored === undefined) return;
    assert(stored.run.id === id, `run number ${seq} is not ${id}`);
    const { run } = stored;
    const lane = run.key === null ? undefined : data.lanes.get(laneText({ service: run.service, key: run.key }));
    if (lane !== undefined) this.#drop(lane, seq);
    const siblings = run.parent === null ? undefined : data.children.get(run.parent.run);
    if (siblings !== undefined) this.#drop(siblings, seq);
    this.#dropTimers(seq);
    this.#dropWaits(id);
    this.#dropImages(seq, () => true);
    this.#delete(data.streams, ownerText({ run: id }));
    this.#delete(data.seqs, id);
    this.#delete(data.runs, seq);
  }

  #appendEntry(mutation: Extract<Mutation, { type: "appendEntry" }>): void {
    const stored = this.#data.runs.get(mutation.run);
    assert(stored !== undefined, `an entry needs its run: ${mutation.run}`);
    const { entries } = stored;
    assert(
      mutation.entry.index === entries.length + 1,
      `entry ${mutation.entry.index} of run ${mutation.run} does not follow entry ${entries.length}`,
    );
    assert(
      mutation.entry.kind !== "command" || mutation.entry.id === mutation.commands,
      "J1: command ids count the commands",
    );
    this.#splice(entries, entries.length, 0, copy(withoutKept(mutation.entry)));
  }

  #appendStream({ stream: ref, from, items, writer, at }: Extract<Mutation, { type: "appendStream" }>): void {
    const { streams } = this.#data;
    const owner = ownerText(ref.owner);
    if (!streams.has(owner)) this.#set(streams, owner, new Map());
    const named = streams.get(owner) ?? new Map<string, StoredStream>();
    if (!named.has(ref.name)) this.#set(named, ref.name, { start: 0, chunks: [] });
    const stream = named.get(ref.name);
    const end = endOf(stream);
    assert(stream !== undefined && from === end, `items of ${streamText(ref)} go to offset ${end}, not to ${from}`);
    this.#splice(stream.chunks, stream.chunks.length, 0, { from, at, writer, items: copy(items) });
  }

  #copyStream({ from, to, before }: Extract<Mutation, { type: "copyStream" }>): void {
    const { streams } = this.#data;
    const source = streams.get(ownerText(from.owner))?.get(from.name);
    assert(source !== undefined && before <= endOf(source), `${streamText(from)} has no ${before} items to copy`);
    const owner = ownerText(to.owner);
    if (!streams.has(owner)) this.#set(streams, owner, new Map());
    const named = streams.get(owner) ?? new Map<string, StoredStream>();
    assert(!named.has(to.name), `${streamText(to)} is there already`);
    const chunks = source.chunks
      .filter((chunk) => chunk.from < before)
      .map((chunk) => ({ ...chunk, items: copy(chunk.items.slice(0, before - chunk.from)) }));
    this.#set(named, to.name, { start: Math.min(source.start, before), chunks });
  }

  #trimStream({ owner, name }: StreamRef, before: number): void {
    const stream = this.#data.streams.get(ownerText(owner))?.get(name);
    if (stream === undefined || before <= stream.start) return;
    assert(before <= endOf(stream), `stream ${name} is trimmed within its length`);
    const { start } = stream;
    this.#undo.push(() => (stream.start = start));
    const gone = stream.chunks.findIndex(({ from, items }) => from + items.length > before);
    this.#splice(stream.chunks, 0, gone < 0 ? stream.chunks.length : gone);
    stream.start = before;
  }

  #truncate({ run: seq, id, from, commands }: Extract<Mutation, { type: "truncate" }>): void {
    const { entries } = this.#stored(seq, id);
    assert(from >= 1, "entries count from 1");
    if (from <= entries.length) this.#splice(entries, from - 1, entries.length);
    this.#dropTimers(seq, (timer) => timer.kind !== "sleep" || timer.id > commands);
    this.#dropWaits(id, (waiter) => waiter.command > commands);
    this.#dropImages(seq, ({ entry }) => entry >= from);
  }

  #addImage(seq: number, info: ImageInfo, bytes: Uint8Array | null): void {
    const { imageBytes, runs } = this.#data;
    const stored = runs.get(seq);
    assert(stored !== undefined, `an image needs its run: ${seq}`);
    const last = stored.images.at(-1);
    assert(
      last === undefined || last.entry < info.entry,
      `image ${info.entry} of run ${seq} comes after ${last?.entry}`,
    );
    const known = imageBytes.get(info.hash);
    assert(known !== undefined || bytes !== null, `there are no bytes of the image ${info.hash}`);
    if (known !== undefined) this.#count(known, 1);
    else if (bytes !== null) this.#set(imageBytes, info.hash, { bytes: new Uint8Array(bytes), refs: 1 });
    this.#splice(stored.images, stored.images.length, 0, info);
  }

  #nameImage(seq: number, entry: number, name: string | null): void {
    const images = this.#data.runs.get(seq)?.images ?? [];
    const at = images.findIndex((info) => info.entry === entry);
    const info = images[at];
    assert(info !== undefined, `run ${seq} has no image at entry ${entry}`);
    this.#splice(images, at, 1, { ...info, name });
  }

  #dropImages(seq: number, which: (info: ImageInfo) => boolean): void {
    const images = this.#data.runs.get(seq)?.images ?? [];
    for (let i = images.length - 1; i >= 0; i -= 1) {
      const info = images[i];
      if (info === undefined || !which(info)) continue;
      this.#splice(images, i, 1);
      const stored = this.#data.imageBytes.get(info.hash);
      if (stored === undefined) continue;
      this.#count(stored, -1);
      if (stored.refs === 0) this.#delete(this.#data.imageBytes, info.hash);
    }
  }

  #count(stored: StoredBytes, by: number): void {
    this.#undo.push(() => (stored.refs -= by));
    stored.refs += by;
  }

  #addTimer(timer: Timer): void {
    const { timers } = this.#data;
    const at = lowerBound(timers, timer, compareTimers);
    const there = timers[at];
    if (there === undefined || compareTimers(there, timer) !== 0) this.#splice(timers, at, 0, timer);
  }

  #removeTimer(timer: Timer): void {
    const { timers } = this.#data;
    const at = lowerBound(timers, timer, compareTimers);
    const there = timers[at];
    if (there !== undefined && compareTimers(there, timer) === 0) this.#splice(timers, at, 1);
  }

  #dropTimers(seq: number, which: (timer: Timer) => boolean = () => true): void {
    const { timers } = this.#data;
    for (let i = timers.length - 1; i >= 0; i -= 1) {
      const timer = timers[i];
      if (timer?.run === seq && which(timer)) this.#splice(timers, i, 1);
    }
  }

  #dropWaits(id: RunId, which: (waiter: Waiter) => boolean = () => true): void {
    for (const target of this.#data.waits.get(id) ?? [])
      this.#removeWaiters(target, (waiter) => waiter.run === id && which(waiter));
  }

  #setState(key: KeyName, name: string, value: Payload): void {
    const { state } = this.#data;
    if (!state.has(key.service)) this.#set(state, key.service, new Map());
    const service = state.get(key.service) ?? new Map();
    if (!service.has(key.key)) this.#set(service, key.key, new Map());
    this.#set(service.get(key.key) ?? new Map(), name, value);
  }

  #clearState(key: KeyName, name: string): void {
    const values = this.#data.state.get(key.service)?.get(key.key);
    if (values === undefined) return;
    this.#delete(values, name);
    if (values.size === 0) this.#clearAllState(key);
  }

  #clearAllState(key: KeyName): void {
    const service = this.#data.state.get(key.service);
    if (service !== undefined) this.#delete(service, key.key);
  }

  #setPromise(key: KeyName, name: string, result: Result): void {
    const { promises } = this.#data;
    const text = laneText(key);
    if (!promises.has(text)) this.#set(promises, text, new Map());
    this.#set(promises.get(text) ?? new Map<string, Result>(), name, result);
  }

  #addWaiter(waiter: Waiter): void {
    const { waiters, waits } = this.#data;
    const name = waitTargetName(waiter.target);
    if (!waiters.has(name)) this.#set(waiters, name, { list: [] });
    const list = waiters.get(name)?.list ?? [];
    const at = lowerBound(list, waiter, compareWaiters);
    const there = list[at];
    if (there === undefined || compareWaiters(there, waiter) !== 0) this.#splice(list, at, 0, waiter);
    this.#add(setIn(waits, waiter.run), name);
  }

  #removeWaiters(target: string, which: (waiter: Waiter) => boolean): void {
    const list = this.#data.waiters.get(target)?.list ?? [];
    for (let i = list.length - 1; i >= 0; i -= 1) {
      const waiter = list[i];
      if (waiter === undefined || !which(waiter)) continue;
      this.#splice(list, i, 1);
      const targets = this.#data.waits.get(waiter.run);
      if (targets !== undefined && !list.some((other) => other.run === waiter.run)) this.#drop(targets, target);
    }
    if (list.length === 0) this.#delete(this.#data.waiters, target);
  }
}

function compareWaiters(a: Waiter, b: Waiter): number {
  return compareText(a.run, b.run) || a.command - b.command;
}
