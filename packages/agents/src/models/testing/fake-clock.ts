// A clock that tests move. Timers fire in the order of their times, and everything that they set off has run before the next
// one does.

import type { GatewayPorts } from "../types.ts";

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

export class FakeClock implements GatewayPorts {
  #now: number;
  #timers: Timer[] = [];
  /** What `random` answers. */
  chance = 0.5;

  constructor(now: number = Date.parse("2026-01-01T00:00:00Z")) {
    this.#now = now;
  }

  readonly now = (): number => this.#now;
  readonly random = (): number => this.chance;
  readonly delay = (ms: number, callback: () => void): (() => void) => {
    const timer = { at: this.#now + ms, callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  };

  get pending(): number {
    return this.#timers.length;
  }

  /** The wall clock is set; timers go by what is left of their time. */
  set(now: number): void {
    const shift = now - this.#now;
    this.#timers = this.#timers.map((timer) => ({ ...timer, at: timer.at + shift }));
    this.#now = now;
  }

  /** Time passes, without waiting for anything that is not a timer. */
  pass(ms: number): void {
    const end = this.#now + ms;
    for (let next = this.#next(); next !== undefined && next.at <= end; next = this.#next()) this.#fire(next);
    this.#now = end;
  }

  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await turn();
    for (let next = this.#next(); next !== undefined && next.at <= end; next = this.#next()) {
      this.#fire(next);
      await turn();
    }
    this.#now = end;
    await turn();
  }

  /** Jumps from timer to timer until the promise is settled. */
  async until<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const settle = () => {
      isSettled = true;
    };
    promise.then(settle, settle);
    for (;;) {
      await turn();
      if (isSettled) return await promise;
      const next = this.#next();
      if (next === undefined) throw new Error("nothing is left to happen, and the promise is not settled");
      this.#fire(next);
    }
  }

  #next(): Timer | undefined {
    return this.#timers.reduce<Timer | undefined>((soonest, timer) => {
      return soonest === undefined || timer.at < soonest.at ? timer : soonest;
    }, undefined);
  }

  #fire(timer: Timer): void {
    this.#timers = this.#timers.filter((other) => other !== timer);
    this.#now = Math.max(this.#now, timer.at);
    timer.callback();
  }
}

/** Everything that is ready has run: promises, and what streams do between them. */
export async function turn(): Promise<void> {
  for (let i = 0; i < 3; i += 1) await new Promise((resolve) => setImmediate(resolve));
}
