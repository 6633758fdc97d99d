// A thread of isolates: its instances, their timers, and when they are imaged and let go
// =======================================================================================
//   starting ─▶ runs ⇄ waits (warm) ─▶ gone        gone: ended, suspended with its image, failed or aborted
//
// H1. An instance is imaged only where its guest says that it may be, between two turns, so that the image is at an entry.
// H2. What suspends is imaged first: the image is said before the suspension, and both reach one commit.
// H3. A guest that fails costs itself only: its instance is thrown away, and the others of the thread go on.
//
// It knows nothing of threads but a function to say things with, so that tests may run it in their own.

import { AssertionError, type Entry, failureFrom, type Instant, isPerdureError } from "@perdure/protocol";
import type { CallOutcome, GuestEvent, GuestMessage, Outbox, WireStart } from "@perdure/sdk/wire";
import type { Engine } from "./engine.ts";
import { type BaseImage, encodeBase, sha256 } from "./image-codec.ts";
import { Instance, makeBase } from "./instance.ts";
import type { FromThread, ThreadOptions, ToThread } from "./thread-messages.ts";

/** The time and the timers of a thread. */
export interface ThreadPorts {
  now(): Instant;
  /** Calls back once; the function that it returns cancels. At most 2^31 - 1 ms are asked. */
  delay(ms: number, callback: () => void): () => void;
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
  /** Null while it is made. */
  instance: Instance | null;
  /** What came while it was made. */
  early: (() => void)[];
  /** The entry of its newest image. */
  imagedAt: number;
  /** Of the last turn. */
  imageableAt: number | null;
  waiting: boolean;
  waitsSince: number;
  /** When calls began that have not ended, by their number. */
  readonly calls: Map<number, number>;
  /** A costly call ended since the newest image. */
  costly: boolean;
}

type GuestEventBody = GuestEvent extends infer E ? (E extends GuestEvent ? Omit<E, "now"> : never) : never;

const SWEEPS_PER_WARMTH = 4;
const SWEEP_EVERY_MS_MIN = 10;
const DELAY_MS_MAX = 2_147_483_647;

export class IsolateThread {
  readonly #engine: Engine;
  readonly #options: ThreadOptions;
  readonly #say: (message: FromThread) => void;
  readonly #bases = new Map<string, BaseImage>();
  readonly #live = new Map<number, Live>();
  readonly #ports: ThreadPorts;
  #cancelSweep: (() => void) | undefined = undefined;

  constructor(
    engine: Engine,
    options: ThreadOptions,
    say: (message: FromThread) => void,
    ports: ThreadPorts = REAL_TIME,
  ) {
    this.#engine = engine;
    this.#options = options;
    this.#say = say;
    this.#ports = ports;
  }

  hear(message: ToThread): void {
    switch (message.type) {
      case "base":
        this.#bases.set(message.base.hash, message.base);
        return;
      case "makeBase":
        void this.#makeBase(message);
        return;
      case "start":
        void this.#start(message.attempt, message.base, message.start, message.image);
        return;
      case "notify":
        this.#soon(message.attempt, (live) => this.#notify(live, message.entries));
        return;
      case "callEnded":
        this.#soon(message.attempt, (live) => this.#callEnded(live, message.call, message.outcome));
        return;
      case "yield":
        this.#soon(message.attempt, (live) => this.#letGo(live));
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

  async #makeBase({ request, code, hash }: Extract<ToThread, { type: "makeBase" }>): Promise<void> {
    try {
      const made = await makeBase(this.#engine, { code, hash });
      const { bytes, hash: baseHash } = encodeBase(made);
      this.#say({ type: "madeBase", request, base: { ...made, hash: baseHash, memory: shared(made.memory) }, bytes });
    } catch (error) {
      const { message, stack } = error instanceof Error ? error : new Error(String(error));
      this.#say({ type: "baseFailed", request, message, stack });
    }
  }

  async #start(
    attempt: number,
    baseHash: string,
    start: WireStart,
    image: { readonly entry: number; readonly bytes: Uint8Array } | null,
  ): Promise<void> {
    const live: Live = {
      attempt,
      timers: new Map(),
      instance: null,
      early: [],
      imagedAt: image?.entry ?? 0,
      imageableAt: null,
      waiting: false,
      waitsSince: 0,
      calls: new Map(),
      costly: false,
    };
    this.#live.set(attempt, live);
    const began = performance.now();
    try {
      const base = this.#bases.get(baseHash);
      if (base === undefined) throw new AssertionError(`base ${baseHash} was not given to this thread`);
      const { limits } = this.#options;
      live.instance =
        image === null
          ? await Instance.start(this.#engine, base, limits)
          : await Instance.restore(this.#engine, base, image.bytes, limits);
    } catch (error) {
      this.#cannotStart(live, error);
      return;
    }
    if (!this.#live.has(attempt)) {
      live.instance.dispose(); // Aborted meanwhile.
      return;
    }
    const restored = image !== null;
    this.#turn(live, restored ? { type: "resume", start } : { type: "start", start });
    if (restored) this.#say({ type: "restored", attempt, tookMs: performance.now() - began });
    for (const act of live.early.splice(0)) if (this.#live.has(attempt)) act();
    this.#planSweep();
  }

  #cannotStart(live: Live, error: unknown): void {
    if (!this.#live.delete(live.attempt)) return;
    const failure = failureFrom(error);
    if (isPerdureError(error) && error.code === "P0100")
      this.#say({ type: "imageUnusable", attempt: live.attempt, failure });
    else
      this.#say({
        type: "failed",
        attempt: live.attempt,
        failure,
        behavior: isPerdureError(error) && error.retry === "pause" ? "pause" : "retry",
      });
    this.#say({ type: "released", attempt: live.attempt });
  }

  #soon(attempt: number, act: (live: Live) => void): void {
    const live = this.#live.get(attempt);
    if (live === undefined) return;
    if (live.instance === null) live.early.push(() => act(live));
    else act(live);
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
    const { instance } = live;
    if (instance === null) return;
    let outbox: Outbox;
    try {
      outbox = instance.turn({ ...event, now: this.#ports.now() });
    } catch (error) {
      this.#failed(live, error);
      return;
    }
    live.imageableAt = outbox.imageableAt;
    this.#awaits(live, outbox);
    const over = this.#pass(live, outbox);
    if (over) this.#forget(live.attempt);
    else this.#imageIfDue(live);
  }

  #awaits(live: Live, outbox: Outbox): void {
    live.waiting = outbox.awaiting !== null;
    if (live.waiting) live.waitsSince = this.#ports.now();
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
    for (const cancel of live.timers.values()) cancel();
    live.instance?.dispose();
    live.instance = null;
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
    if (instance === null) return;
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
    if (!live.waiting) return;
    if (live.imageableAt !== null && live.imageableAt > live.imagedAt) this.#image(live, live.imageableAt);
    this.#turn(live, { type: "yield" });
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
    const { warmMs, warmMax } = this.#options.policy;
    const waiting = [...this.#live.values()].filter((live) => live.waiting);
    waiting.sort((a, b) => a.waitsSince - b.waitsSince);
    const tooMany = waiting.length - warmMax;
    waiting.forEach((live, index) => {
      if (index < tooMany || now - live.waitsSince >= warmMs) this.#letGo(live);
    });
  }
}

/** The same bytes where all threads of the process can read them. */
export function shared(memory: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(memory.length));
  copy.set(memory);
  return copy;
}
