// The view: what decisions see
// ============================
// Records of live runs stay in it from batch to batch (hot); everything else is loaded for a batch and dropped after it,
// so memory is bounded by the number of live attempts. A decision reads the view and moves it forward together with the
// mutations that it emits. Should the commit fail, the view is ahead of the store: the loop then drops the whole view and
// starts again from what is stored, exactly as after a crash.
//
// V1. A record in the view is newer than or equal to the stored one.
// V2. Only a run whose status is `running` has an attempt.
// V3. `entries` and `commands` are the counts of the journal, this batch's appends included.

import {
  assert,
  type Entry,
  type ImageInfo,
  type Instant,
  type Payload,
  type Result,
  type Run,
  type RunId,
  type StepCommand,
  type StreamOwner,
  type StreamRef,
} from "@perdure/protocol";
import {
  type KeyName,
  type Loaded,
  type LoadedCommand,
  type LoadedKey,
  type LoadedOwner,
  type LoadedRange,
  type LoadedRun,
  type LoadedStream,
  type Timer,
  type Waiter,
  type WaitTarget,
  waitTargetName,
} from "./store.ts";

export type Mutable<T> = { -readonly [K in keyof T]: T[K] };

interface HeldStep {
  readonly id: number;
  readonly command: StepCommand;
}

/** A stream whose end is known, so that appending to it reads nothing. It stays in the view while attempts use it. */
export interface HotStream {
  readonly ref: StreamRef;
  readonly text: string;
  start: number;
  end: number;
  /** Live attempts that have used it. */
  users: number;
}

/** What streams an attempt has to do with. */
interface AttemptStreams {
  readonly used: Set<HotStream>;
  /** Where the results of its open steps go, by command id. */
  readonly into: Map<number, string>;
}

/** An attempt as decisions see it. */
export interface LiveAttempt {
  readonly token: number;
  /** Steps that were begun and whose command is not written yet, in order of id: it may still be fused with its result. */
  held: HeldStep[];
  /** Steps whose command is written and whose result is not. `null`: not known (the attempt began with a journal). */
  open: Set<number>;
  /** Command of the last safe point that it came to; 0: none yet. */
  safePoint: number;
  /** Null for most. */
  streams: AttemptStreams | null;
  /** The last command id that the attempt has asked for or found in the journal. */
  commands: number;
  /** Index of the last entry with news that was handed to the attempt. */
  given: number;
  /** Index of the last entry that was handed to it at all. */
  told: number;
  /** Index of the last entry in which there may be a command of it. */
  asked: number;
  /** The image that it started from, by its entry; null: none. */
  image: number | null;
  /** Commands up to this one stand before what it was given at its start: whether they are open is not known. */
  imaged: number;
}

export interface HotRun {
  readonly record: Mutable<Run>;
  entries: number;
  commands: number;
  /** Created in this batch. */
  fresh: boolean;
  /** The record changed in this batch. */
  dirty: boolean;
  /** Deleted in this batch. */
  deleted: boolean;
  attempt: LiveAttempt | null;
  /** In order of their entries; null: not known. */
  images: readonly ImageInfo[] | null;
}

export interface HotKey {
  readonly name: KeyName;
  holder: RunId | null;
  readonly queue: RunId[];
  more: boolean;
}

export function keyText(service: string, key: string): string {
  return `${service}\u0000${key}`;
}

/** `streamText` without its escapes: this one is asked for with every append. */
export function streamKey({ owner, name }: StreamRef): string {
  return `${ownerKey(owner)}\u0000${name}`;
}

function ownerKey(owner: StreamOwner): string {
  return "run" in owner ? owner.run : `${owner.service}\u0000${owner.key}`;
}

export function streamsOf(attempt: LiveAttempt): AttemptStreams {
  return (attempt.streams ??= { used: new Set(), into: new Map() });
}

export class View {
  readonly runs: Map<RunId, HotRun> = new Map();
  readonly keys: Map<string, HotKey> = new Map();
  /** Runs that this batch looked at: the ones without an attempt are dropped after it. */
  readonly touched: Set<HotRun> = new Set();
  readonly promises: Map<string, Result | null> = new Map();
  readonly waiters: Map<string, Waiter[]> = new Map();
  readonly children: Map<RunId, RunId[]> = new Map();
  readonly commands: Map<string, LoadedCommand> = new Map();
  readonly states: Map<string, Map<string, Payload>> = new Map();
  readonly tails: Map<number, readonly Entry[]> = new Map();
  readonly streams: Map<string, HotStream> = new Map();
  /** By owner and instant. */
  readonly owned: Map<string, LoadedOwner> = new Map();
  /** By stream and first offset. */
  readonly ranges: Map<string, LoadedRange> = new Map();
  /** Those that no live attempt uses: they are dropped after the batch. */
  readonly #idleStreams: Set<HotStream> = new Set();
  readonly missing: Set<RunId> = new Set();
  readonly #bySeq: Map<number, RunId> = new Map();
  readonly #missingSeq: Set<number> = new Set();
  timers: readonly Timer[] | null = null;
  finished: readonly Run[] | null = null;

  run(id: RunId): HotRun | undefined {
    const run = this.runs.get(id);
    if (run === undefined || run.deleted) return undefined;
    if (run.attempt === null) this.touched.add(run);
    return run;
  }

  knowsRun(id: RunId): boolean {
    return this.runs.has(id) || this.missing.has(id);
  }

  runBySeq(seq: number): HotRun | undefined {
    const id = this.#bySeq.get(seq);
    return id === undefined ? undefined : this.run(id);
  }

  knowsSeq(seq: number): boolean {
    return this.#bySeq.has(seq) || this.#missingSeq.has(seq);
  }

  key(service: string, key: string): HotKey {
    const hot = this.keys.get(keyText(service, key));
    assert(hot !== undefined, `key ${service}/${key} is decided upon without being loaded`);
    return hot;
  }

  waitersOf(target: WaitTarget): Waiter[] {
    const name = waitTargetName(target);
    let list = this.waiters.get(name);
    if (list === undefined) this.waiters.set(name, (list = []));
    return list;
  }

  childrenOf(id: RunId): RunId[] {
    let list = this.children.get(id);
    if (list === undefined) this.children.set(id, (list = []));
    return list;
  }

  addFresh(record: Mutable<Run>): HotRun {
    const run: HotRun = {
      record,
      entries: 0,
      commands: 0,
      fresh: true,
      dirty: false,
      deleted: false,
      attempt: null,
      images: [],
    };
    this.runs.set(record.id, run);
    this.children.delete(record.id); // Those were of a deleted run of the same id.
    this.touched.add(run);
    return run;
  }

  /** Brings in what was loaded; what is already here is newer (V1). */
  absorb(loaded: Loaded, asked: { readonly runs: readonly RunId[]; readonly seqs: readonly number[] }): void {
    for (const run of loaded.runs) this.#absorbRun(run);
    for (const { parent, children } of loaded.children) {
      for (const child of children) this.#absorbRun(child);
      // A child is younger than its parent; older ones are children of a deleted run of the same id.
      const seq = this.runs.get(parent)?.record.seq ?? 0;
      const own = children.filter((child) => child.run.seq > seq);
      this.children.set(
        parent,
        own.map((child) => child.run.id),
      );
    }
    for (const id of asked.runs) if (!this.runs.has(id)) this.missing.add(id);
    for (const seq of asked.seqs) if (!this.#bySeq.has(seq)) this.#missingSeq.add(seq);
    for (const key of loaded.keys) this.#absorbKey(key);
    for (const { key, name, result } of loaded.promises) this.promises.set(promiseText(key, name), result);
    for (const { target, waiters } of loaded.waiters) this.waiters.set(waitTargetName(target), [...waiters]);
    for (const { key, state } of loaded.states) this.states.set(keyText(key.service, key.key), new Map(state));
    for (const { run, entries } of loaded.tails) this.tails.set(run, entries);
    for (const { id, images } of loaded.images) this.#absorbImages(id, images);
    for (const stream of loaded.streams) this.#absorbStream(stream);
    for (const range of loaded.ranges) this.ranges.set(rangeText(streamKey(range.stream), range.from), range);
    for (const owned of loaded.owned) this.owned.set(ownedText(owned.owner, owned.at), owned);
    for (const command of loaded.commands) this.commands.set(commandText(command.run, command.id), command);
  }

  #absorbRun(loaded: LoadedRun): void {
    const known = this.runs.get(loaded.run.id);
    if (known === undefined) {
      const run: HotRun = {
        record: { ...loaded.run },
        entries: loaded.entries,
        commands: loaded.commands,
        fresh: false,
        dirty: false,
        deleted: false,
        attempt: null,
        images: null,
      };
      this.runs.set(loaded.run.id, run);
      this.touched.add(run);
    }
    this.#bySeq.set(loaded.run.seq, loaded.run.id);
  }

  #absorbImages(id: RunId, images: readonly ImageInfo[]): void {
    const run = this.runs.get(id);
    if (run !== undefined) run.images ??= images;
  }

  #absorbStream({ stream, start, end }: LoadedStream): void {
    const text = streamKey(stream);
    if (this.streams.has(text)) return;
    const hot = { ref: stream, text, start, end, users: 0 };
    this.streams.set(text, hot);
    this.#idleStreams.add(hot);
  }

  /** The stream stays in the view as long as the attempt lives. */
  useStream(text: string, attempt: LiveAttempt | null): HotStream {
    const stream = this.streams.get(text);
    assert(stream !== undefined, `stream ${text} is decided upon without being loaded`);
    if (attempt === null) return stream;
    const { used } = streamsOf(attempt);
    if (used.has(stream)) return stream;
    used.add(stream);
    stream.users += 1;
    this.#idleStreams.delete(stream);
    return stream;
  }

  /** The attempt has ended. */
  releaseStreams({ streams }: LiveAttempt): void {
    for (const stream of streams?.used ?? []) {
      stream.users -= 1;
      if (stream.users === 0) this.#idleStreams.add(stream);
    }
  }

  #absorbKey(loaded: LoadedKey): void {
    const text = keyText(loaded.key.service, loaded.key.key);
    if (!this.keys.has(text))
      this.keys.set(text, { name: loaded.key, holder: loaded.holder, queue: [...loaded.queue], more: loaded.more });
  }

  /** After the actions of a batch: only what is live stays. */
  settle(): void {
    for (const run of this.touched) {
      run.fresh = false;
      const { id } = run.record; // A deleted run's id may have a new bearer already.
      if ((run.attempt === null || run.deleted) && this.runs.get(id) === run) this.runs.delete(id);
    }
    this.touched.clear();
    this.missing.clear();
    if (this.keys.size > 0) this.#settleKeys();
    if (this.promises.size > 0) this.promises.clear();
    if (this.waiters.size > 0) this.waiters.clear();
    if (this.children.size > 0) this.children.clear();
    if (this.commands.size > 0) this.commands.clear();
    if (this.states.size > 0) this.states.clear();
    if (this.tails.size > 0) this.tails.clear();
    if (this.ranges.size > 0) this.ranges.clear();
    if (this.owned.size > 0) this.owned.clear();
    if (this.#idleStreams.size > 0) this.#settleStreams();
    this.#bySeq.clear();
    this.#missingSeq.clear();
    this.timers = null;
    this.finished = null;
  }

  #settleStreams(): void {
    for (const { text } of this.#idleStreams) this.streams.delete(text);
    this.#idleStreams.clear();
  }

  /** A key stays while its holder is live and its queue is known whole. */
  #settleKeys(): void {
    for (const [text, key] of this.keys) {
      const live = key.holder !== null && this.runs.get(key.holder)?.attempt != null;
      if (!live || (key.more && key.queue.length === 0)) this.keys.delete(text);
    }
  }
}

export function ownedText(owner: StreamOwner, at: Instant): string {
  return `${ownerKey(owner)}\u0000${at}`;
}

export function rangeText(stream: string, from: number): string {
  return `${stream}\u0000${from}`;
}

export function promiseText(key: KeyName, name: string): string {
  return JSON.stringify([key.service, key.key, name]);
}

export function commandText(run: number, id: number): string {
  return `${run}/${id}`;
}

/** Whether the entry completes a command when it is read back. */
export function completes(entry: Entry): number | undefined {
  if (entry.kind === "completion") return entry.id;
  return entry.kind === "command" && entry.result !== undefined ? entry.id : undefined;
}
