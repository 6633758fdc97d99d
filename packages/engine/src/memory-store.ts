// The memory store: the Store port without a disk
// ===============================================
// `createMemoryStorage()` is the disk, `openMemoryStore(storage)` a connection to it: two hosts may compete for one
// disk, and a host that died is opened again. It passes the same contract as the stores on real disks (T1 to T7), which
// is what licenses the simulator to stand in for them. Nothing outlives the process.

import { assert, FencedError, type Instant, type Run, type RunId, StoreWriteError } from "@perdure/protocol";
import type { Artifacts } from "./artifacts.ts";
import { applyMutations } from "./memory-store/apply.ts";
import { MemoryArtifacts } from "./memory-store/artifacts.ts";
import { load, loadRunning, loadStart } from "./memory-store/load.ts";
import { MemoryReader } from "./memory-store/reader.ts";
import type { CommitFate, MemoryStorage } from "./memory-store/storage.ts";
import type { Acquired, Commit, Loaded, LoadedStart, Needs, Store, StoreReader } from "./store.ts";

export { createMemoryStorage } from "./memory-store/storage.ts";
export type { CommitFate, MemoryStorage, StorageHooks } from "./memory-store/storage.ts";
export { matchesRunFilter } from "./memory-store/reader.ts";

export function openMemoryStore(storage: MemoryStorage): Store {
  return new MemoryStore(storage);
}

class MemoryStore implements Store {
  readonly reader: StoreReader;
  readonly artifacts: Artifacts;
  readonly #storage: MemoryStorage;
  #closed = false;
  /** The commit before this one, so that delayed commits keep their order. */
  #last: Promise<unknown> | null = null;

  constructor(storage: MemoryStorage) {
    this.#storage = storage;
    this.reader = new MemoryReader(storage.data);
    this.artifacts = new MemoryArtifacts(storage.data);
  }

  async acquire(_owner: string): Promise<Acquired> {
    this.#assertOpen();
    const { data } = this.#storage;
    data.epoch += 1;
    return { epoch: data.epoch, lastSeq: data.lastSeq, lastArrival: data.lastArrival };
  }

  async load(needs: Needs): Promise<Loaded> {
    this.#assertOpen();
    return load(this.#storage.data, needs);
  }

  async loadStart(run: Run): Promise<LoadedStart> {
    this.#assertOpen();
    return loadStart(this.#storage.data, run);
  }

  async commit(commit: Commit): Promise<void> {
    this.#assertOpen();
    const { beforeCommit } = this.#storage.hooks;
    if (beforeCommit === undefined && this.#last === null) return this.#apply(commit);
    const turn = this.#inTurn(commit, this.#last);
    const done = turn.catch(() => undefined);
    this.#last = done;
    try {
      return await turn;
    } finally {
      if (this.#last === done) this.#last = null;
    }
  }

  async #inTurn(commit: Commit, before: Promise<unknown> | null): Promise<void> {
    if (before !== null) await before;
    const asked = this.#storage.hooks.beforeCommit?.(commit) ?? "apply";
    const fate: CommitFate = typeof asked === "string" ? asked : await asked;
    if (fate === "refuse") throw new StoreWriteError("the storage refused the commit");
    if (fate !== "lose") this.#apply(commit);
    if (fate === "uncertain") throw new StoreWriteError("the storage did not say whether it took the commit");
    if (fate !== "apply") await new Promise<never>(() => undefined); // The host that asked is dead.
  }

  #apply(commit: Commit): void {
    const { data } = this.#storage;
    if (commit.epoch !== data.epoch)
      throw new FencedError(`the partition is at epoch ${data.epoch}, a commit of epoch ${commit.epoch} is refused`);
    applyMutations(data, commit.mutations);
  }

  async running(afterSeq: number, limit: number): Promise<readonly { readonly id: RunId; readonly seq: number }[]> {
    this.#assertOpen();
    return loadRunning(this.#storage.data, afterSeq, limit);
  }

  async nextTimer(): Promise<Instant | null> {
    this.#assertOpen();
    return this.#storage.data.timers[0]?.at ?? null;
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #assertOpen(): void {
    assert(!this.#closed, "the store is closed");
  }
}
