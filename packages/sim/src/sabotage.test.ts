// Does the simulator find anything? For each promise an engine that breaks it, by a port that lies; some world of a few
// hundred must show it.

import type { Clock, Environment, Loaded, LoadedStart, Mutation, Store } from "@perdure/engine";
import {
  AssertionError,
  type AttemptReplies,
  type AttemptStart,
  type CapturedImage,
  type Entry,
  type Executor,
  type RunId,
  type StartImage,
  type Target,
} from "@perdure/protocol";
import { describe, expect, test } from "vitest";
import type { Random } from "./random.ts";
import type { Sabotage } from "./sim-host.ts";
import { runWorld } from "./world.ts";

const SEEDS_MAX = 300;

/** The first seed in which `promise` is seen to be broken. */
async function firstCatch(
  sabotage: () => Sabotage,
  promise: string,
  executor: "script" | "sdk",
): Promise<number | null> {
  for (let seed = 1; seed <= SEEDS_MAX; seed += 1) {
    const { violations } = await runWorld({ seed, executor, sabotage: sabotage() });
    if (violations.some((violation) => violation.promise === promise)) return seed;
  }
  return null;
}

/** A store that answers through `change`. */
function loading(change: (loaded: Loaded) => Partial<Loaded>): Sabotage {
  return {
    store: (store) =>
      around(store, { load: async (needs) => store.load(needs).then((loaded) => ({ ...loaded, ...change(loaded) })) }),
  };
}

function around(store: Store, changes: Partial<Store>): Store {
  return {
    reader: store.reader,
    acquire: (owner) => store.acquire(owner),
    load: (needs) => store.load(needs),
    loadStart: (run) => store.loadStart(run),
    artifacts: store.artifacts,
    commit: (commit) => store.commit(commit),
    running: (afterSeq, limit) => store.running(afterSeq, limit),
    nextTimer: () => store.nextTimer(),
    close: () => store.close(),
    ...changes,
  };
}

function withoutLastResult(entries: readonly Entry[]): readonly Entry[] {
  const last = entries.findLastIndex(
    (entry) => entry.kind === "completion" || (entry.kind === "command" && entry.result !== undefined),
  );
  const entry = entries[last];
  if (entry?.kind !== "command") return entries.filter((_, place) => place !== last);
  const { result: _, ...open } = entry;
  return entries.with(last, open);
}

const SABOTAGES: Readonly<Record<string, readonly { readonly what: string; readonly make: () => Sabotage }[]>> = {
  E1: [
    {
      what: "a store that acknowledges commits without making them",
      make: () => ({
        store: (store, random) =>
          around(store, { commit: async (commit) => (random.chance(0.1) ? undefined : store.commit(commit)) }),
      }),
    },
    {
      what: "a store that loses what is appended to streams",
      make: () => committing((mutation, random) => (isAppend(mutation) && random.chance(0.05) ? [] : [mutation])),
    },
  ],
  E2: [
    {
      what: "attempts that start without the last journaled result",
      make: () => ({
        store: (store) =>
          around(store, {
            loadStart: async (run) =>
              store.loadStart(run).then((start) => ({ ...start, entries: withoutLastResult(start.entries) })),
          }),
      }),
    },
    {
      what: "a store that appends to streams twice",
      make: () =>
        committing((mutation, random) =>
          isAppend(mutation) && random.chance(0.05)
            ? [mutation, { ...mutation, from: mutation.from + mutation.items.length }]
            : [mutation],
        ),
    },
    {
      what: "a store that forgets what stands in streams",
      make: () => ({
        store: (store) =>
          around(store, {
            load: async (needs) =>
              store.load(needs).then((loaded) => ({
                ...loaded,
                ranges: loaded.ranges.map((range) => ({ ...range, items: range.items.map(() => '"another"') })),
              })),
          }),
      }),
    },
  ],
  E3: [
    {
      what: "keys that always seem to be free",
      make: () =>
        loading(({ keys }) => ({ keys: keys.map((key) => ({ ...key, holder: null, queue: [], more: false })) })),
    },
  ],
  E4: [
    {
      what: "a store that does not look at epochs",
      make: () => {
        let newest = 0;
        return {
          store: (store) =>
            around(store, {
              acquire: async (owner) => {
                const acquired = await store.acquire(owner);
                newest = acquired.epoch;
                return acquired;
              },
              commit: async (commit) => store.commit({ ...commit, epoch: newest }),
            }),
        };
      },
    },
    {
      what: "steps whose writes come twice",
      make: () => ({
        executor: (executor: Executor): Executor => ({
          start: (start, replies) => executor.start(start, stuttering(replies)),
        }),
      }),
    },
  ],
  E5: [
    {
      what: "suspends that are taken without a look at what came meanwhile",
      make: () => ({
        executor: (executor: Executor): Executor => ({
          start: (start, replies) => executor.start(start, deaf(replies)),
        }),
      }),
    },
    {
      what: "notifications that are lost on the way to the attempt",
      make: () => ({
        executor: (executor: Executor): Executor => ({
          start: (start, replies) => {
            const attempt = executor.start(start, replies);
            const notify = attempt.notify.bind(attempt);
            return Object.assign(attempt, {
              notify: (entries: readonly Entry[]) => notify(entries.filter((entry) => entry.kind !== "signal")),
            });
          },
        }),
      }),
    },
  ],
  E6: [
    {
      what: "a loop whose clock is ahead",
      make: () => ({
        clock: (clock: Clock): Clock => ({
          now: () => clock.now() + 150,
          wakeAt: (at, callback) => clock.wakeAt(at - 150, callback),
        }),
      }),
    },
  ],
  E7: [
    {
      what: "cancels that do not find the children",
      make: () => loading(({ children }) => ({ children: children.map(({ parent }) => ({ parent, children: [] })) })),
    },
  ],
  E8: [
    {
      what: "a clock that forgets to call back",
      make: () => ({
        clock: (clock, random) => ({
          now: () => clock.now(),
          wakeAt: (at, callback) => clock.wakeAt(at, () => (random.chance(0.3) ? undefined : callback())),
        }),
      }),
    },
    {
      what: "a start that does not look for what was running",
      make: () => ({ store: (store) => around(store, { running: async () => [] }) }),
    },
  ],
  E9: [
    {
      what: "idempotency keys that name another run after each start",
      make: () => {
        let starts = 0;
        return {
          environment: (environment) => {
            const start = ++starts;
            return {
              ...bound(environment),
              idempotentId: (target: Target, key: string) => environment.idempotentId(target, `${key} ${start}`),
            };
          },
        };
      },
    },
  ],
};

const FORK_SABOTAGES: typeof SABOTAGES = {
  F1: [{ what: "copies that begin with something else", make: () => committing(forged) }],
  F2: [
    {
      what: "forks that nobody tells of the end of what they share",
      make: () => {
        const forks = new Set<RunId>();
        return committing((mutation) => {
          if (mutation.type === "insertRun" && mutation.run.forkedFrom !== null) forks.add(mutation.run.id);
          return mutation.type === "addWaiter" && forks.has(mutation.waiter.run) ? [] : [mutation];
        });
      },
    },
  ],
};

/** The first entry of a copy is another. */
function forged(mutation: Mutation): readonly Mutation[] {
  if (mutation.type !== "appendEntry" || mutation.entry.index !== 1 || mutation.entry.kind !== "signal")
    return [mutation];
  return [{ ...mutation, entry: { ...mutation.entry, at: mutation.entry.at + 1 } }];
}

/** Code under the SDK cannot be captured here. */
const IMAGE_SABOTAGES: typeof SABOTAGES = {
  E4: [
    {
      what: "images of an attempt that is over, said in the name of the next",
      make: () => {
        const captured = new Map<RunId, CapturedImage>();
        return imaging((image, start, replies) => {
          replies(captured.get(start.run) ?? image);
          captured.set(start.run, image);
        });
      },
    },
  ],
  E10: [
    {
      what: "images that are taken for newer than they are",
      make: () => imaging((image, _, replies) => replies({ ...image, entry: image.entry + 1 })),
    },
    {
      what: "an image that outlives the entries it has seen",
      make: () => {
        const kept = new Map<RunId, StartImage>();
        return {
          store: (store) =>
            around(store, { loadStart: async (run) => outliving(kept, run.id, await store.loadStart(run)) }),
        };
      },
    },
    {
      what: "a store that forgets to drop images",
      make: () => committing((mutation) => (mutation.type === "dropImages" ? [] : [mutation])),
    },
  ],
  C2: [
    {
      what: "entries after the image that begin one too late",
      make: () => ({
        store: (store) =>
          around(store, {
            loadStart: async (run) => {
              const start = await store.loadStart(run);
              return start.image === null ? start : { ...start, entries: start.entries.slice(1) };
            },
          }),
      }),
    },
  ],
};

function imaging(
  say: (image: CapturedImage, start: AttemptStart, reply: (image: CapturedImage) => void) => void,
): Sabotage {
  return {
    executor: (executor: Executor): Executor => ({
      start: (start, replies) =>
        executor.start(start, {
          ...deaf(replies),
          suspend: (awaiting, entriesSeen) => replies.suspend(awaiting, entriesSeen),
          image: (image) => say(image, start, (said) => replies.image(said)),
        }),
    }),
  };
}

/** The newest image that there ever was. */
function outliving(kept: Map<RunId, StartImage>, run: RunId, start: LoadedStart): LoadedStart {
  const old = kept.get(run);
  if (start.image !== null && start.image.info.entry >= (old?.info.entry ?? 0)) kept.set(run, start.image);
  const image = kept.get(run);
  if (image === undefined) return start;
  return { ...start, image, entries: start.entries.filter(({ index }) => index > image.info.entry), state: null };
}

type AppendStream = Extract<Mutation, { type: "appendStream" }>;

/** Of what a journal tells. */
function isAppend(mutation: Mutation): mutation is AppendStream {
  return mutation.type === "appendStream" && mutation.writer === null;
}

/** A store that makes other mutations of what it is to commit. */
function committing(change: (mutation: Mutation, random: Random) => readonly Mutation[]): Sabotage {
  return {
    store: (store, random) =>
      around(store, {
        commit: (commit) =>
          store.commit({ ...commit, mutations: commit.mutations.flatMap((mutation) => change(mutation, random)) }),
      }),
  };
}

function stuttering(replies: AttemptReplies): AttemptReplies {
  return {
    ...deaf(replies),
    suspend: (awaiting, entriesSeen) => replies.suspend(awaiting, entriesSeen),
    append: (stream, items, writer) => {
      replies.append(stream, items, writer);
      replies.append(stream, items, writer);
    },
  };
}

/** The methods: a copy of the object would leave its private fields behind. */
function bound(environment: Environment): Environment {
  return {
    mode: (target) => environment.mode(target),
    listens: (target) => environment.listens(target),
    unknownTarget: (target) => environment.unknownTarget(target),
    childId: (parent, incarnation, command, target) => environment.childId(parent, incarnation, command, target),
    idempotentId: (target, key) => environment.idempotentId(target, key),
    workflowId: (service, key) => environment.workflowId(service, key),
    retryPolicy: (target) => environment.retryPolicy(target),
    retentionMs: (target) => environment.retentionMs(target),
    deployment: (target) => environment.deployment(target),
  };
}

function deaf(replies: AttemptReplies): AttemptReplies {
  return {
    command: (id, command, result, items) => replies.command(id, command, result, items),
    append: (stream, items, writer) => replies.append(stream, items, writer),
    propose: (id, result) => replies.propose(id, result),
    retrying: (id, tries, failure, retryAt) => replies.retrying(id, tries, failure, retryAt),
    end: (result) => replies.end(result),
    suspend: (awaiting) => replies.suspend(awaiting, Number.MAX_SAFE_INTEGER),
    error: (failure) => replies.error(failure),
    image: (image) => replies.image(image),
    imageUnusable: (failure) => replies.imageUnusable(failure),
  };
}

describe("a broken engine is caught", () => {
  for (const [promise, sabotages] of Object.entries(SABOTAGES)) {
    for (const { what, make } of sabotages) {
      for (const executor of ["script", "sdk"] as const) {
        test(`${promise}, ${executor}: ${what}`, async () => {
          const seed = await firstCatch(make, promise, executor);
          expect(seed, `no world of ${SEEDS_MAX} shows it`).not.toBeNull();
        });
      }
    }
  }

  for (const [promise, sabotages] of [...Object.entries(IMAGE_SABOTAGES), ...Object.entries(FORK_SABOTAGES)]) {
    for (const { what, make } of sabotages) {
      test(`${promise}: ${what}`, async () => {
        const seed = await firstCatch(make, promise, "script");
        expect(seed, `no world of ${SEEDS_MAX} shows it`).not.toBeNull();
      });
    }
  }

  test("an assertion of the engine is a finding", async () => {
    const sabotage: Sabotage = {
      store: (store) => around(store, { load: () => Promise.reject(new AssertionError("broken")) }),
    };
    const { violations } = await runWorld({ seed: 1, sabotage });
    expect(violations[0]?.text).toContain("broken");
  });
});
