// What the event stream has told, for the views
// =============================================
// Events are gathered as they come and taken in together, once per frame: a thousand events a second are sixty changes of
// what is seen, not a thousand. Views read pages from the API and lay what is newer here over them.
//
// L1. Listeners hear of a frame once, after all of its events were taken in.
// L2. A run is here in its newest version: events come in order, and so do versions.
// L3. What is kept is bounded; what was not heard of for longest goes first.
// L4. `epoch` grows when events were missed for good: whatever was read before it may be wrong, and is read anew.

import type { ApiEvent, RunId, RunSummary } from "@perdure/protocol";
import { isFinished } from "@perdure/protocol";
import { usageOf } from "./model-usage.ts";
import { isOwn } from "./own-services.ts";
import { Rates } from "./rates.ts";

export interface LiveOptions {
  /** Calls back before the next frame is drawn. */
  readonly schedule: (flush: () => void) => void;
  /** When events are listened to from; the rates before it are seeded. */
  readonly since?: number;
  readonly runsMax?: number;
  readonly eventsPerFrameMax?: number;
}

export interface LiveUsage {
  readonly tokens: number;
  readonly usd: number;
  readonly calls: number;
}

const RUNS_MAX = 20_000;
/** After a long absence the backlog is taken in over several frames. */
const EVENTS_PER_FRAME_MAX = 4_000;

type FrameListener = (events: readonly ApiEvent[]) => void;

export class LiveStore {
  readonly rates: Rates = new Rates();
  readonly #schedule: (flush: () => void) => void;
  readonly #since: number;
  readonly #runsMax: number;
  readonly #eventsPerFrameMax: number;
  readonly #runs = new Map<RunId, RunSummary>();
  readonly #listeners = new Set<() => void>();
  readonly #frameListeners = new Set<FrameListener>();
  #deleted: ReadonlySet<RunId> = new Set();
  #queue: ApiEvent[] = [];
  #isScheduled = false;
  #isSeeded = false;
  #version = 0;
  #epoch = 0;
  #usage: LiveUsage = { tokens: 0, usd: 0, calls: 0 };

  constructor({
    schedule,
    since = Date.now(),
    runsMax = RUNS_MAX,
    eventsPerFrameMax = EVENTS_PER_FRAME_MAX,
  }: LiveOptions) {
    this.#schedule = schedule;
    this.#since = since;
    this.#runsMax = runsMax;
    this.#eventsPerFrameMax = eventsPerFrameMax;
  }

  // For useSyncExternalStore
  // ------------------------

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Grows with every frame that changed something. */
  readonly version = (): number => this.#version;
  readonly epoch = (): number => this.#epoch;
  /** What models used since this page was opened. */
  readonly usage = (): LiveUsage => this.#usage;
  readonly deleted = (): ReadonlySet<RunId> => this.#deleted;

  run(id: RunId): RunSummary | undefined {
    return this.#runs.get(id);
  }

  /** All that is known here, those first that were heard of last. */
  recent(): readonly RunSummary[] {
    return [...this.#runs.values()].reverse();
  }

  /** Told of the events of each frame, before the views draw. */
  onFrame(listener: FrameListener): () => void {
    this.#frameListeners.add(listener);
    return () => this.#frameListeners.delete(listener);
  }

  // What comes in
  // -------------

  push(events: readonly ApiEvent[]): void {
    for (const event of events) this.#queue.push(event);
    this.#request();
  }

  #request(): void {
    if (this.#isScheduled || this.#queue.length === 0) return;
    this.#isScheduled = true;
    this.#schedule(() => {
      this.#isScheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    const events =
      this.#queue.length <= this.#eventsPerFrameMax ? this.#queue : this.#queue.slice(0, this.#eventsPerFrameMax);
    this.#queue = events === this.#queue ? [] : this.#queue.slice(this.#eventsPerFrameMax);
    if (events.length === 0) return;
    for (const event of events) this.#take(event);
    this.#version += 1;
    for (const listener of this.#frameListeners) listener(events);
    for (const listener of this.#listeners) listener();
    this.#request();
  }

  #take(event: ApiEvent): void {
    switch (event.type) {
      case "run":
        return this.#takeRun(event.run, event.created, Date.parse(event.at));
      case "entry": {
        this.rates.count("entries", Date.parse(event.at));
        const used = usageOf(event.entry);
        if (used !== null) {
          const { tokens, usd, calls } = this.#usage;
          this.#usage = {
            tokens: tokens + used.inputTokens + used.outputTokens,
            usd: usd + used.usd,
            calls: calls + 1,
          };
        }
        return;
      }
      case "deleted":
        this.#runs.delete(event.runId);
        this.#deleted = new Set(this.#deleted).add(event.runId);
        return;
      case "reset":
        this.#epoch += 1;
        this.#runs.clear();
        this.#deleted = new Set();
        return;
      case "promoted":
      case "truncated":
      case "moment":
      case "state":
      case "promise":
      case "overflow":
        return;
    }
  }

  #takeRun(run: RunSummary, created: boolean, at: number): void {
    const before = this.#runs.get(run.id);
    this.#runs.delete(run.id); // L3. It is the last one heard of now.
    this.#runs.set(run.id, run);
    if (this.#runs.size > this.#runsMax) {
      const [oldest] = this.#runs.keys();
      if (oldest !== undefined) this.#runs.delete(oldest);
    }
    if (isOwn(run)) return;
    if (created) this.rates.count("started", at);
    if (isFinished(run.status) && (before === undefined || !isFinished(before.status))) this.#countEnd(run, at);
  }

  #countEnd(run: RunSummary, at: number): void {
    if (run.status === "succeeded") this.rates.count("succeeded", at);
    else if (run.status === "failed") this.rates.count("failed", at);
    else return; // Somebody ended it: neither good nor bad, and how long it took says nothing.
    const start = Date.parse(run.scheduledAt ?? run.createdAt);
    this.rates.latency(at, Math.max(0, at - start));
  }

  /** Runs that were read from the API: what happened before this page was opened. Later things are counted as they are told. */
  seedRates(runs: readonly RunSummary[]): void {
    if (this.#isSeeded) return;
    this.#isSeeded = true;
    for (const run of runs.filter((one) => !isOwn(one))) {
      const created = Date.parse(run.createdAt);
      if (created < this.#since) this.rates.count("started", created);
      const finished = Date.parse(run.finishedAt ?? "");
      if (finished < this.#since) this.#countEnd(run, finished);
    }
  }
}
