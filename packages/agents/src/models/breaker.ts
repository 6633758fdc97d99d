// A circuit breaker: a provider that fails is left alone for a while
// ===================================================================
//
//   closed ──(too many of the last calls failed)──▶ open ──(openMs)──▶ half-open
//     ▲                                              ▲                     │ one call is let through
//     └───────────────(it succeeded)─────────────────┼─────────────────────┤
//                                                    └────(it failed)──────┘
//
// B1. While it is open no call passes; while it is half-open one does, the probe.
// B2. What began in an earlier phase is not heard: a call from before the outage does not close it, nor open it again.
// B3. A probe that ends without a verdict (aborted, refused by a limit) gives its place to the next call.
//
// Our own, as time has to come from the ports: it runs on the simulator's clock.

import type { ModelErrorKind } from "./model-error.ts";
import { SteadyClock } from "./steady-clock.ts";

export interface BreakerOptions {
  /** Over which the failure rate is taken. Default: 30 000. */
  readonly windowMs?: number;
  /** With fewer calls in the window it stays closed. Default: 8. */
  readonly callsMin?: number;
  /** It opens when so many of the calls fail, in (0, 1]. Default: 0.5. */
  readonly failureRate?: number;
  /** Until the next probe. Default: 10 000. */
  readonly openMs?: number;
}

export type BreakerState = "closed" | "open" | "half-open";
/** Of the provider's health. */
export type Verdict = "success" | "none" | { readonly failure: ModelErrorKind };

/** Says how the call that was let through ended. Heard once. */
export type Pass = (verdict: Verdict) => void;

const BUCKETS = 10;

export class Breaker {
  readonly #clock: SteadyClock;
  readonly #openMs: number;
  readonly #callsMin: number;
  readonly #failureRate: number;
  readonly #bucketMs: number;
  readonly #openListeners: Set<() => void> = new Set();
  #state: BreakerState = "closed";
  /** Counts the phases (B2). */
  #phase = 0;
  #openUntil = 0;
  #isProbing = false;
  #lastFailure: ModelErrorKind = "server";
  #buckets: { slot: number; calls: number; failures: number }[] = [];

  constructor(now: () => number, options: BreakerOptions = {}) {
    this.#clock = new SteadyClock(now);
    this.#openMs = options.openMs ?? 10_000;
    this.#callsMin = options.callsMin ?? 8;
    this.#failureRate = options.failureRate ?? 0.5;
    this.#bucketMs = (options.windowMs ?? 30_000) / BUCKETS;
  }

  get state(): BreakerState {
    if (this.#state === "open" && this.#clock.now() >= this.#openUntil) this.#enter("half-open");
    return this.#state;
  }

  /** What it was that failed last. */
  get lastFailure(): ModelErrorKind {
    return this.#lastFailure;
  }

  /** How long no call will pass; 0 where one would pass now. */
  get refusesForMs(): number {
    switch (this.state) {
      case "closed":
        return 0;
      case "open":
        return this.#openUntil - this.#clock.now();
      case "half-open":
        return this.#isProbing ? this.#openMs : 0; // If the probe fails, that is when the next one goes.
    }
  }

  /** Undefined where no call may pass. */
  pass(): Pass | undefined {
    if (this.refusesForMs > 0) return undefined;
    const phase = this.#phase;
    const isProbe = this.#state === "half-open";
    if (isProbe) this.#isProbing = true;
    let isHeard = false;
    return (verdict) => {
      if (isHeard || phase !== this.#phase) return;
      isHeard = true;
      if (typeof verdict === "object") this.#lastFailure = verdict.failure;
      if (isProbe) this.#probed(verdict);
      else this.#counted(verdict);
    };
  }

  /** Calls back each time that it opens. @returns what stops that. */
  onOpen(listener: () => void): () => void {
    this.#openListeners.add(listener);
    return () => this.#openListeners.delete(listener);
  }

  #probed(verdict: Verdict): void {
    this.#isProbing = false;
    if (verdict === "success") this.#enter("closed");
    else if (verdict !== "none") this.#enter("open");
  }

  #counted(verdict: Verdict): void {
    if (verdict === "none") return;
    const slot = Math.floor(this.#clock.now() / this.#bucketMs);
    this.#buckets = this.#buckets.filter((bucket) => bucket.slot > slot - BUCKETS);
    let current = this.#buckets.at(-1);
    if (current?.slot !== slot) {
      current = { slot, calls: 0, failures: 0 };
      this.#buckets.push(current);
    }
    current.calls += 1;
    if (verdict === "success") return;
    current.failures += 1;
    const sum = (of: "calls" | "failures") => this.#buckets.reduce((total, bucket) => total + bucket[of], 0);
    const calls = sum("calls");
    if (calls >= this.#callsMin && sum("failures") / calls >= this.#failureRate) this.#enter("open");
  }

  #enter(state: BreakerState): void {
    this.#state = state;
    this.#phase += 1;
    this.#isProbing = false;
    this.#buckets = [];
    if (state !== "open") return;
    this.#openUntil = this.#clock.now() + this.#openMs;
    for (const listener of this.#openListeners) listener();
  }
}
