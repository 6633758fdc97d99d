// The store of a simulated host: the memory store, with latency and faults. The disk outlives the hosts; a host that
// dies leaves its commits either applied or not, never half (T1), and never hears of them.

import {
  type Acquired,
  type Artifacts,
  type Commit,
  type Loaded,
  type LoadedKey,
  type LoadedStart,
  type MemoryStorage,
  type Needs,
  openMemoryStore,
  type Store,
  type StoreReader,
} from "@perdure/engine";
import { type Instant, type Run, type RunId, StoreWriteError } from "@perdure/protocol";
import type { Random } from "./random.ts";

export interface StorePorts {
  readonly random: Random;
  readonly latencyMsMax: number;
  readonly keyQueuePage: number;
  /** In time of the world, unless the host dies before. */
  after(ms: number, callback: () => void): void;
  commitRefused(): number;
  commitUncertain(): number;
  loadFails(): number;
  acquired(epoch: number): void;
  committed(commit: Commit, askedAt: Instant): void;
  /** What the host's clock can have shown at most when the commit was decided. */
  latest(): Instant;
}

export class SimStore implements Store {
  readonly #inner: Store;
  readonly #ports: StorePorts;

  constructor(storage: MemoryStorage, ports: StorePorts) {
    this.#inner = openMemoryStore(storage);
    this.#ports = ports;
  }

  get reader(): StoreReader {
    return this.#inner.reader;
  }

  async acquire(owner: string): Promise<Acquired> {
    await this.#wait();
    const acquired = await this.#inner.acquire(owner);
    this.#ports.acquired(acquired.epoch);
    await this.#wait();
    return acquired;
  }

  load(needs: Needs): Promise<Loaded> {
    return this.#read(async () => {
      const loaded = await this.#inner.load(needs);
      return { ...loaded, keys: loaded.keys.map((key) => this.#page(key)) };
    });
  }

  /** Shows less of a key's queue than there is: queues of a simulated world are short. */
  #page(key: LoadedKey): LoadedKey {
    const { keyQueuePage } = this.#ports;
    return key.queue.length <= keyQueuePage ? key : { ...key, queue: key.queue.slice(0, keyQueuePage), more: true };
  }

  get artifacts(): Artifacts {
    return this.#inner.artifacts;
  }

  loadStart(run: Run): Promise<LoadedStart> {
    return this.#read(() => this.#inner.loadStart(run));
  }

  async commit(commit: Commit): Promise<void> {
    const { random } = this.#ports;
    const latest = this.#ports.latest();
    await this.#wait();
    if (random.chance(this.#ports.commitRefused())) throw new StoreWriteError("no space left on the simulated disk");
    await this.#inner.commit(commit);
    this.#ports.committed(commit, latest);
    await this.#wait();
    if (random.chance(this.#ports.commitUncertain()))
      throw new StoreWriteError("the simulated disk did not say whether it took the commit");
  }

  running(afterSeq: number, limit: number): Promise<readonly { readonly id: RunId; readonly seq: number }[]> {
    return this.#read(() => this.#inner.running(afterSeq, limit));
  }

  nextTimer(): Promise<Instant | null> {
    return this.#read(() => this.#inner.nextTimer());
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  async #read<T>(read: () => Promise<T>): Promise<T> {
    await this.#wait();
    if (this.#ports.random.chance(this.#ports.loadFails()))
      throw new StoreWriteError("the simulated disk cannot be read");
    const value = await read();
    await this.#wait();
    return value;
  }

  /** A latency; never fulfilled where the host dies meanwhile. */
  #wait(): Promise<void> {
    const { random, latencyMsMax } = this.#ports;
    const ms = random.chance(0.3) ? random.int(0, latencyMsMax) : Math.min(1, latencyMsMax);
    return new Promise((resolve) => this.#ports.after(ms, resolve));
  }
}
