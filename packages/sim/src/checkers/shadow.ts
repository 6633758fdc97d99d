// The shadow: what the storage must hold, rebuilt from the commits that were seen to be applied. Written without a look
// at any store, so that a store's mistake is not repeated here.

import type { KeyName, Mutation } from "@perdure/engine";
import {
  type Entry,
  type ImageInfo,
  ItemsTrimmedError,
  type Payload,
  type Result,
  type Run,
  type RunId,
  streamOwner,
  type StreamRef,
  streamText,
} from "@perdure/protocol";

interface ShadowEntry {
  readonly entry: Entry;
  /** When it was committed. */
  readonly tick: number;
}

export interface ShadowRun {
  record: Run;
  entries: ShadowEntry[];
  images: ImageInfo[];
  commands: number;
  /** Commands that have their result. */
  readonly completed: Set<number>;
  /** Every result that a run of this id was ever finished with, as JSON. */
  readonly results: Set<string>;
  /** Payloads of the signals that were ever written for this id, as JSON. */
  readonly signals: Set<string>;
  deleted: boolean;
  /** A deleted run had the same id. */
  readonly reborn: boolean;
}

/** Stands for the failure that a store gives where items were trimmed; its words are not compared. */
const TRIMMED: Result = { kind: "failure", failure: { code: 410, message: "", errorCode: ItemsTrimmedError.code } };

/** An entry as it was read, to be compared with `readable`. */
export function asRead(entry: Entry): Entry {
  if ((entry.kind !== "command" && entry.kind !== "completion") || entry.kept === undefined) return entry;
  const { result } = entry;
  return result?.kind === "failure" && result.failure.errorCode === ItemsTrimmedError.code
    ? { ...entry, result: TRIMMED }
    : entry;
}

export function keyText(key: KeyName): string {
  return `${key.service}/${key.key}`;
}

/** All items that were ever appended, the trimmed ones included. */
export interface ShadowStream {
  start: number;
  readonly items: Payload[];
}

/** The stream that a run means by a name. */
export function streamsText(run: Run, name: string): string {
  return streamText({ owner: streamOwner(run), name });
}

function imagesAfter(
  images: readonly ImageInfo[],
  mutation: Extract<Mutation, { type: "addImage" | "nameImage" | "dropImages" }>,
): ImageInfo[] {
  if (mutation.type === "addImage") return [...images, mutation.info];
  if (mutation.type === "dropImages") return images.filter(({ entry }) => !mutation.entries.includes(entry));
  return images.map((info) => (info.entry === mutation.entry ? { ...info, name: mutation.name } : info));
}

export class Shadow {
  /** The last bearer of each id, deleted or not. */
  readonly runs: Map<RunId, ShadowRun> = new Map();
  readonly bySeq: Map<number, ShadowRun> = new Map();
  readonly state: Map<string, Map<string, Payload>> = new Map();
  readonly streams: Map<string, ShadowStream> = new Map();
  readonly childrenOf: Map<RunId, ShadowRun[]> = new Map();
  /** Numbers of the runs that this commit has made so far. */
  readonly fresh: Set<number> = new Set();
  epoch = 0;
  /** The host that took the partition last. */
  owner = -1;

  run(id: RunId): ShadowRun | undefined {
    const run = this.runs.get(id);
    return run?.deleted === false ? run : undefined;
  }

  command(run: ShadowRun, id: number): Extract<Entry, { kind: "command" }> | undefined {
    for (const { entry } of run.entries) if (entry.kind === "command" && entry.id === id) return entry;
    return undefined;
  }

  stream(ref: StreamRef): ShadowStream {
    const text = streamText(ref);
    const stream = this.streams.get(text) ?? { start: 0, items: [] };
    this.streams.set(text, stream);
    return stream;
  }

  /** An entry as it is to be read now: a result that stands in a stream may have been trimmed since. */
  readable(run: ShadowRun, entry: Entry): Entry {
    if ((entry.kind !== "command" && entry.kind !== "completion") || entry.kept === undefined) return entry;
    const start = this.streams.get(streamsText(run.record, entry.kept.stream))?.start ?? 0;
    return entry.kept.from >= start ? entry : { ...entry, result: TRIMMED };
  }

  /** The entry is the copy of another run's: the run is a fork, or what another was before it was rewound. */
  isCopy(run: ShadowRun, entry: Entry): boolean {
    return this.fresh.has(run.record.seq) && entry.index <= (run.record.forkedFrom?.entry ?? 0);
  }

  apply(mutation: Mutation, tick: number): void {
    switch (mutation.type) {
      case "insertRun":
        return this.#insert(mutation.run);
      case "updateRun":
        return this.#update(mutation.run);
      case "promoteRun": {
        const run = this.run(mutation.id);
        if (run !== undefined) run.record = { ...run.record, status: "running", changedAt: mutation.at };
        return;
      }
      case "deleteRun": {
        const run = this.bySeq.get(mutation.run);
        if (run !== undefined) run.deleted = true;
        for (const text of this.streams.keys()) if (text.startsWith(`${mutation.id}/`)) this.streams.delete(text);
        return;
      }
      case "appendEntry":
        return this.#append(mutation.run, mutation.entry, tick);
      case "truncate":
        return this.#truncate(mutation.run, mutation.from);
      case "addImage":
      case "nameImage":
      case "dropImages": {
        const run = this.bySeq.get(mutation.run);
        if (run !== undefined) run.images = imagesAfter(run.images, mutation);
        return;
      }
      case "appendStream":
        this.stream(mutation.stream).items.push(...mutation.items);
        return;
      case "copyStream": {
        const { start, items } = this.stream(mutation.from);
        const { before } = mutation;
        this.streams.set(streamText(mutation.to), { start: Math.min(start, before), items: items.slice(0, before) });
        return;
      }
      case "trimStream": {
        const stream = this.stream(mutation.stream);
        stream.start = Math.max(stream.start, mutation.before);
        return;
      }
      case "setState":
        this.#stateOf(mutation.key).set(mutation.name, mutation.value);
        return;
      case "clearState":
        this.#stateOf(mutation.key).delete(mutation.name);
        return;
      case "clearAllState":
        this.#stateOf(mutation.key).clear();
        return;
      default:
        return; // Timers, waiters and promises show in what they cause.
    }
  }

  #insert(record: Run): void {
    const before = this.runs.get(record.id); // Callers may still be told of the one that was deleted.
    const [results, signals] = [before?.results ?? new Set<string>(), before?.signals ?? new Set<string>()];
    const run: ShadowRun = {
      record,
      entries: [],
      images: [],
      commands: 0,
      completed: new Set(),
      results,
      signals,
      deleted: false,
      reborn: before !== undefined,
    };
    this.runs.set(record.id, run);
    this.bySeq.set(record.seq, run);
    this.fresh.add(record.seq);
    this.#noteResult(run, record.result);
    if (record.parent === null) return;
    const siblings = this.childrenOf.get(record.parent.run);
    if (siblings === undefined) this.childrenOf.set(record.parent.run, [run]);
    else siblings.push(run);
  }

  #update(record: Run): void {
    const run = this.bySeq.get(record.seq);
    if (run === undefined) return;
    run.record = record;
    this.#noteResult(run, record.result);
  }

  #noteResult(run: ShadowRun, result: Result | null): void {
    if (result !== null) run.results.add(JSON.stringify(result));
  }

  #append(seq: number, entry: Entry, tick: number): void {
    const run = this.bySeq.get(seq);
    if (run === undefined) return;
    run.entries.push({ entry, tick });
    if (entry.kind === "command") run.commands = entry.id;
    if (entry.kind === "completion" || (entry.kind === "command" && entry.result !== undefined))
      run.completed.add(entry.id);
    if (entry.kind === "signal") run.signals.add(JSON.stringify(entry.payload));
  }

  #truncate(seq: number, from: number): void {
    const run = this.bySeq.get(seq);
    if (run === undefined) return;
    const kept = run.entries.filter(({ entry }) => entry.index < from);
    run.entries = [];
    run.commands = 0;
    run.completed.clear();
    run.images = run.images.filter(({ entry }) => entry < from);
    for (const { entry, tick } of kept) this.#append(seq, entry, tick);
  }

  #stateOf(key: KeyName): Map<string, Payload> {
    const text = keyText(key);
    let state = this.state.get(text);
    if (state === undefined) this.state.set(text, (state = new Map()));
    return state;
  }
}
