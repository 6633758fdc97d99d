// Contract: whatever happens, a store looks as the memory store does (T1 to T7). Each random history is committed to
// both, and everything that the port can show is compared; contradictions and stale epochs are refused by both.

import { AssertionError, FencedError, RUN_STATUSES } from "@perdure/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createMemoryStorage, openMemoryStore } from "../memory-store.ts";
import type { Mutation, Needs, Store } from "../store.ts";
import {
  type History,
  histories,
  HistoryState,
  type Intent,
  KEYS,
  NAMES,
  RUNS,
  STREAMS,
  TARGETS,
} from "./store-histories.ts";
import { needs, type OpenedStore, runIdOf, type StoreContract } from "./store-harness.ts";

const HISTORIES = 40;
const SEQS: readonly number[] = Array.from({ length: 40 }, (_, i) => i + 1);

export function describeProperties(contract: StoreContract): void {
  describe("random histories", () => {
    test("T1 to T7: it looks as the memory store does", async () => {
      const property = fc.asyncProperty(histories(contract.largePayloadBytes), (history) =>
        compareHistories(contract, history),
      );
      await fc.assert(property, { numRuns: contract.histories ?? HISTORIES });
    }, 60_000);
  });
}

async function compareHistories(contract: StoreContract, history: History): Promise<void> {
  const opened = await contract.open();
  try {
    await new Comparison(opened).play(history);
  } finally {
    await opened.dispose();
  }
}

class Comparison {
  readonly #opened: OpenedStore;
  readonly #model: Store = openMemoryStore(createMemoryStorage());
  readonly #state = new HistoryState();
  #store: Store;
  #epochs: readonly [number, number] = [0, 0];

  constructor(opened: OpenedStore) {
    this.#opened = opened;
    this.#store = opened.store;
  }

  async play(history: History): Promise<void> {
    await this.#acquire();
    for (const batch of history) await this.#batch(batch);
    await this.#reopen();
    await this.#compare();
  }

  async #acquire(): Promise<void> {
    const [real, model] = [await this.#store.acquire("a"), await this.#model.acquire("a")];
    expect(real.lastSeq).toBe(model.lastSeq);
    expect(real.lastArrival).toBeGreaterThanOrEqual(model.lastArrival);
    this.#epochs = [real.epoch, model.epoch];
  }

  async #reopen(): Promise<void> {
    this.#store = await this.#opened.reopen();
    await this.#acquire();
  }

  async #batch(batch: readonly Intent[]): Promise<void> {
    const mutations = batch.flatMap((intent) => this.#state.mutations(intent));
    await this.#store.commit({ epoch: this.#epochs[0], mutations });
    await this.#model.commit({ epoch: this.#epochs[1], mutations });
    for (const intent of batch) {
      if (intent.what === "contradict")
        await this.#refused([...mutations.filter(isRepeatable), this.#state.contradiction(intent)]);
      if (intent.what === "stale") await this.#stale();
    }
    if (batch.some(({ what }) => what === "reopen")) await this.#reopen();
    await this.#compareLoads();
  }

  async #refused(mutations: readonly Mutation[]): Promise<void> {
    await expect(this.#store.commit({ epoch: this.#epochs[0], mutations })).rejects.toBeInstanceOf(AssertionError);
    await expect(this.#model.commit({ epoch: this.#epochs[1], mutations })).rejects.toBeInstanceOf(AssertionError);
  }

  async #stale(): Promise<void> {
    const mutations: readonly Mutation[] = [
      { type: "setState", key: { service: "stale", key: "k" }, name: "n", value: "1" },
    ];
    await expect(this.#store.commit({ epoch: this.#epochs[0] - 1, mutations })).rejects.toBeInstanceOf(FencedError);
  }

  async #compareLoads(): Promise<void> {
    const all = everything();
    const [real, model] = [await this.#store.load(all), await this.#model.load(all)];
    expect(real).toStrictEqual(model);
    expect(await this.#store.running(0, 100)).toStrictEqual(await this.#model.running(0, 100));
    expect(await this.#store.nextTimer()).toBe(await this.#model.nextTimer());
    for (const { run } of model.runs) {
      const [start, expected] = [await this.#store.loadStart(run), await this.#model.loadStart(run)];
      expect(start).toStrictEqual(expected);
      expect([...(start.state ?? [])]).toStrictEqual([...(expected.state ?? [])]);
    }
  }

  async #compare(): Promise<void> {
    await this.#compareLoads();
    const [real, model] = [this.#store.reader, this.#model.reader];
    expect(await real.counts()).toEqual(await model.counts());
    for (const order of ["newest", "oldest"] as const) {
      for (const status of [undefined, ...RUN_STATUSES]) {
        const filter = { order, limit: 3, ...(status === undefined ? {} : { status: [status] }) };
        expect(await real.runs(filter)).toStrictEqual(await model.runs(filter));
      }
    }
    for (const service of ["inbox", "flow", "stale"])
      expect(await real.stateKeys(service, null, 10)).toEqual(await model.stateKeys(service, null, 10));
    for (const stream of STREAMS) {
      expect(await real.stream(stream, 2, 3)).toStrictEqual(await model.stream(stream, 2, 3));
      expect(await real.streams(stream.owner)).toStrictEqual(await model.streams(stream.owner));
    }
    for (const parent of [1, 2, 3])
      expect(await real.runs({ parent: runIdOf(parent), limit: 9 })).toStrictEqual(
        await model.runs({ parent: runIdOf(parent), limit: 9 }),
      );
  }
}

/** May come again before a contradiction, as if it were something new. */
function isRepeatable(mutation: Mutation): boolean {
  return (
    mutation.type === "clearAllState" ||
    mutation.type === "setState" ||
    mutation.type === "addTimer" ||
    mutation.type === "removeWaiters" ||
    mutation.type === "updateRun"
  );
}

function everything(): Needs {
  const commands = SEQS.slice(0, RUNS * 3).flatMap((run) => [1, 2, 3, 4, 5].map((id) => ({ run, id })));
  return needs({
    runsBySeq: SEQS,
    runs: [],
    keys: KEYS,
    promises: KEYS.flatMap((key) => NAMES.map((name) => ({ key, name }))),
    waiters: TARGETS,
    states: KEYS,
    children: [1, 2, 3].map((run) => runIdOf(run)),
    commands,
    tails: SEQS.map((run) => ({ run, from: 2 })),
    images: SEQS.flatMap((run) => [0, 1].map((partition) => ({ run, id: runIdOf(run, partition) }))),
    streams: STREAMS,
    ranges: STREAMS.map((stream) => ({ stream, from: 1 })),
    owned: STREAMS.flatMap(({ owner }) => [3, 500, Number.MAX_SAFE_INTEGER].map((at) => ({ owner, at }))),
    timers: { until: 25, limit: 7 },
    finished: { afterSeq: 1, limit: 4 },
  });
}
