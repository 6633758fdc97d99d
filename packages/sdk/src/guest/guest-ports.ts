// The ports of an attempt inside an isolate: pieces of work, timers by number, and the two clocks.

import type { DurationMs, Instant } from "@perdure/protocol";
import { AssertionError } from "@perdure/protocol";
import type { StepInfo } from "../context/options.ts";
import type { AbortControllerLike, FetchAnswer, FetchRequest, LogRecord, SdkPorts } from "../ports.ts";
import type { GuestOutbox } from "./guest-outbox.ts";

/** The host's own function, which no module of the user names. */
export const HOST_FETCH = "perdure#fetch";

function noHost(target: string): Promise<never> {
  return Promise.reject(new AssertionError(`${target} was called before the guest was there`));
}

declare const AbortController: new () => AbortControllerLike;

/** What the host gives into an isolate that answers at once. */
export interface HostFunctions {
  /** Milliseconds since the epoch, as `Date` inside gives them from now on. */
  setClock(ms: number): void;
  randomHex(bytes: number): string;
}

export class GuestPorts implements SdkPorts {
  /** The time of the event that the host gave last. */
  time: Instant = 0;
  /** Set by the guest, whose calls are made of these ports. */
  callHost: (target: string, args: readonly unknown[]) => Promise<unknown> = noHost;
  readonly #outbox: GuestOutbox;
  readonly #setClock: HostFunctions["setClock"];
  readonly #randomHex: HostFunctions["randomHex"];
  /** Of the entry that was delivered last: what handler code reads (G2). */
  #journalTime: Instant = 0;
  #afterJobs: (() => void)[] = [];
  #steps: (() => void)[] = [];
  readonly #timers = new Map<number, () => void>();
  #lastTimer = 0;
  #inStep = false;

  constructor(outbox: GuestOutbox, host: HostFunctions) {
    this.#outbox = outbox;
    this.#setClock = host.setClock;
    this.#randomHex = host.randomHex;
  }

  now(): Instant {
    return this.time;
  }

  /** Real chance: for steps, and the jitter of their retries. */
  random(): number {
    return Number.parseInt(this.#randomHex(6), 16) / 2 ** 48;
  }

  randomBytes(count: number): Uint8Array {
    const hex = this.#randomHex(count);
    return Uint8Array.from({ length: count }, (_, at) => Number.parseInt(hex.slice(2 * at, 2 * at + 2), 16));
  }

  /** Called by the host when no job is left; so it runs after them. */
  afterMicrotasks(callback: () => void): void {
    this.#afterJobs.push(callback);
  }

  beginStep(begin: () => void): void {
    this.#steps.push(begin);
  }

  delivering(at: Instant): void {
    this.#journalTime = at;
    if (!this.#inStep) this.#setClock(at);
  }

  insideStep(): boolean {
    return this.#inStep;
  }

  delay(ms: DurationMs, callback: () => void): () => void {
    this.#lastTimer += 1;
    const timer = this.#lastTimer;
    this.#timers.set(timer, callback);
    this.#outbox.add({ type: "setTimer", timer, ms });
    return () => {
      if (this.#timers.delete(timer)) this.#outbox.add({ type: "clearTimer", timer });
    };
  }

  fired(timer: number): void {
    const callback = this.#timers.get(timer);
    this.#timers.delete(timer);
    callback?.();
  }

  fetch(request: FetchRequest, info: StepInfo): Promise<FetchAnswer> {
    return this.callHost(HOST_FETCH, [request, info]) as Promise<FetchAnswer>;
  }

  createAbortController(): AbortControllerLike {
    return new AbortController();
  }

  log(record: LogRecord): void {
    const { level, message, fields } = record;
    this.#outbox.add(fields === undefined ? { type: "log", level, message } : { type: "log", level, message, fields });
  }

  /** Runs a piece of a step (G1): until the next piece begins, what runs is the step's. */
  inStep(body: () => void): void {
    this.#setInStep(true);
    body();
  }

  /** Begins the next piece. False: there is none. */
  next(): boolean {
    const after = this.#afterJobs;
    if (after.length > 0) {
      this.#afterJobs = [];
      this.#setInStep(false);
      for (const callback of after) callback();
      return true;
    }
    const begin = this.#steps.shift();
    this.#setInStep(begin !== undefined);
    begin?.();
    return begin !== undefined;
  }

  /** G3. */
  resume(): void {
    this.#timers.clear();
    this.#steps = [];
    this.#afterJobs = [];
    this.#inStep = false;
    this.#setClock(this.#journalTime);
  }

  #setInStep(inStep: boolean): void {
    if (inStep === this.#inStep && !inStep) return;
    this.#inStep = inStep;
    this.#setClock(inStep ? this.time : this.#journalTime);
  }
}
