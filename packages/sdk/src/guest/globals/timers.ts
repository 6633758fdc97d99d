// setTimeout and its like. What they give is an object, as in Node, since code that is written for Node calls `unref()`; as a
// number it is the id of the host's timer.

import { guestHost } from "../host-port.ts";

type Callback = (...args: readonly unknown[]) => unknown;

const LIVE: Map<number, Timer> = new Map();
let last = 0;

export class Timer {
  /** Its own, and not the host's: an interval has many of those. */
  readonly #id: number;
  readonly #fire: (timer: Timer) => void;
  readonly #ms: number;
  #host: number | undefined;

  constructor(fire: (timer: Timer) => void, ms: number) {
    last += 1;
    this.#id = last;
    this.#fire = fire;
    this.#ms = ms;
    this.arm();
  }

  arm(): void {
    LIVE.set(this.#id, this);
    this.#host = guestHost.setTimer(() => this.#fire(this), this.#ms);
  }

  close(): this {
    LIVE.delete(this.#id);
    if (this.#host !== undefined) guestHost.clearTimer(this.#host);
    this.#host = undefined;
    return this;
  }

  refresh(): this {
    if (!LIVE.has(this.#id)) return this;
    this.close().arm();
    return this;
  }

  /** Nothing is kept alive by a timer: a run that waits for nothing else is over. */
  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }

  [Symbol.toPrimitive](): number {
    return this.#id;
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

export function setTimeout(callback: Callback, ms?: number, ...args: unknown[]): Timer {
  return start("setTimeout", callback, delayOf(ms), args, false);
}

export function setInterval(callback: Callback, ms?: number, ...args: unknown[]): Timer {
  return start("setInterval", callback, delayOf(ms), args, true);
}

export function setImmediate(callback: Callback, ...args: unknown[]): Timer {
  return start("setImmediate", callback, 0, args, false);
}

/** Of all three kinds. */
export function clearTimeout(timer?: unknown): void {
  const found = timer instanceof Timer ? timer : LIVE.get(Number(timer));
  found?.close();
}

function start(name: string, callback: Callback, ms: number, args: readonly unknown[], repeats: boolean): Timer {
  if (typeof callback !== "function")
    throw new TypeError(`${name} takes a function to call, and was given ${typeof callback}`);
  const fire = (timer: Timer): void => {
    if (repeats) timer.arm();
    else LIVE.delete(Number(timer));
    callback(...args);
  };
  return new Timer(fire, ms);
}

/** As in Node, at least one; other than in Node, any length: outside of steps these are sleeps, which may take months. */
function delayOf(ms: unknown): number {
  const wanted = Math.trunc(Number(ms ?? 1));
  return wanted >= 1 ? wanted : 1;
}
