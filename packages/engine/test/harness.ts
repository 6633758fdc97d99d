// A loop under the hands of a test: the memory store, a clock that only the test moves, and an executor whose attempts
// say exactly what the test lets them say.

import type {
  Attempt,
  AttemptReplies,
  AttemptStart,
  Entry,
  Executor,
  HandlerMode,
  Result,
  RunId,
  Target,
} from "@perdure/protocol";
import { DEFAULT_RETRY, encodeRunId, UnknownTargetError } from "@perdure/protocol";
import { createMemoryStorage, openMemoryStore, type MemoryStorage } from "../src/memory-store.ts";
import { Loop, type Question } from "../src/loop.ts";
import type { Environment } from "../src/environment.ts";
import type { Reply } from "../src/events.ts";
import type { Limits } from "../src/limits.ts";
import type { Clock, Scheduler } from "../src/ports.ts";
import type { Needs, Store } from "../src/store.ts";

export interface ManualAttempt {
  readonly start: AttemptStart;
  readonly replies: AttemptReplies;
  /** Entries that the engine sent, in order. */
  readonly notified: Entry[];
  aborted: string | null;
  yielded: boolean;
}

export interface World {
  readonly storage: MemoryStorage;
  readonly loop: Loop;
  /** All attempts ever started, in order. */
  readonly attempts: ManualAttempt[];
  now: number;
  readonly failures: unknown[];
  /** Images that were found to be of no use. */
  readonly lost: { readonly run: RunId; readonly entry: number; readonly reason: string }[];
  /** Lets the loop work until it has nothing left to do. */
  settle(): Promise<void>;
  ask(question: Question): Promise<Reply>;
  submit(
    target: Target,
    options?: { id?: string; idempotencyKey?: string; startAt?: number; await?: boolean },
  ): Promise<RunId>;
  /** Attempts of a run, oldest first. */
  of(run: RunId): ManualAttempt[];
  latest(run: RunId): ManualAttempt;
  journal(run: RunId): Promise<readonly Entry[]>;
  advance(ms: number): Promise<void>;
}

const MODES: Readonly<Record<string, HandlerMode>> = {
  service: "service",
  object: "exclusive",
  view: "shared",
  flow: "workflow",
};

let ids = 0;

function runId(seed: string): RunId {
  const bytes = new Uint8Array(24);
  for (let i = 0; i < seed.length; i += 1)
    bytes[23 - (i % 24)] = ((bytes[23 - (i % 24)] ?? 0) * 31 + seed.charCodeAt(i)) & 255;
  return encodeRunId(bytes);
}

export const environment: Environment = {
  mode: (target) => MODES[target.service] ?? null,
  listens: (target) => target.handler === "listen",
  unknownTarget: (target) => new UnknownTargetError(`there is no ${target.service}/${target.handler}`).toFailure(),
  childId: (parent, generation, command) => runId(`${parent}/${generation}/${command}`),
  idempotentId: (target, key) => runId(`idem/${target.service}/${target.key ?? ""}/${target.handler}/${key}`),
  workflowId: (service, key) => runId(`flow/${service}/${key}`),
  retryPolicy: () => ({ ...DEFAULT_RETRY, maxAttempts: 3 }),
  retentionMs: () => 1_000,
  deployment: () => "d1",
};

/** Callbacks that wait for a turn or for a time; the test lets them go. */
class Surroundings {
  #soon: (() => void)[] = [];
  #alarms: { readonly at: number; readonly callback: () => void }[] = [];

  readonly scheduler: Scheduler = { soon: (callback) => void this.#soon.push(callback) };

  clock(now: () => number): Clock {
    return {
      now,
      wakeAt: (at, callback) => {
        const alarm = { at, callback };
        this.#alarms.push(alarm);
        return () => void (this.#alarms = this.#alarms.filter((other) => other !== alarm));
      },
    };
  }

  async settle(now: () => number): Promise<void> {
    for (let idle = 0; idle < 3; ) {
      const callbacks = this.#soon;
      this.#soon = [];
      const due = this.#alarms.filter((alarm) => alarm.at <= now());
      this.#alarms = this.#alarms.filter((alarm) => alarm.at > now());
      for (const callback of callbacks) callback();
      for (const alarm of due) alarm.callback();
      await new Promise<void>((resolve) => void setImmediate(resolve));
      idle = callbacks.length + due.length > 0 ? 0 : idle + 1;
    }
  }
}

function manualExecutor(attempts: ManualAttempt[]): Executor {
  return {
    start(start, replies): Attempt {
      const attempt: ManualAttempt = { start, replies, notified: [], aborted: null, yielded: false };
      attempts.push(attempt);
      return {
        notify: (entries) => void attempt.notified.push(...entries),
        abort: (reason) => void (attempt.aborted = reason),
        awaiting: () => null,
        yield: () => void (attempt.yielded = true),
      };
    },
  };
}

type SubmitOptions = NonNullable<Parameters<World["submit"]>[1]>;

function submission(target: Target, options: SubmitOptions): Extract<Question, { type: "submit" }> {
  const { idempotencyKey } = options;
  const derived =
    idempotencyKey !== undefined
      ? environment.idempotentId(target, idempotencyKey)
      : target.service === "flow"
        ? environment.workflowId(target.service, target.key ?? "")
        : null;
  return {
    type: "submit",
    run: derived ?? runId(options.id ?? `fresh-${++ids}`),
    fresh: derived === null,
    target,
    input: null,
    headers: null,
    idempotencyKey: idempotencyKey ?? null,
    startAt: options.startAt ?? null,
    await: false,
  };
}

function noting(store: Store, onLoad: (needs: Needs) => void): Store {
  const load = store.load.bind(store);
  return Object.assign(store, {
    load: (needs: Needs) => {
      onLoad(needs);
      return load(needs);
    },
  });
}

export async function openWorld(
  options: {
    storage?: MemoryStorage;
    limits?: Partial<Limits>;
    now?: number;
    /** Told of every load. */
    onLoad?: (needs: Needs) => void;
  } = {},
): Promise<World> {
  const storage = options.storage ?? createMemoryStorage();
  const attempts: ManualAttempt[] = [];
  const failures: unknown[] = [];
  const surroundings = new Surroundings();
  const now = (): number => world.now;
  const loop = new Loop({
    store: options.onLoad === undefined ? openMemoryStore(storage) : noting(openMemoryStore(storage), options.onLoad),
    executor: manualExecutor(attempts),
    environment,
    clock: surroundings.clock(now),
    scheduler: surroundings.scheduler,
    ...(options.limits === undefined ? {} : { limits: options.limits }),
    observer: {
      committed: () => undefined,
      imageLost: (run, entry, reason) => void world.lost.push({ run, entry, reason }),
    },
    onFailure: (error) => void failures.push(error),
  });
  const world: World = {
    storage,
    loop,
    attempts,
    failures,
    lost: [],
    now: options.now ?? 1_000_000,
    settle: () => surroundings.settle(now),
    async ask(question) {
      const reply = loop.ask(question);
      await world.settle();
      return reply;
    },
    async submit(target, extra = {}) {
      const question = submission(target, extra);
      await world.ask(question);
      return question.run;
    },
    of: (run) => attempts.filter((attempt) => attempt.start.run === run),
    latest(run) {
      const attempt = world.of(run).at(-1);
      if (attempt === undefined) throw new Error(`no attempt of ${run}`);
      return attempt;
    },
    journal: (run) => openMemoryStore(storage).reader.journal(run, 0, 1_000),
    async advance(ms) {
      world.now += ms;
      await world.settle();
    },
  };
  await loop.start("test");
  await world.settle();
  return world;
}

export const value = (json: string): Result => ({ kind: "value", value: json });

export const step = (name: string): { readonly type: "step"; readonly name: string } => ({ type: "step", name });
