// The memory store's disk
// =======================
// What is in it survives the connections to it, as a disk survives processes. Indexes are kept beside the rows, so that
// no load looks at all runs.
//
// Changes are made through an undo log: a batch that breaks a rule half way leaves nothing behind (T1).

import type { Entry, ImageInfo, Payload, Result, Run, RunId } from "@perdure/protocol";
import type { Artifact } from "../artifacts.ts";
import type { Commit, Timer, Waiter } from "../store.ts";
import type { StoredBytes } from "./images.ts";
import type { StoredStream } from "./streams.ts";

export interface StoredRun {
  run: Run;
  readonly entries: Entry[];
  /** In order of their entries. */
  readonly images: ImageInfo[];
}

/** Waiters of one target, in order of (run, command). */
interface StoredWaiters {
  readonly list: Waiter[];
}

/**
 * What becomes of a commit. `apply`: it is made durable and fulfilled. `refuse`: nothing is applied, and it rejects with
 * StoreWriteError. `lose`: nothing is applied and no answer comes: the host dies before the flush. `orphan`: it is
 * applied and no answer comes: the host dies right after the flush. `uncertain`: it is applied, and rejects all the same.
 */
export type CommitFate = "apply" | "refuse" | "lose" | "orphan" | "uncertain";

export interface StorageHooks {
  /** Asked before a commit is applied; the commit waits for the answer. Absent: `apply`. */
  beforeCommit?: (commit: Commit) => CommitFate | Promise<CommitFate>;
}

export interface MemoryStorage {
  readonly hooks: StorageHooks;
  readonly data: StorageData;
}

export interface StorageData {
  epoch: number;
  lastSeq: number;
  lastArrival: number;
  readonly runs: Map<number, StoredRun>;
  readonly seqs: Map<RunId, number>;
  /** Unfinished exclusive runs by key (`service NUL key`). */
  readonly lanes: Map<string, Set<number>>;
  readonly children: Map<RunId, Set<number>>;
  /** Sorted. */
  readonly timers: Timer[];
  readonly state: Map<string, Map<string, Map<string, Payload>>>;
  readonly promises: Map<string, Map<string, Result>>;
  /** By owner (`ownerText`), then by name. */
  readonly streams: Map<string, Map<string, StoredStream>>;
  readonly waiters: Map<string, StoredWaiters>;
  /** Targets that the commands of a run wait for. */
  readonly waits: Map<RunId, Set<string>>;
  /** By hash. */
  readonly imageBytes: Map<string, StoredBytes>;
  readonly artifacts: Map<string, Artifact>;
}

/** An empty disk. The hooks may be changed at any time. */
export function createMemoryStorage(hooks: StorageHooks = {}): MemoryStorage {
  return {
    hooks,
    data: {
      epoch: 0,
      lastSeq: 0,
      lastArrival: 0,
      runs: new Map(),
      seqs: new Map(),
      lanes: new Map(),
      children: new Map(),
      timers: [],
      state: new Map(),
      promises: new Map(),
      streams: new Map(),
      waiters: new Map(),
      waits: new Map(),
      imageBytes: new Map(),
      artifacts: new Map(),
    },
  };
}

/** The set under `key`, made where it is missing. */
export function setIn<K, V>(map: Map<K, Set<V>>, key: K): Set<V> {
  let set = map.get(key);
  if (set === undefined) map.set(key, (set = new Set()));
  return set;
}
