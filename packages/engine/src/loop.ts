// The loop: load, decide, commit, act
// ===================================
// One loop drives one partition. Events gather while a batch is being made durable; one flush serves them all.
//
//   idle ─▶ running ─▶ draining ─▶ stopped
//              └──────────────────▶ failed (a commit or a decision failed: everything live is dropped)
//
// L1. An action is taken only after the commit of its batch was fulfilled.
// L2. There is one batch at a time.
// L3. After a failed commit the view is worth nothing: attempts are aborted, askers are told, and the host starts a new
//     loop, which takes the partition under a new epoch and goes on from what is stored.
// L4. Every run in status `running` has an attempt, or stands in the ready list, or is found by the next refill (E8).

import { assert, AssertionError, type Executor, type Instant, type RunId, type Run } from "@perdure/protocol";
import type { Action } from "./actions.ts";
import { AttemptHandle } from "./attempt-handle.ts";
import { Batch, type Counters } from "./batch.ts";
import { decide } from "./decide.ts";
import type { Environment } from "./environment.ts";
import type { EditState, Event, Reply, RunEvent, Submit, Ticket } from "./events.ts";
import { checkLimits, DEFAULT_LIMITS, type Limits } from "./limits.ts";
import { NeedsFinder } from "./needs.ts";
import type { Clock, Observer, Scheduler } from "./ports.ts";
import { ReadyList } from "./ready-list.ts";
import type { LoadedStart, Needs, Store } from "./store.ts";
import { type LiveAttempt, streamsOf, View } from "./view.ts";

export interface LoopOptions {
  readonly store: Store;
  readonly executor: Executor;
  readonly environment: Environment;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly observer?: Observer;
  readonly limits?: Partial<Limits>;
  /** Called once, when the loop has failed. */
  readonly onFailure?: (error: unknown) => void;
  /** How often finished runs are looked at for retention. */
  readonly retentionEveryMs?: number;
}

export type Question = Omit<Submit, "ticket"> | Omit<EditState, "ticket"> | DistributiveOmit<RunEvent, "ticket">;
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

interface Asker {
  /** The run whose end it waits for. */
  watches: RunId | null;
  resolve(reply: Reply): void;
  reject(error: unknown): void;
}

export interface LoopFigures {
  readonly live: number;
  readonly ready: number;
  readonly queued: number;
  /** Askers who have no answer yet. */
  readonly watchers: number;
  /** What is held in memory. */
  readonly attempts: number;
  readonly hotRuns: number;
  readonly hotKeys: number;
}

export type LoopState = "idle" | "running" | "draining" | "stopped" | "failed";

const RETENTION_EVERY_MS = 60_000;
/** Between two requests to blocked attempts to make room. */
const YIELD_EVERY_MS = 20;
/** An attempt that is busy now may be blocked later, and says nothing then: it is asked again. */
const ROOM_RETRY_MS = 100;

export class Loop {
  readonly #store: Store;
  readonly #executor: Executor;
  readonly #environment: Environment;
  readonly #clock: Clock;
  readonly #scheduler: Scheduler;
  readonly #observer: Observer | undefined;
  readonly #onFailure: ((error: unknown) => void) | undefined;
  readonly #retentionEveryMs: number;
  #limits: Limits;
  #state: LoopState = "idle";
  #epoch = 0;
  #view = new View();
  #counters: Counters = { seq: 0, arrival: 0, attempt: 0, live: 0, ready: 0 };
  #queue: Event[] = [];
  #busy = false;
  #scheduled = false;
  #ticket = 0;
  readonly #askers = new Map<Ticket, Asker>();
  readonly #watchers = new Map<RunId, { readonly ticket: Ticket; readonly existing: boolean }[]>();
  readonly #attempts = new Map<RunId, AttemptHandle>();
  readonly #ready: ReadyList;
  /** Runs whose `begin` is not decided yet: they will take up room. */
  readonly #beginning = new Set<RunId>();
  #armed: { readonly at: Instant; readonly cancel: () => void } | null = null;
  #cancelRetention: (() => void) | null = null;
  #yieldedAt = 0;
  #cancelRoom: (() => void) | null = null;
  #idleWaiters: (() => void)[] = [];

  constructor(options: LoopOptions) {
    this.#store = options.store;
    this.#executor = options.executor;
    this.#environment = options.environment;
    this.#clock = options.clock;
    this.#scheduler = options.scheduler;
    this.#observer = options.observer;
    this.#onFailure = options.onFailure;
    this.#retentionEveryMs = options.retentionEveryMs ?? RETENTION_EVERY_MS;
    this.#limits = checkLimits({ ...DEFAULT_LIMITS, ...options.limits });
    this.#ready = new ReadyList(this.#store, this.#limits.readyRunsMax);
  }

  get state(): LoopState {
    return this.#state;
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** Figures for metrics. */
  get figures(): LoopFigures {
    const { runs, keys } = this.#view;
    return {
      live: this.#counters.live,
      ready: this.#ready.size,
      queued: this.#queue.length,
      watchers: this.#askers.size,
      attempts: this.#attempts.size,
      hotRuns: runs.size,
      hotKeys: keys.size,
    };
  }

  /** Takes the partition and goes on with everything that was under way. */
  async start(owner: string): Promise<void> {
    assert(this.#state === "idle", "a loop starts once");
    const acquired = await this.#store.acquire(owner);
    if (this.#isClosed()) return; // Stopped meanwhile.
    this.#epoch = acquired.epoch;
    this.#counters.seq = acquired.lastSeq;
    this.#counters.arrival = acquired.lastArrival;
    this.#state = "running";
    try {
      await this.#ready.refill((id) => this.#attempts.has(id));
      await this.#rearm();
    } catch (error) {
      this.#fail(error); // It must not take questions and leave what is stored where it is.
      throw error;
    }
    if (this.#isClosed()) return;
    this.#planRetention(this.#retentionEveryMs, 0);
    this.#fillRoom();
  }

  #isClosed(): boolean {
    return this.#state === "stopped" || this.#state === "failed";
  }

  /** Decides a question in the next batch; the answer comes when it is durable, or when the run has ended (`await`). */
  ask(question: Question, onAsked?: (withdraw: () => void) => void): Promise<Reply> {
    if (this.#state !== "running" && this.#state !== "draining")
      return Promise.reject(new LoopClosedError(this.#state));
    const ticket = ++this.#ticket;
    return new Promise((resolve, reject) => {
      this.#askers.set(ticket, { resolve, reject, watches: null });
      this.enqueue({ ...question, ticket } as Event);
      onAsked?.(() => this.#withdraw(ticket));
    });
  }

  /** The asker has gone: what it asked for happens all the same, but nothing is kept to answer it. */
  #withdraw(ticket: Ticket): void {
    const run = this.#askers.get(ticket)?.watches ?? null;
    this.#askers.delete(ticket);
    if (run === null) return;
    const others = (this.#watchers.get(run) ?? []).filter((watcher) => watcher.ticket !== ticket);
    if (others.length > 0) this.#watchers.set(run, others);
    else this.#watchers.delete(run);
  }

  enqueue(event: Event): void {
    if (this.#state !== "running" && this.#state !== "draining") return;
    this.#queue.push(event);
    this.#schedule();
  }

  /** The live attempt of a run, for people who look at what it waits for. */
  attempt(run: RunId): AttemptHandle | undefined {
    return this.#attempts.get(run);
  }

  /**
   * Ends in order: nothing new begins, blocked attempts suspend, steps under way may finish until `giveUp` is called;
   * what is still live then goes on at the next start.
   */
  async drain(waitAtMost: (giveUp: () => void) => void): Promise<void> {
    if (this.#state !== "running") return;
    this.#state = "draining";
    this.#limits = { ...this.#limits, attemptsLiveMax: 1 };
    this.#ready.close(); // Launches from now on find no room, and nobody begins the ready ones.
    for (const attempt of this.#attempts.values()) attempt.yield();
    await new Promise<void>((resolve) => {
      this.#idleWaiters.push(resolve);
      waitAtMost(resolve);
      this.#checkIdle();
    });
    this.stop();
  }

  /** Ends at once. Everything that is live is aborted; it goes on at the next start. */
  stop(): void {
    if (this.#state === "stopped" || this.#state === "failed") return;
    this.#state = "stopped";
    this.#dropLive("the runtime stops", new LoopClosedError("stopped"));
  }

  #schedule(): void {
    if (this.#scheduled || this.#busy) return;
    this.#scheduled = true;
    this.#scheduler.soon(this.#turn);
  }

  readonly #turn = (): void => {
    this.#scheduled = false;
    if (this.#busy || this.#queue.length === 0) return;
    this.#busy = true;
    this.#cycle().then(
      () => {
        this.#busy = false;
        if (this.#queue.length > 0) this.#schedule();
        else if (this.#state === "draining") this.#checkIdle();
      },
      (error: unknown) => void this.#failCycle(error),
    );
  };

  /**
   * A host that has lost its partition may find that view and store contradict each other before a commit tells it so:
   * then the loss is the reason, not the contradiction (E4).
   */
  async #failCycle(error: unknown): Promise<void> {
    const reason =
      error instanceof AssertionError
        ? await this.#store.commit({ epoch: this.#epoch, mutations: [] }).then(
            () => error,
            (refused: unknown) => refused,
          )
        : error;
    this.#busy = false;
    this.#fail(reason);
  }

  async #cycle(): Promise<void> {
    const events = this.#take();
    const batch = new Batch(this.#view, this.#environment, this.#limits, this.#counters, this.#clock.now());
    for (let needs = new NeedsFinder(batch).find(events); needs !== null; needs = new NeedsFinder(batch).find(events)) {
      await this.#load(batch.view, needs);
      if (this.#isClosed()) return;
    }
    decide(batch, events);
    const mutations = batch.close();
    if (mutations.length > 0) {
      await this.#store.commit({ epoch: this.#epoch, mutations });
      this.#observer?.committed(mutations, batch.now);
    }
    this.#observer?.batch?.(events.length, mutations.length);
    if (this.#isClosed()) return;
    for (const action of batch.actions) this.#act(action, batch.aborted);
    const firedTimers = this.#view.timers !== null;
    this.#view.settle();
    if (this.#beginning.size > 0)
      for (const event of events) if (event.type === "begin") this.#beginning.delete(event.run);
    if (batch.deferred.length > 0) this.#queue.unshift(...batch.deferred);
    if (this.#ready.waiting) this.#fillRoom();
    if (firedTimers) this.#rearm().catch((error: unknown) => this.#fail(error));
  }

  #take(): Event[] {
    const max = this.#limits.batchEventsMax;
    if (this.#queue.length <= max) {
      const events = this.#queue;
      this.#queue = [];
      return events;
    }
    return this.#queue.splice(0, max);
  }

  async #load(view: View, needs: Needs): Promise<void> {
    const loaded = await this.#store.load(needs);
    const asked = { runs: needs.runs, seqs: needs.runsBySeq };
    view.absorb(loaded, asked);
    if (needs.timers !== null) view.timers = loaded.timers;
    if (needs.finished !== null) view.finished = loaded.finished;
  }

  #act(action: Action, aborted: ReadonlySet<number>): void {
    switch (action.type) {
      case "notify":
        if (!aborted.has(action.attempt)) this.#attempts.get(action.run)?.notify(action.entry);
        return;
      case "reply":
        this.#reply(action.ticket, action.reply);
        return;
      case "launch":
        this.#launch(action.run, action.attempt, action.fresh);
        return;
      case "watch": {
        const asker = this.#askers.get(action.ticket);
        if (asker === undefined) return; // Withdrawn before it was decided.
        asker.watches = action.run;
        const list = this.#watchers.get(action.run);
        const watcher = { ticket: action.ticket, existing: action.existing };
        if (list === undefined) this.#watchers.set(action.run, [watcher]);
        else list.push(watcher);
        return;
      }
      case "finished": {
        const watchers = this.#watchers.get(action.run);
        if (watchers === undefined) return;
        this.#watchers.delete(action.run);
        for (const { ticket, existing } of watchers)
          this.#reply(ticket, { type: "finished", run: action.run, existing, result: action.result });
        return;
      }
      case "release":
        this.#attempts.delete(action.run);
        return;
      case "abort":
        this.#attempts.get(action.run)?.abort(action.reason);
        this.#attempts.delete(action.run);
        return;
      case "ready":
        this.#ready.add(action.run);
        this.#counters.ready = this.#ready.size;
        return;
      case "arm":
        this.#arm(action.at);
        return;
      case "imageLost":
        this.#observer?.imageLost?.(action.run, action.entry, action.reason);
        return;
      case "mayMigrate":
        this.#observer?.mayMigrate?.(action.run);
        return;
      case "retentionPage":
        this.#planRetention(action.lastSeq === null ? this.#retentionEveryMs : 0, action.lastSeq ?? 0);
        return;
    }
  }

  #reply(ticket: Ticket, reply: Reply): void {
    const asker = this.#askers.get(ticket);
    if (asker === undefined) return;
    this.#askers.delete(ticket);
    asker.resolve(reply);
  }

  #launch(run: Run, token: number, fresh: boolean): void {
    const handle = new AttemptHandle(run, token, this);
    this.#attempts.set(run.id, handle);
    if (fresh && run.key === null) handle.begin(this.#executor, { image: null, entries: [], state: null });
    else {
      this.#store.loadStart(run).then(
        (start) => this.#begin(handle, run.id, token, start),
        (error: unknown) => this.#fail(error),
      );
    }
  }

  #begin(handle: AttemptHandle, id: RunId, token: number, start: LoadedStart): void {
    for (const { entry, reason } of start.damaged) this.#observer?.imageLost?.(id, entry, reason);
    if (start.damaged.length > 0)
      this.enqueue({ type: "forgetImages", run: id, entries: start.damaged.map(({ entry }) => entry) });
    const run = this.#view.runs.get(id);
    if (run === undefined || run.attempt?.token !== token) return; // Ended before it began.
    run.images ??= start.images;
    startedFrom(start, run.attempt);
    handle.begin(this.#executor, start);
  }

  /** Runs that wait for room get it, as far as there is some; else blocked attempts are asked to make some. */
  #fillRoom(): void {
    if (this.#state !== "running") return;
    const room = this.#limits.attemptsLiveMax - this.#counters.live - this.#beginning.size;
    for (const run of this.#ready.take(room)) {
      this.#beginning.add(run);
      this.enqueue({ type: "begin", run });
    }
    this.#counters.ready = this.#ready.size;
    if (this.#ready.size === 0 && this.#ready.overflowed) this.#refill();
    else if (this.#ready.size > 0 && this.#beginning.size === 0) this.#makeRoom();
  }

  #refill(): void {
    const isTaken = (id: RunId): boolean => this.#attempts.has(id) || this.#beginning.has(id);
    this.#ready.refill(isTaken).then(
      () => this.#fillRoom(),
      (error: unknown) => this.#fail(error),
    );
  }

  #makeRoom(): void {
    const now = this.#clock.now();
    this.#planRoom(now + ROOM_RETRY_MS);
    if (now - this.#yieldedAt < YIELD_EVERY_MS && now >= this.#yieldedAt) return;
    this.#yieldedAt = now;
    let wanted = this.#ready.size;
    for (const attempt of this.#attempts.values()) {
      if (wanted === 0) return;
      if (attempt.awaiting() === null) continue;
      attempt.yield();
      wanted -= 1;
    }
  }

  #planRoom(at: Instant): void {
    this.#cancelRoom ??= this.#clock.wakeAt(at, () => {
      this.#cancelRoom = null;
      this.#fillRoom();
    });
  }

  #arm(at: Instant): void {
    if (this.#armed !== null && this.#armed.at <= at) return;
    this.#armed?.cancel();
    const cancel = this.#clock.wakeAt(at, () => {
      this.#armed = null;
      if (this.#state !== "running" && this.#state !== "draining") return;
      this.enqueue({ type: "timers" });
    });
    this.#armed = { at, cancel };
  }

  /** At the start and after a batch that fired timers: the next one is read from the store, none lives in memory only. */
  async #rearm(): Promise<void> {
    const next = await this.#store.nextTimer();
    if (next !== null && !this.#isClosed()) this.#arm(next);
  }

  #planRetention(inMs: number, afterSeq: number): void {
    this.#cancelRetention?.();
    this.#cancelRetention = this.#clock.wakeAt(this.#clock.now() + inMs, () => {
      this.#cancelRetention = null;
      if (this.#state === "running") this.enqueue({ type: "retention", afterSeq });
    });
  }

  #fail(error: unknown): void {
    if (this.#state === "failed" || this.#state === "stopped") return;
    this.#state = "failed";
    this.#dropLive("the partition failed", error);
    this.#onFailure?.(error);
  }

  #dropLive(reason: string, error: unknown): void {
    this.#armed?.cancel();
    this.#armed = null;
    this.#cancelRetention?.();
    this.#cancelRoom?.();
    this.#queue = [];
    this.#view = new View();
    for (const attempt of this.#attempts.values()) attempt.abort(reason);
    this.#attempts.clear();
    this.#beginning.clear();
    for (const asker of this.#askers.values()) asker.reject(error);
    this.#askers.clear();
    this.#watchers.clear();
    for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }

  #checkIdle(): void {
    if (this.#counters.live > 0 || this.#busy || this.#queue.length > 0) return;
    for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }
}

/** The loop does not take questions in this state. */
export class LoopClosedError extends Error {
  override readonly name = "LoopClosedError";
  readonly state: LoopState;
  constructor(state: LoopState) {
    super(`the engine is ${state}`);
    this.state = state;
  }
}

/** Steps whose command is journaled and whose result is not: only for them a result is accepted (E2). */
function startedFrom({ image, entries }: LoadedStart, attempt: LiveAttempt): void {
  const { open } = attempt;
  if (image !== null) {
    attempt.image = image.info.entry;
    const first = entries.find((entry) => entry.kind === "command");
    attempt.imaged = first === undefined ? attempt.commands : first.id - 1;
  }
  for (const entry of entries) {
    if (entry.kind === "command" && entry.command.type === "step" && entry.result === undefined) {
      open.add(entry.id);
      if (entry.command.into !== undefined) streamsOf(attempt).into.set(entry.id, entry.command.into);
    } else if (entry.kind === "completion") open.delete(entry.id);
  }
}
