// A thread of isolates: its instances, their timers, and when they are imaged and let go
// =======================================================================================
//   runs ⇄ waits (warm) ─▶ gone        gone: ended, suspended, failed or aborted
//
// H1. An instance is imaged only where its guest says that it may be, between two turns, so that the image is at an entry.
// H2. What suspends is imaged first, where that is worth it: the image is said before the suspension, and both reach one
//     commit. Where little came since the newest image, that is met again by whoever resumes the run.
// H3. A guest that fails costs itself only: its instance is thrown away, and the others of the thread go on.
//
// It knows nothing of threads but a function to say things with, so that tests may run it in their own.

import { AssertionError, type Entry, failureFrom, type Instant, isPerdureError } from "@perdure/protocol";
import type { CallOutcome, GuestEvent, GuestMessage, Outbox, WireStart } from "@perdure/sdk/wire";
import type { Engine } from "./engine.ts";
import { type BaseImage, encodeBase, sha256 } from "./image-codec.ts";
import { Instance } from "./instance.ts";
import { HOST_FUNCTIONS, hostFunctions } from "./host-functions.ts";
import { MachinePool } from "./machine-pool.ts";
import { migrateInside } from "./migrate-inside.ts";
import { makeBase } from "./make-base.ts";
import type { FromThread, ThreadOptions, ToThread } from "./thread-messages.ts";

/** The time, the timers and the chance of a thread. */
export interface ThreadPorts {
  now(): Instant;
  /** Calls back once; the function that it returns cancels. At most 2^31 - 1 ms are asked. */
  delay(ms: number, callback: () => void): () => void;
  /** The chance of steps. Default: the platform's. */
  randomBytes?(count: number): Buffer;
}

const REAL_TIME: ThreadPorts = {
  now: Date.now,
  delay: (ms, callback) => {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

interface Live {
  readonly attempt: number;
  /** What cancels them, by number. */
  readonly timers: Map<number, () => void>;
  readonly instance: Instance;
  /** The entry of its newest image. */
  imagedAt: number;
  /** The entry of the image that it was started from. */
  readonly startedAt: number;
  /** Of the last turn. */
  imageableAt: number | null;
  waitsSince: number;
  /** Of its code, so far. */
  ranMs: number;
  /** When calls began that have not ended, by their number. */
  readonly calls: Map<number, number>;
  /** A costly call ended since the newest image. */
  costly: boolean;
}

type GuestEventBody = GuestEvent extends infer E ? (E extends GuestEvent ? Omit<E, "now"> : never) : never;

const SWEEPS_PER_WARMTH = 4;
const SWEEP_EVERY_MS_MIN = 10;
const DELAY_MS_MAX = 2_147_483_647;
const MICROSECONDS_PER_MS = 1_000;

export class IsolateThread {
  readonly #engine: Engine;
  readonly #pool: MachinePool;
  readonly #options: ThreadOptions;
  readonly #say: (message: FromThread) => void;
  readonly #bases = new Map<string, BaseImage>();
  readonly #live = new Map<number, Live>();
  /** The live ones that wait, the one that has waited longest first. */
  readonly #waiting = new Set<Live>();
  readonly #ports: ThreadPorts;
  #cancelSweep: (() => void) | undefined = undefined;
  #turns = 0;
  /** So many are to be let go as soon as they wait. */
  #roomOwed = 0;

  constructor(
    engine: Engine,
    options: ThreadOptions,
    say: (message: FromThread) => void,
    ports: ThreadPorts = REAL_TIME,
  ) {
    this.#engine = engine;
    const { randomBytes } = ports;
    this.#pool = new MachinePool(
      engine,
      randomBytes === undefined ? HOST_FUNCTIONS : hostFunctions((count) => randomBytes(count)),
    );
    this.#options = options;
    this.#say = say;
    this.#ports = ports;
  }

  /** So far. */
  get turns(): number {
    return this.#turns;
  }

  hear(message: ToThread): void {
    switch (message.type) {
      case "base":
        this.#bases.set(message.base.hash, message.base);
        return;
      case "makeBase":
        this.#makeBase(message);
        return;
      case "migrateState":
        this.#migrateState(message);
        return;
      case "start":
        this.#start(message.attempt, message.base, message.start, message.image);
        return;
      case "notify":
        this.#with(message.attempt, (live) => this.#notify(live, message.entries));
        return;
      case "callSaid":
        this.#with(message.attempt, (live) =>
          this.#turn(live, { type: "callSaid", call: message.call, said: message.said }),
        );
        return;
      case "callEnded":
        this.#with(message.attempt, (live) => this.#callEnded(live, message.call, message.outcome));
        return;
      case "yield":
        this.#with(message.attempt, (live) => this.#letGo(live));
        return;
      case "makeRoom":
        this.#makeRoom(message.count);
        return;
      case "abort":
        this.#forget(message.attempt);
        return;
    }
  }

  /** Ends everything at once. */
  close(): void {
    this.#cancelSweep?.();
    for (const attempt of [...this.#live.keys()]) this.#forget(attempt);
  }

  #makeBase({ request, code, hash }: Extract<ToThread, { type: "makeBase" }>): void {
    try {
      const made = makeBase(this.#engine, { code, hash });
      const { bytes, hash: baseHash } = encodeBase(made);
      this.#say({ type: "madeBase", request, base: { ...made, hash: baseHash, memory: shared(made.memory) }, bytes });
    } catch (error) {
      const { message, stack } = error instanceof Error ? error : new Error(String(error));
      this.#say({ type: "baseFailed", request, message, stack });
    }
  }

  #migrateState({ request, base, migration }: Extract<ToThread, { type: "migrateState" }>): void {
    try {
      const state = migrateInside(this.#pool, this.#base(base), this.#options.limits, migration, this.#ports.now());
      this.#say({ type: "stateMigrated", request, state });
    } catch (error) {
      this.#say({ type: "stateRefused", request, failure: failureFrom(error) });
    }
  }

  #base(hash: string): BaseImage {
    const base = this.#bases.get(hash);
    if (base === undefined) throw new AssertionError(`base ${hash} was not given to this thread`);
    return base;
  }

  #start(
    attempt: number,
    baseHash: string,
    start: WireStart,
    image: { readonly entry: number; readonly bytes: Uint8Array } | null,
  ): void {
    const began = performance.now();
    const instance = this.#instanceFor(attempt, baseHash, image?.bytes ?? null);
    if (instance === null) return;
    const live: Live = {
      attempt,
      instance,
      timers: new Map(),
      imagedAt: image?.entry ?? start.migrated?.entry ?? 0,
      startedAt: image?.entry ?? start.migrated?.entry ?? 0,
      imageableAt: null,
      waitsSince: 0,
      ranMs: 0,
      calls: new Map(),
      costly: false,
    };
    this.#live.set(attempt, live);
    this.#turn(live, image === null ? { type: "start", start } : { type: "resume", start, entry: image.entry });
    if (image !== null) this.#say({ type: "restored", attempt, tookMs: performance.now() - began });
    this.#planSweep();
  }

  /** Null: there can be none, and that is said. */
  #instanceFor(attempt: number, baseHash: string, image: Uint8Array | null): Instance | null {
    try {
      const base = this.#base(baseHash);
      const { limits } = this.#options;
      return image === null
        ? Instance.start(this.#pool, base, limits)
        : Instance.restore(this.#pool, base, image, limits);
    } catch (error) {
      this.#cannotStart(attempt, error);
      return null;
    }
  }

  #cannotStart(attempt: number, error: unknown): void {
    const failure = failureFrom(error);
    if (isPerdureError(error) && error.code === "P0100") this.#say({ type: "imageUnusable", attempt, failure });
    else
      this.#say({
        type: "failed",
        attempt,
        failure,
        behavior: isPerdureError(error) && error.retry === "pause" ? "pause" : "retry",
      });
    this.#say({ type: "released", attempt });
  }

  #with(attempt: number, act: (live: Live) => void): void {
    const live = this.#live.get(attempt);
    if (live !== undefined) act(live);
  }

  #notify(live: Live, entries: readonly Entry[]): void {
    this.#turn(live, { type: "notify", entries });
  }

  #callEnded(live: Live, call: number, outcome: CallOutcome): void {
    const began = live.calls.get(call);
    live.calls.delete(call);
    if (began !== undefined && this.#ports.now() - began >= this.#options.policy.afterCallMs) live.costly = true;
    this.#turn(live, { type: "callEnded", call, outcome });
  }

  // A turn, and what comes of it
  // ----------------------------

  #turn(live: Live, event: GuestEventBody): void {
    let outbox: Outbox;
    this.#turns += 1;
    const began = process.threadCpuUsage();
    try {
      outbox = live.instance.turn({ ...event, now: this.#ports.now() });
    } catch (error) {
      this.#failed(live, error);
      return;
    }
    const { user, system } = process.threadCpuUsage(began);
    live.ranMs += (user + system) / MICROSECONDS_PER_MS;
    live.imageableAt = outbox.imageableAt;
    this.#awaits(live, outbox);
    const over = this.#pass(live, outbox);
    if (over) this.#forget(live.attempt);
    else if (this.#roomOwed > 0 && this.#mayGo(live)) this.#letGoForRoom(live);
    else {
      this.#imageIfDue(live);
      this.#letGoTooMany();
    }
  }

  #awaits(live: Live, outbox: Outbox): void {
    this.#waiting.delete(live);
    if (outbox.awaiting === null) return;
    live.waitsSince = this.#ports.now();
    this.#waiting.add(live);
  }

  /** Passes on what was said. True: it was the attempt's last word. */
  #pass(live: Live, outbox: Outbox): boolean {
    let over = false;
    const messages: GuestMessage[] = [];
    for (const message of outbox.messages) {
      switch (message.type) {
        case "setTimer":
          this.#setTimer(live, message.timer, message.ms);
          break;
        case "clearTimer":
          live.timers.get(message.timer)?.();
          live.timers.delete(message.timer);
          break;
        case "end":
        case "suspend":
        case "error":
          over = true;
          messages.push(message);
          break;
        case "call":
          live.calls.set(message.call, this.#ports.now());
          messages.push(message);
          break;
        default:
          messages.push(message);
      }
    }
    this.#say({ type: "said", attempt: live.attempt, messages, awaiting: outbox.awaiting });
    return over;
  }

  #setTimer(live: Live, timer: number, ms: number): void {
    const fire = (): void => {
      live.timers.delete(timer);
      this.#turn(live, { type: "timer", timer });
    };
    live.timers.set(timer, this.#ports.delay(Math.min(ms, DELAY_MS_MAX), fire));
  }

  #failed(live: Live, error: unknown): void {
    const behavior = isPerdureError(error) && error.retry === "pause" ? "pause" : "retry";
    this.#say({ type: "failed", attempt: live.attempt, failure: failureFrom(error), behavior });
    this.#forget(live.attempt);
  }

  #forget(attempt: number): void {
    const live = this.#live.get(attempt);
    if (live === undefined) return;
    this.#live.delete(attempt);
    this.#waiting.delete(live);
    for (const cancel of live.timers.values()) cancel();
    live.instance.dispose();
    this.#say({ type: "released", attempt });
  }

  // Images
  // ------

  #imageIfDue(live: Live): void {
    const { imageableAt, imagedAt, costly } = live;
    if (imageableAt === null || imageableAt <= imagedAt) return;
    if (costly || imageableAt - imagedAt >= this.#options.policy.everyEntries) this.#image(live, imageableAt);
  }

  #image(live: Live, entry: number): void {
    const { instance } = live;
    const began = performance.now();
    const bytes = instance.capture();
    live.imagedAt = entry;
    live.costly = false;
    const image = { entry, hash: sha256(bytes), base: instance.base.hash, bytes };
    const figures = { tookMs: performance.now() - began, bytes: bytes.length };
    this.#say({ type: "image", attempt: live.attempt, image, figures });
  }

  /** Imaged and suspended, if it waits (H2). */
  #letGo(live: Live): void {
    if (!this.#waiting.delete(live)) return;
    const { imageableAt } = live;
    if (imageableAt !== null && this.#isWorthAnImage(live, imageableAt)) this.#image(live, imageableAt);
    this.#turn(live, { type: "yield" });
  }

  #makeRoom(count: number): void {
    this.#roomOwed = count;
    if (count === 0) return;
    const waiting = [...this.#waiting].filter((live) => this.#mayGo(live));
    for (const live of waiting.slice(0, count)) this.#letGoForRoom(live);
  }

  /** It waits, and nothing that it asked for is still on its way into the journal. */
  #mayGo(live: Live): boolean {
    return this.#waiting.has(live) && live.imageableAt !== null;
  }

  #letGoForRoom(live: Live): void {
    this.#roomOwed -= 1;
    this.#letGo(live);
  }

  /** What was imaged while it ran does not count: whether it became the run's is not known here. */
  #isWorthAnImage({ startedAt, ranMs }: Live, imageableAt: number): boolean {
    const { tailEntries, tailRunMs } = this.#options.policy;
    return imageableAt > startedAt && (imageableAt - startedAt >= tailEntries || ranMs >= tailRunMs);
  }

  #planSweep(): void {
    if (this.#cancelSweep !== undefined) return;
    const everyMs = Math.min(
      DELAY_MS_MAX,
      Math.max(SWEEP_EVERY_MS_MIN, this.#options.policy.warmMs / SWEEPS_PER_WARMTH),
    );
    this.#cancelSweep = this.#ports.delay(everyMs, () => {
      this.#cancelSweep = undefined;
      this.#letGoIdle();
      if (this.#live.size > 0) this.#planSweep();
    });
  }

  #letGoIdle(): void {
    const now = this.#ports.now();
    for (const live of this.#waiting) {
      if (now - live.waitsSince < this.#options.policy.warmMs) return; // Nor has any after it waited longer.
      this.#letGo(live);
    }
  }

  /** Memory is bounded at any time, not only when somebody looks. */
  #letGoTooMany(): void {
    for (const live of this.#waiting) {
      if (this.#waiting.size <= this.#options.policy.warmMax) return;
      this.#letGo(live);
    }
  }

  /** Called now and then: gives back what a burst has left. */
  trim(): void {
    this.#pool.trim();
  }
}

/** The same bytes where all threads of the process can read them. */
export function shared(memory: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(memory.length));
  copy.set(memory);
  return copy;
}
