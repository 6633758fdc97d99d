// The store port: one `load`, one `commit`, and a reader for people
// ================================================================
// A store keeps runs, journals, streams, keyed state, promises, waiters and timers of the partitions in it. Writes are lists of
// mutations, applied in one transaction that is refused unless its epoch is the partition's newest.
//
// T1. `commit` is atomic: after a crash all of a batch is there or none of it, and a batch whose promise was fulfilled
//     is there (E1).
// T2. `acquire` makes the epoch of a partition larger than any before; a commit under an older epoch rejects with
//     FencedError and changes nothing (E4).
// T3. `load` sees every commit that was fulfilled before it was called, and no half of one.
// T4. Payloads come back byte for byte, and text as text (well-formed text: lone surrogates are not kept).
// T5. What is listed has one order in every store: runs and children by seq, timers by (at, run, kind, id), waiters by
//     (run, command), names and keys by code point, items of a stream by offset.
// T6. An entry with `kept` comes back with its result, byte for byte, from the items that it names; where they were
//     trimmed, with a failure that says so (P0038). Its bytes stand in the stream alone.
// T7. The bytes of images are stored once per hash, and are there as long as a run has an image of that hash. What comes
//     back has that hash: an image whose bytes are damaged is passed over for the one before, and named.
//
// Stores never decide anything: what belongs together is decided by the engine and arrives in one commit.

import {
  type Entry,
  type ImageInfo,
  type Instant,
  isFinished,
  type Payload,
  type Result,
  type Run,
  type RunId,
  type RunStatus,
  type StreamOwner,
  type StartImage,
  type StreamRef,
} from "@perdure/protocol";
import type { Artifacts } from "./artifacts.ts";

/** A service's or object's key; `null` keys do not queue and have no state. */
export interface KeyName {
  readonly service: string;
  readonly key: string;
}

/** What a timer does when it fires. `sleep` completes the command `id`; the others move the run on. */
export type TimerKind = "sleep" | "start" | "wake" | "retry";

export interface Timer {
  readonly at: Instant;
  /** `Run.seq`. */
  readonly run: number;
  readonly kind: TimerKind;
  /** Command id for `sleep`, otherwise 0. */
  readonly id: number;
}

/** Something that waits for a run's end or for a promise: a command of another run. */
export interface Waiter {
  readonly target: WaitTarget;
  readonly run: RunId;
  readonly command: number;
}

export type WaitTarget =
  | { readonly kind: "run"; readonly run: RunId }
  | { readonly kind: "promise"; readonly service: string; readonly key: string; readonly name: string };

export function waitTargetName(target: WaitTarget): string {
  return target.kind === "run" ? target.run : JSON.stringify([target.service, target.key, target.name]);
}

/** The part of its key's lane that a run takes: its turn, a place in the queue, or none (E3). */
export function laneOf(run: Pick<Run, "key" | "mode" | "status">): "holder" | "queued" | null {
  if (run.key === null || (run.mode !== "exclusive" && run.mode !== "workflow")) return null;
  if (run.status === "queued") return "queued";
  return run.status === "scheduled" || isFinished(run.status) ? null : "holder";
}

export type Mutation =
  | { readonly type: "insertRun"; readonly run: Run }
  /**
   * The whole record, as it is after the batch. What it was submitted with never changes: `seq`, `id`, `service`,
   * `handler`, `key`, `mode`, `input`, `headers`, `idempotencyKey`, `createdAt`, and the run and command of `parent`.
   */
  | { readonly type: "updateRun"; readonly run: Run }
  /** A queued run gets its key's turn: status `running`, `changedAt`. The run need not be loaded for that. */
  | { readonly type: "promoteRun"; readonly id: RunId; readonly at: Instant }
  /** Removes the run with its journal, images, timers, the streams that it owns and the waits of its own commands. */
  | { readonly type: "deleteRun"; readonly run: number; readonly id: RunId }
  /** `commands`: how many commands the journal holds, this entry included. */
  | { readonly type: "appendEntry"; readonly run: number; readonly entry: Entry; readonly commands: number }
  /**
   * Removes the entries from index `from` on. `commands` is how many commands are left: timers of kind `sleep` and waits
   * of later commands go too, all timers of other kinds, and images that have seen what goes.
   */
  | {
      readonly type: "truncate";
      readonly run: number;
      readonly id: RunId;
      readonly from: number;
      readonly commands: number;
    }
  /** `from`: the stream's end so far. `writer`: null where a journal tells of it, else the try of a step that wrote it. */
  | {
      readonly type: "appendStream";
      readonly stream: StreamRef;
      readonly from: number;
      readonly items: readonly Payload[];
      readonly writer: string | null;
      readonly at: Instant;
    }
  /** The items before offset `before` of one stream become those of another, which there is not yet, under their offsets. */
  | { readonly type: "copyStream"; readonly from: StreamRef; readonly to: StreamRef; readonly before: number }
  /** Removes the items before that offset. The ones after keep theirs. */
  | { readonly type: "trimStream"; readonly stream: StreamRef; readonly before: number }
  /** `bytes`: null where those of that hash are stored already. Images are added in order of `info.entry`. */
  | {
      readonly type: "addImage";
      readonly run: number;
      readonly info: ImageInfo;
      readonly bytes: Uint8Array | null;
    }
  /** `null` takes the name away. */
  | { readonly type: "nameImage"; readonly run: number; readonly entry: number; readonly name: string | null }
  /** Those that are not there are passed over. */
  | { readonly type: "dropImages"; readonly run: number; readonly entries: readonly number[] }
  | { readonly type: "addTimer"; readonly timer: Timer }
  | { readonly type: "removeTimer"; readonly timer: Timer }
  | { readonly type: "setState"; readonly key: KeyName; readonly name: string; readonly value: Payload }
  | { readonly type: "clearState"; readonly key: KeyName; readonly name: string }
  | { readonly type: "clearAllState"; readonly key: KeyName }
  | { readonly type: "setPromise"; readonly key: KeyName; readonly name: string; readonly result: Result }
  /** Removes all promises of a workflow key (its run is gone). */
  | { readonly type: "clearPromises"; readonly key: KeyName }
  | { readonly type: "addWaiter"; readonly waiter: Waiter }
  /** Removes everybody who waits for `target`. */
  | { readonly type: "removeWaiters"; readonly target: WaitTarget };

export interface Commit {
  readonly epoch: number;
  readonly mutations: readonly Mutation[];
}

/** What a batch needs to see. All lists are free of duplicates. */
export interface Needs {
  readonly runs: readonly RunId[];
  /** Runs by number (timers name them so). */
  readonly runsBySeq: readonly number[];
  /** Holder and queue of keys. */
  readonly keys: readonly KeyName[];
  readonly promises: readonly { readonly key: KeyName; readonly name: string }[];
  readonly waiters: readonly WaitTarget[];
  /** Whole state of keys, for attempts that were not given it when they started. */
  readonly states: readonly KeyName[];
  /** Unfinished runs that these runs called and await (`parent.awaited`). */
  readonly children: readonly RunId[];
  /** One named entry of a run: the command `id` and whether it is complete. */
  readonly commands: readonly { readonly run: number; readonly id: number }[];
  /** The entries of a run from index `from` on. */
  readonly tails: readonly { readonly run: number; readonly from: number }[];
  /** Images of runs. */
  readonly images: readonly { readonly run: number; readonly id: RunId }[];
  /** Where streams begin and end. */
  readonly streams: readonly StreamRef[];
  /** The items of a stream from an offset on, all of them. */
  readonly ranges: readonly { readonly stream: StreamRef; readonly from: number }[];
  /** The streams of owners, and where they ended at that instant. */
  readonly owned: readonly { readonly owner: StreamOwner; readonly at: Instant }[];
  /** Timers that are due at `until`, soonest first, at most `limit`. */
  readonly timers: { readonly until: Instant; readonly limit: number } | null;
  /** Finished runs of the partition after `afterSeq` in order of seq, at most `limit` (for retention). */
  readonly finished: { readonly afterSeq: number; readonly limit: number } | null;
}

export interface LoadedRun {
  readonly run: Run;
  /** Length of the journal. */
  readonly entries: number;
  /** Commands in the journal. */
  readonly commands: number;
}

export interface LoadedKey {
  readonly key: KeyName;
  /** The exclusive run that has its turn: neither queued, scheduled nor finished. */
  readonly holder: RunId | null;
  /** Queued runs in order of arrival, at most KEY_QUEUE_PAGE. */
  readonly queue: readonly RunId[];
  /** There are more queued runs than `queue` shows. */
  readonly more: boolean;
}

export interface LoadedCommand {
  readonly run: number;
  readonly id: number;
  readonly entry: Extract<Entry, { kind: "command" }> | null;
  /** A completion for it stands in the journal (fused or on its own). */
  readonly complete: boolean;
}

export interface LoadedStream {
  readonly stream: StreamRef;
  /** The first offset that was not trimmed. */
  readonly start: number;
  /** The offset that the next item gets. Both are 0 where there is no such stream. */
  readonly end: number;
}

export interface LoadedRange {
  readonly stream: StreamRef;
  /** As asked. The first item stands there, or where the stream begins. */
  readonly from: number;
  readonly items: readonly Payload[];
}

export interface LoadedOwner {
  readonly owner: StreamOwner;
  readonly at: Instant;
  /** In order of name. `endAt`: the end of what had been appended by then. */
  readonly streams: readonly (NamedStream & { readonly endAt: number })[];
}

export interface Loaded {
  readonly runs: readonly LoadedRun[];
  readonly keys: readonly LoadedKey[];
  readonly promises: readonly { readonly key: KeyName; readonly name: string; readonly result: Result | null }[];
  readonly waiters: readonly { readonly target: WaitTarget; readonly waiters: readonly Waiter[] }[];
  readonly states: readonly { readonly key: KeyName; readonly state: ReadonlyMap<string, Payload> }[];
  readonly children: readonly { readonly parent: RunId; readonly children: readonly LoadedRun[] }[];
  readonly commands: readonly LoadedCommand[];
  readonly tails: readonly { readonly run: number; readonly from: number; readonly entries: readonly Entry[] }[];
  /** In order of their entries. */
  readonly images: readonly { readonly id: RunId; readonly images: readonly ImageInfo[] }[];
  readonly streams: readonly LoadedStream[];
  readonly ranges: readonly LoadedRange[];
  readonly owned: readonly LoadedOwner[];
  readonly timers: readonly Timer[];
  readonly finished: readonly Run[];
}

/** Queued runs of one key that a load brings at once. */
export const KEY_QUEUE_PAGE = 256;

export interface Acquired {
  readonly epoch: number;
  /** Not less than the largest `seq` and `arrival` ever stored, those of deleted runs included. */
  readonly lastSeq: number;
  readonly lastArrival: number;
}

/** All that an attempt's start needs. */
export interface LoadedStart {
  /** The newest image whose bytes are whole (T7). */
  readonly image: StartImage | null;
  /** Those after the image; all of them where there is none. */
  readonly entries: readonly Entry[];
  /** State of the run's key; null for unkeyed runs, and where an image is given, which holds its own. */
  readonly state: ReadonlyMap<string, Payload> | null;
  /** All that are stored, in order of their entries. */
  readonly images: readonly ImageInfo[];
  /** Entries of the images that were passed over, newest first, and what is wrong with them. */
  readonly damaged: readonly { readonly entry: number; readonly reason: string }[];
}

export interface Store {
  /** Takes the partition: from now on only commits under the returned epoch succeed. */
  acquire(owner: string): Promise<Acquired>;
  load(needs: Needs): Promise<Loaded>;
  /** Image, journal and state for an attempt, all of one moment. */
  loadStart(run: Run): Promise<LoadedStart>;
  /** Commits are applied in the order of the calls. @throws FencedError, StoreWriteError. */
  commit(commit: Commit): Promise<void>;
  /** Runs in status `running` with seq > `afterSeq`, in order of seq: what has to be started after a crash. */
  running(afterSeq: number, limit: number): Promise<readonly { readonly id: RunId; readonly seq: number }[]>;
  /** When the next timer is due; null: none. */
  nextTimer(): Promise<Instant | null>;
  readonly reader: StoreReader;
  readonly artifacts: Artifacts;
  close(): Promise<void>;
}

export interface RunFilter {
  readonly status?: readonly RunStatus[];
  readonly service?: string;
  readonly handler?: string;
  readonly key?: string;
  readonly createdAfter?: Instant;
  readonly createdBefore?: Instant;
  /** `false` leaves out runs of the runtime's own services. */
  readonly builtIn?: boolean;
  readonly parent?: RunId;
  /** Page: runs with seq below this (newest first) or above it (oldest first). */
  readonly cursor?: number;
  readonly order?: "newest" | "oldest";
  /** At most 1000. */
  readonly limit: number;
}

export interface StreamItem {
  readonly offset: number;
  readonly at: Instant;
  /** The try of a step that wrote it (`<command>.<try>`); null where a journal tells of it. */
  readonly writer: string | null;
  readonly payload: Payload;
}

export interface StreamPage {
  readonly start: number;
  readonly end: number;
  readonly items: readonly StreamItem[];
}

export interface NamedStream {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

export interface DeploymentCount {
  readonly deployment: string;
  readonly status: RunStatus;
  readonly count: number;
}

/** Reads for the admin surface; never part of a decision. */
export interface StoreReader {
  runs(filter: RunFilter): Promise<readonly Run[]>;
  run(id: RunId): Promise<Run | null>;
  /** Entries with index > `after`, at most `limit`. */
  journal(id: RunId, after: number, limit: number): Promise<readonly Entry[]>;
  /** In order of their entries. */
  images(run: RunId): Promise<readonly ImageInfo[]>;
  /** The bytes of an image, as they are stored; null where there are none of that hash. */
  imageBytes(hash: string): Promise<Uint8Array | null>;
  counts(): Promise<Readonly<Partial<Record<RunStatus, number>>>>;
  /** How many runs have a bundle (a hash of 64 characters) as their deployment, by status. In order of deployment, then status. */
  deployments(): Promise<readonly DeploymentCount[]>;
  /** Keys of a service that have state, after `after` in order, at most `limit`. */
  stateKeys(service: string, after: string | null, limit: number): Promise<readonly string[]>;
  state(key: KeyName): Promise<ReadonlyMap<string, Payload>>;
  /** Items from offset `from` on, or from where the stream begins, at most `limit`. */
  stream(stream: StreamRef, from: number, limit: number): Promise<StreamPage>;
  /** The streams of an owner, in order of name. */
  streams(owner: StreamOwner): Promise<readonly NamedStream[]>;
  /** Read-only SQL where the store speaks it. @throws BadRequestError where it is not a single reading statement. */
  sql(
    query: string,
    limit: number,
  ): Promise<{
    readonly columns: readonly string[];
    readonly rows: readonly (readonly unknown[])[];
    readonly truncated: boolean;
  }>;
  /** Bytes on disk and counts of rows, for metrics. */
  stats(): Promise<Readonly<Record<string, number>>>;
}
