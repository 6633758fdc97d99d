// What all calls of a provider share
// ==================================
// So many at once, so many requests and so many tokens in any sixty seconds; who does not fit waits in a `FairQueue`.
//
//   waiting ──▶ admitted ──▶ settled (with the tokens that were really used)
//      │            └──────▶ forgone (it was never sent, and counts for nothing)
//      └──▶ left
//
// L1. Never more than `concurrency` are admitted at a time.
// L2. Within any sixty seconds never more than `requestsPerMinute` are admitted, nor more than `tokensPerMinute` by what is
//     known when one is admitted. (Tokens that turn out to be more than estimated are a debt, and later calls wait for it.)
// L3. The head of the queue is never overtaken, however small the others are: else a large call would wait for ever. One
//     that is larger than the whole limit is admitted when the window is empty.
// L4. While something waits and nothing is admitted, a timer is armed for the moment at which the head may fit.

import { FairQueue, type Lane, type Place } from "./fair-queue.ts";
import { MinuteWindow, type Use } from "./minute-window.ts";
import { SteadyClock } from "./steady-clock.ts";
import type { GatewayPorts } from "./types.ts";

export interface LimitOptions {
  /** Calls under way at the same time. */
  readonly concurrency?: number;
  readonly requestsPerMinute?: number;
  /** Input and output together. */
  readonly tokensPerMinute?: number;
}

export interface LimiterFigures {
  readonly running: number;
  readonly waiting: Readonly<Record<Lane, number>>;
  /** In the last minute; 0 where no rate is limited. */
  readonly requests: number;
  readonly tokens: number;
}

/** A place in the queue. */
export interface Ticket {
  readonly admitted: Promise<Admission>;
  /** Leaves the queue, and `admitted` rejects with `reason`. False where it was admitted, or has left, already. */
  leave(reason: unknown): boolean;
}

/** Leave to send one request. Ends once: by `settle` or by `forgo`. */
export interface Admission {
  readonly waitedMs: number;
  /** The call is over. @param tokens that it used; the estimate stands where they are not known. */
  settle(tokens: number | undefined): void;
  /** It was not sent after all. */
  forgo(): void;
}

interface Waiting {
  readonly tokens: number;
  readonly since: number;
  readonly admit: (admission: Admission) => void;
}

export class Limiter {
  readonly #ports: Pick<GatewayPorts, "delay">;
  readonly #clock: SteadyClock;
  readonly #concurrency: number;
  readonly #requestsMax: number;
  readonly #tokensMax: number;
  readonly #isRated: boolean;
  readonly #queue: FairQueue<Waiting> = new FairQueue();
  readonly #window: MinuteWindow = new MinuteWindow();
  #running = 0;
  #timer: { readonly at: number; readonly cancel: () => void } | undefined;

  constructor(ports: Pick<GatewayPorts, "now" | "delay">, options: LimitOptions) {
    this.#ports = ports;
    this.#clock = new SteadyClock(() => ports.now());
    this.#concurrency = options.concurrency ?? Number.POSITIVE_INFINITY;
    this.#requestsMax = options.requestsPerMinute ?? Number.POSITIVE_INFINITY;
    this.#tokensMax = options.tokensPerMinute ?? Number.POSITIVE_INFINITY;
    this.#isRated = options.requestsPerMinute !== undefined || options.tokensPerMinute !== undefined;
  }

  /** Without it nobody needs to estimate. */
  get countsTokens(): boolean {
    return this.#tokensMax !== Number.POSITIVE_INFINITY;
  }

  enter(request: { readonly lane: Lane; readonly key: string; readonly tokens: number }): Ticket {
    const { promise, resolve, reject } = Promise.withResolvers<Admission>();
    promise.catch(() => undefined); // Whoever leaves knows it, and need not wait to be told.
    const waiting: Waiting = { tokens: request.tokens, since: this.#clock.now(), admit: resolve };
    const place = this.#queue.push(request.lane, request.key, waiting);
    this.#admitAll();
    return { admitted: promise, leave: (reason) => this.#leave(place, () => reject(reason)) };
  }

  figures(): LimiterFigures {
    this.#window.expire(this.#clock.now());
    return {
      running: this.#running,
      waiting: { interactive: this.#queue.size("interactive"), batch: this.#queue.size("batch") },
      requests: this.#window.requests,
      tokens: this.#window.tokens,
    };
  }

  #leave(place: Place<Waiting>, reject: () => void): boolean {
    if (!this.#queue.remove(place)) return false;
    reject();
    this.#admitAll(); // It may have stood in the way of a smaller one.
    return true;
  }

  #admitAll(): void {
    const now = this.#clock.now();
    this.#window.expire(now);
    for (let next = this.#queue.peek(); next !== undefined && this.#fits(next); next = this.#queue.peek()) {
      this.#queue.shift();
      this.#admit(next, now);
    }
    this.#armTimer(now);
  }

  #fits({ tokens }: Waiting): boolean {
    if (this.#running >= this.#concurrency || this.#window.requests >= this.#requestsMax) return false;
    return this.#window.tokens + tokens <= this.#tokensMax || this.#window.tokens === 0;
  }

  #admit(waiting: Waiting, now: number): void {
    this.#running += 1;
    const use = this.#isRated ? this.#window.add(now, waiting.tokens) : undefined;
    let isOver = false;
    const end = (account: (use: Use) => void) => {
      if (isOver) return;
      isOver = true;
      this.#running -= 1;
      if (use !== undefined) account(use);
      this.#admitAll();
    };
    waiting.admit({
      waitedMs: now - waiting.since,
      settle: (tokens) => end((own) => tokens !== undefined && this.#window.correct(own, tokens)),
      forgo: () => end((own) => this.#window.takeBack(own)),
    });
  }

  /** Only the rates need time to pass; a full house is left by `settle`. */
  #armTimer(now: number): void {
    const isUseless = this.#queue.isEmpty || this.#running >= this.#concurrency;
    const at = isUseless ? undefined : this.#window.nextExpiryAt;
    if (at === this.#timer?.at) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    if (at === undefined) return;
    const cancel = this.#ports.delay(Math.max(1, at - now), () => {
      this.#timer = undefined;
      this.#admitAll();
    });
    this.#timer = { at, cancel };
  }
}
