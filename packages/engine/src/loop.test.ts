// The loop where its store or its host lets it down.

import {
  AssertionError,
  type Attempt,
  type AttemptReplies,
  type Awaiting,
  FencedError,
  StoreWriteError,
  type RunId,
} from "@perdure/protocol";
import { describe, expect, test } from "vitest";
import { environment, openWorld, value } from "../test/harness.ts";
import type { Limits } from "./limits.ts";
import { Loop, type Question } from "./loop.ts";
import { createMemoryStorage, type MemoryStorage, openMemoryStore } from "./memory-store.ts";
import type { Store } from "./store.ts";

const service = { service: "service", handler: "work" };

interface Live {
  readonly run: RunId;
  readonly replies: AttemptReplies;
  awaiting: readonly Awaiting[] | null;
  yields: number;
}

function submission(name: string): Extract<Question, { type: "submit" }> {
  const run = environment.idempotentId(service, name);
  const rest = { input: null, headers: null, idempotencyKey: name, startAt: null, await: false };
  return { type: "submit", run, fresh: false, target: service, ...rest };
}

async function turnsLater(count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) await new Promise<void>((resolve) => void setImmediate(resolve));
}

/** A loop in real turns, whose clock moves only by hand and whose store answers as `changes` say. */
class Bench {
  readonly storage: MemoryStorage;
  readonly loop: Loop;
  readonly live: Live[] = [];
  readonly failures: unknown[] = [];
  #alarms: { readonly at: number; readonly callback: () => void }[] = [];
  #now = 1_000;

  constructor(
    options: {
      storage?: MemoryStorage;
      changes?: (store: Store) => Partial<Store>;
      limits?: Partial<Limits>;
      turnsBetween?: number;
    } = {},
  ) {
    this.storage = options.storage ?? createMemoryStorage();
    const store = openMemoryStore(this.storage);
    const methods: Store = {
      reader: store.reader,
      acquire: (owner) => store.acquire(owner),
      load: (needs) => store.load(needs),
      loadStart: (run) => store.loadStart(run),
      artifacts: store.artifacts,
      commit: (commit) => store.commit(commit),
      running: (afterSeq, limit) => store.running(afterSeq, limit),
      nextTimer: () => store.nextTimer(),
      close: () => store.close(),
    };
    this.loop = new Loop({
      store: { ...methods, ...options.changes?.(store) },
      executor: { start: (start, replies) => this.#attempt(start.run, replies) },
      environment,
      clock: { now: () => this.#now, wakeAt: (at, callback) => this.#wakeAt(at, callback) },
      scheduler: { soon: (callback) => void turnsLater(options.turnsBetween ?? 1).then(callback) },
      limits: options.limits ?? {},
      onFailure: (error) => void this.failures.push(error),
    });
  }

  #attempt(run: RunId, replies: AttemptReplies): Attempt {
    const live: Live = { run, replies, awaiting: null, yields: 0 };
    this.live.push(live);
    return {
      notify: () => undefined,
      abort: () => undefined,
      awaiting: () => live.awaiting,
      yield: () => void (live.yields += 1),
    };
  }

  #wakeAt(at: number, callback: () => void): () => void {
    const alarm = { at, callback };
    this.#alarms.push(alarm);
    return () => void (this.#alarms = this.#alarms.filter((other) => other !== alarm));
  }

  async turns(): Promise<void> {
    await turnsLater(100);
  }

  async advance(ms: number): Promise<void> {
    this.#now += ms;
    const due = this.#alarms.filter(({ at }) => at <= this.#now);
    this.#alarms = this.#alarms.filter(({ at }) => at > this.#now);
    for (const { callback } of due) callback();
    await this.turns();
  }

  async submit(name: string): Promise<RunId> {
    const question = submission(name);
    void this.loop.ask(question);
    await this.turns();
    return question.run;
  }
}

describe("a start", () => {
  test("of a loop that is stopped meanwhile takes no questions afterwards", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const bench = new Bench({
      changes: (store) => ({ acquire: async (owner) => promise.then(() => store.acquire(owner)) }),
    });
    const started = bench.loop.start("host");
    bench.loop.stop();
    resolve();
    await started;
    expect(bench.loop.state).toBe("stopped");
  });

  test("E8: that cannot read what was running fails, rather than leave it where it is", async () => {
    const refuse = (): Promise<never> => Promise.reject(new StoreWriteError("unreadable"));
    const bench = new Bench({ changes: () => ({ running: refuse }) });
    await expect(bench.loop.start("host")).rejects.toThrow("unreadable");
    expect(bench.loop.state).toBe("failed");
    expect(bench.failures).toHaveLength(1);
  });
});

describe("a loop that ends in the middle of a batch", () => {
  test("decides and writes nothing more", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let loads = 0;
    let commits = 0;
    const changes = (store: Store): Partial<Store> => ({
      load: async (needs) => {
        loads += 1;
        return promise.then(() => store.load(needs));
      },
      commit: async (commit) => {
        commits += 1;
        return store.commit(commit);
      },
    });
    const bench = new Bench({ changes });
    await bench.loop.start("host");
    const asked = bench.loop.ask(submission("a"));
    await bench.turns();
    bench.loop.stop();
    await expect(asked).rejects.toThrow();
    resolve();
    await bench.turns();
    expect([loads, commits]).toEqual([1, 0]);
  });
});

describe("room", () => {
  test("E8: attempts that were busy when room was asked for are asked again", async () => {
    const bench = new Bench({ limits: { attemptsLiveMax: 1 } });
    await bench.loop.start("host");
    const first = await bench.submit("a");
    const second = await bench.submit("b");
    const [holder] = bench.live;
    expect(bench.live.map(({ run }) => run)).toEqual([first]);
    expect(holder?.yields).toBe(0);
    if (holder !== undefined) holder.awaiting = [{ kind: "signal", signal: "go" }]; // And says nothing.
    await bench.advance(100);
    expect(holder?.yields).toBe(1);
    holder?.replies.suspend([{ kind: "signal", signal: "go" }], 0);
    await bench.turns();
    expect(bench.live.map(({ run }) => run)).toEqual([first, second]);
  });

  test("E8: a run that the ready list did not hold is found again, also where it has run before", async () => {
    const bench = new Bench({ limits: { attemptsLiveMax: 1, readyRunsMax: 1 } });
    await bench.loop.start("host");
    const runs = [await bench.submit("a")];
    for (let i = 0; i < 4; i += 1) {
      bench.live.at(-1)?.replies.suspend([{ kind: "signal", signal: "go" }], 0);
      await bench.turns();
      runs.push(await bench.submit(`b${i}`));
    }
    expect(bench.loop.figures.attempts).toBe(1); // A suspended run costs no memory.
    for (const run of runs.slice(0, 4))
      void bench.loop.ask({ type: "signal", run, signal: "go", payload: { kind: "void" } });
    await bench.turns();
    for (let i = 0; i < 5; i += 1) {
      bench.live.at(-1)?.replies.end(value("1"));
      await bench.turns();
    }
    expect(bench.storage.data.runs.size).toBe(5);
    expect(await openMemoryStore(bench.storage).reader.counts()).toEqual({ succeeded: 5 });
    expect(bench.loop.figures).toEqual({
      live: 0,
      ready: 0,
      queued: 0,
      watchers: 0,
      attempts: 0,
      hotRuns: 0,
      hotKeys: 0,
    });
  });

  test("runs that are about to begin are not read again meanwhile", async () => {
    const storage = createMemoryStorage();
    const before = new Bench({ storage });
    await before.loop.start("first");
    for (const name of ["a", "b", "c", "d"]) await before.submit(name);
    before.loop.stop();
    let reads = 0;
    const changes = (store: Store): Partial<Store> => ({
      running: async (afterSeq, limit) => {
        reads += 1;
        await turnsLater(1);
        return store.running(afterSeq, limit);
      },
    });
    const bench = new Bench({
      storage,
      changes,
      turnsBetween: 20,
      limits: { attemptsLiveMax: 2, readyRunsMax: 2, batchEventsMax: 1, timersPerBatchMax: 1 },
    });
    await bench.loop.start("second");
    await bench.turns();
    expect(bench.live).toHaveLength(2);
    expect(reads).toBeLessThan(5);
    expect(bench.loop.figures.queued).toBe(0);
  });
});

test("E4: a host that has lost its partition fails for that reason, not for the contradiction that it found", async () => {
  const storage = createMemoryStorage();
  const bench = new Bench({
    storage,
    changes: () => ({ load: () => Promise.reject(new AssertionError("view and store differ")) }),
  });
  await bench.loop.start("old");
  const other = await openWorld({ storage });
  await expect(bench.loop.ask({ type: "cancel", run: environment.workflowId("flow", "f") })).rejects.toThrow(
    FencedError,
  );
  expect(bench.failures[0]).toBeInstanceOf(FencedError);
  other.loop.stop();
});

test("an assertion of the host that has the partition stays one", async () => {
  const bench = new Bench({
    changes: () => ({ load: () => Promise.reject(new AssertionError("view and store differ")) }),
  });
  await bench.loop.start("host");
  await expect(bench.loop.ask({ type: "cancel", run: environment.workflowId("flow", "f") })).rejects.toThrow(
    AssertionError,
  );
});
