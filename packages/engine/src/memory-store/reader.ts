// The memory store's reader for people.

import {
  BadRequestError,
  BUILT_IN_PREFIX,
  type Entry,
  type ImageInfo,
  type Payload,
  type Run,
  type RunId,
  type RunStatus,
  type StreamOwner,
  type StreamRef,
} from "@perdure/protocol";
import type { DeploymentCount, KeyName, NamedStream, RunFilter, StoreReader, StreamPage } from "../store.ts";
import { copy } from "./copy.ts";
import { imagesOf } from "./images.ts";
import { loadState, readEntries, storedInOrder } from "./load.ts";
import { compareText } from "./order.ts";
import type { StorageData } from "./storage.ts";
import { readPage, streamsOf } from "./streams.ts";

const RUNS_PAGE_MAX = 1_000;

const BUNDLE_HASH_LENGTH = 64;

export class MemoryReader implements StoreReader {
  readonly #data: StorageData;

  constructor(data: StorageData) {
    this.#data = data;
  }

  async runs(filter: RunFilter): Promise<readonly Run[]> {
    const found = storedInOrder(this.#data).map(({ run }) => run);
    if (filter.order !== "oldest") found.reverse();
    const page = found.filter((run) => matchesRunFilter(run, filter)).slice(0, Math.min(filter.limit, RUNS_PAGE_MAX));
    return page.map(copy);
  }

  async run(id: RunId): Promise<Run | null> {
    return copy(this.#data.runs.get(this.#data.seqs.get(id) ?? 0)?.run ?? null);
  }

  async journal(id: RunId, after: number, limit: number): Promise<readonly Entry[]> {
    const stored = this.#data.runs.get(this.#data.seqs.get(id) ?? 0);
    return readEntries(this.#data, stored, Math.max(0, after), Math.max(0, after) + limit);
  }

  async images(id: RunId): Promise<readonly ImageInfo[]> {
    return imagesOf(this.#data, this.#data.seqs.get(id) ?? 0);
  }

  async imageBytes(hash: string): Promise<Uint8Array | null> {
    const bytes = this.#data.imageBytes.get(hash)?.bytes;
    return bytes === undefined ? null : new Uint8Array(bytes);
  }

  async counts(): Promise<Readonly<Partial<Record<RunStatus, number>>>> {
    const counts: Partial<Record<RunStatus, number>> = {};
    for (const { run } of this.#data.runs.values()) counts[run.status] = (counts[run.status] ?? 0) + 1;
    return counts;
  }

  async deployments(): Promise<readonly DeploymentCount[]> {
    const counts = new Map<string, DeploymentCount>();
    for (const { run } of this.#data.runs.values()) {
      const { deployment, status } = run;
      if (deployment?.length !== BUNDLE_HASH_LENGTH) continue;
      const text = `${deployment} ${status}`;
      counts.set(text, { deployment, status, count: (counts.get(text)?.count ?? 0) + 1 });
    }
    return [...counts].sort(([a], [b]) => compareText(a, b)).map(([, count]) => count);
  }

  async stateKeys(service: string, after: string | null, limit: number): Promise<readonly string[]> {
    const keys = [...(this.#data.state.get(service)?.keys() ?? [])].sort(compareText);
    return keys.filter((key) => after === null || compareText(key, after) > 0).slice(0, limit);
  }

  async state(key: KeyName): Promise<ReadonlyMap<string, Payload>> {
    return loadState(this.#data, key);
  }

  async stream(stream: StreamRef, from: number, limit: number): Promise<StreamPage> {
    return readPage(this.#data, stream, from, limit);
  }

  async streams(owner: StreamOwner): Promise<readonly NamedStream[]> {
    return streamsOf(this.#data, owner);
  }

  async sql(): Promise<never> {
    throw new BadRequestError("the memory store speaks no SQL");
  }

  async stats(): Promise<Readonly<Record<string, number>>> {
    const { runs, timers, state, promises, waiters, streams } = this.#data;
    let entries = 0;
    let values = 0;
    let waits = 0;
    for (const stored of runs.values()) entries += stored.entries.length;
    for (const service of state.values()) for (const names of service.values()) values += names.size;
    for (const { list } of waiters.values()) waits += list.length;
    let images = 0;
    for (const stored of runs.values()) images += stored.images.length;
    let chunks = 0;
    for (const named of streams.values()) for (const stream of named.values()) chunks += stream.chunks.length;
    const settled = [...promises.values()].reduce((sum, names) => sum + names.size, 0);
    return {
      disk_bytes: 0,
      runs: runs.size,
      entries,
      timers: timers.length,
      state: values,
      promises: settled,
      waiters: waits,
      streams: [...streams.values()].reduce((sum, named) => sum + named.size, 0),
      chunks,
      images,
      artifacts: this.#data.artifacts.size,
    };
  }
}

/** Whether a run belongs on a page of the filter, its cursor included. */
export function matchesRunFilter(run: Run, filter: RunFilter): boolean {
  if (filter.cursor !== undefined && (filter.order === "oldest" ? run.seq <= filter.cursor : run.seq >= filter.cursor))
    return false;
  if (filter.status !== undefined && !filter.status.includes(run.status)) return false;
  if (filter.service !== undefined && run.service !== filter.service) return false;
  if (filter.handler !== undefined && run.handler !== filter.handler) return false;
  if (filter.key !== undefined && run.key !== filter.key) return false;
  if (filter.builtIn === false && run.service.startsWith(BUILT_IN_PREFIX)) return false;
  if (filter.parent !== undefined && run.parent?.run !== filter.parent) return false;
  if (filter.createdAfter !== undefined && run.createdAt <= filter.createdAfter) return false;
  return filter.createdBefore === undefined || run.createdAt < filter.createdBefore;
}
