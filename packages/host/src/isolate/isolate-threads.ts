// The threads that isolates live in. An attempt stays in the thread that it was assigned to.

import { availableParallelism, totalmem } from "node:os";
import { Worker } from "node:worker_threads";
import { errorFromFailure, type Result } from "@perdure/protocol";
import type { StateMigration } from "@perdure/sdk";
import { Admission } from "./admission.ts";
import { loadEngine } from "./engine.ts";
import { countRestore, type IsolateFigures, noFigures } from "./figures.ts";
import type { BaseImage } from "./image-codec.ts";
import { IsolateThread, type ThreadPorts } from "./isolate-thread.ts";
import type { InstanceLimits } from "./instance.ts";
import type { FromThread, ImagePolicy, ThreadOptions, ToThread } from "./thread-messages.ts";

export interface ThreadsOptions {
  readonly threads?: number;
  readonly policy?: Partial<ImagePolicy>;
  readonly limits?: Partial<InstanceLimits>;
  /** Bytes that all instances together may take. Default: a quarter of the machine's. */
  readonly memoryMax?: number;
  /** Of threads that are none (`threads: 0`). Default: the real time. */
  readonly ports?: ThreadPorts;
}

export interface ThreadsListener {
  heard(message: FromThread): void;
  /** These attempts lived in a thread that is no more. */
  died(attempts: readonly number[], error: Error): void;
}

interface Thread {
  readonly post: (message: ToThread) => void;
  readonly close: () => Promise<unknown>;
  readonly bases: Set<string>;
  /** The bytes that each was admitted with. */
  readonly attempts: Map<number, number>;
}

interface Asking {
  readonly resolve: (state: Result) => void;
  readonly reject: (error: Error) => void;
}

interface Making {
  readonly resolve: (made: { base: BaseImage; bytes: Uint8Array }) => void;
  readonly reject: (error: Error) => void;
}

const MEMORY_SHARE = 0.25;
const THREADS_MAX = 4;
const MEBIBYTE = 1_024 * 1_024;
const LIMITS: InstanceLimits = { turnMs: 5_000, memoryBytes: 256 * MEBIBYTE };
const POLICY: ImagePolicy = {
  warmMs: 1_000,
  everyEntries: 200,
  afterCallMs: 10_000,
  warmMax: 64,
  tailEntries: 16,
  tailRunMs: 4,
};

export class IsolateThreads {
  readonly figures: IsolateFigures;
  readonly #options: ThreadOptions;
  readonly #count: number;
  readonly #ports: ThreadPorts | undefined;
  readonly #listener: ThreadsListener;
  readonly #threads: Thread[] = [];
  readonly #of = new Map<number, Thread>();
  readonly #making = new Map<number, Making>();
  readonly #asking = new Map<number, Asking>();
  readonly #admission: Admission;
  #lastRequest = 0;
  #closed = false;

  constructor(options: ThreadsOptions, listener: ThreadsListener) {
    this.#options = { limits: { ...LIMITS, ...options.limits }, policy: { ...POLICY, ...options.policy } };
    this.#count = options.threads ?? Math.min(THREADS_MAX, availableParallelism());
    this.#ports = options.ports;
    this.#listener = listener;
    const bytesMax = options.memoryMax ?? MEMORY_SHARE * (process.constrainedMemory() || totalmem());
    this.figures = noFigures(bytesMax);
    this.#admission = new Admission({ bytesMax, makeRoom: (count) => this.#makeRoom(count) });
  }

  /** Begins when there is room for another instance, in the thread with the fewest. @param left it is not wanted any more. */
  assign(attempt: number, base: BaseImage, left: () => boolean, begin: () => void): void {
    const bytes = base.memory.length;
    this.#admission.enter(bytes, left, () => {
      const thread = this.#idlest();
      thread.attempts.set(attempt, bytes);
      this.#of.set(attempt, thread);
      this.figures.live += 1;
      this.figures.bytes = this.#admission.bytes;
      giveBase(thread, base);
      begin();
    });
  }

  tell(attempt: number, message: ToThread): void {
    this.#of.get(attempt)?.post(message);
  }

  makeBase({
    code,
    hash,
  }: {
    readonly code: string;
    readonly hash: string;
  }): Promise<{ base: BaseImage; bytes: Uint8Array }> {
    const { promise, resolve, reject } = Promise.withResolvers<{ base: BaseImage; bytes: Uint8Array }>();
    this.#lastRequest += 1;
    const request = this.#lastRequest;
    this.#making.set(request, { resolve, reject });
    this.#idlest().post({ type: "makeBase", request, code, hash });
    return promise;
  }

  /** @throws what the code of the base's bundle says against it */
  migrateState(base: BaseImage, migration: StateMigration): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#lastRequest += 1;
    const request = this.#lastRequest;
    this.#asking.set(request, { resolve, reject });
    const thread = this.#idlest();
    giveBase(thread, base);
    thread.post({ type: "migrateState", request, base: base.hash, migration });
    return promise;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#threads.splice(0).map((thread) => thread.close()));
  }

  #idlest(): Thread {
    if (this.#threads.length < Math.max(1, this.#count)) {
      const thread = this.#count === 0 ? this.#inline() : this.#worker();
      this.#threads.push(thread);
      return thread;
    }
    return this.#threads.reduce((least, thread) => (thread.attempts.size < least.attempts.size ? thread : least));
  }

  #worker(): Thread {
    const url = new URL(import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js", import.meta.url);
    const worker = new Worker(url, {
      workerData: this.#options,
      name: "perdure-isolates",
      ...(import.meta.url.endsWith(".ts") ? { execArgv: ["--conditions=perdure-source"] } : {}),
    });
    worker.unref();
    let told: ToThread[] = [];
    const thread: Thread = {
      // All that one batch of the engine tells, as one message.
      post: (message) => {
        if (told.push(message) > 1) return;
        process.nextTick(() => {
          worker.postMessage(told);
          told = [];
        });
      },
      close: () => worker.terminate(),
      bases: new Set(),
      attempts: new Map(),
    };
    worker.on("message", (messages: readonly FromThread[]) => {
      for (const message of messages) this.#heard(message);
    });
    const died = (error: Error): void => this.#died(thread, error);
    worker.on("error", died);
    worker.on("exit", (code) => died(new Error(`a thread of isolates ended with code ${code}`)));
    return thread;
  }

  /** For tests: in this very thread, one message after the other, each when what the one before began is done. */
  #inline(): Thread {
    let inside: IsolateThread | undefined;
    let queue = loadEngine().then((engine) => {
      inside = new IsolateThread(engine, this.#options, (message) => this.#heard(message), this.#ports);
    });
    return {
      post: (message) => {
        queue = queue.then(() => inside?.hear(message));
      },
      close: async () => {
        await queue;
        inside?.close();
      },
      bases: new Set(),
      attempts: new Map(),
    };
  }

  #heard(message: FromThread): void {
    switch (message.type) {
      case "madeBase":
        this.#making.get(message.request)?.resolve({ base: message.base, bytes: message.bytes });
        this.#making.delete(message.request);
        return;
      case "baseFailed":
        this.#making.get(message.request)?.reject(Object.assign(new Error(message.message), { stack: message.stack }));
        this.#making.delete(message.request);
        return;
      case "stateMigrated":
        this.#asking.get(message.request)?.resolve(message.state);
        this.#asking.delete(message.request);
        return;
      case "stateRefused":
        this.#asking.get(message.request)?.reject(errorFromFailure(message.failure));
        this.#asking.delete(message.request);
        return;
      case "image":
        this.figures.images += 1;
        this.figures.imageBytes += message.figures.bytes;
        this.figures.captureMs += message.figures.tookMs;
        break;
      case "restored":
        countRestore(this.figures, message.tookMs);
        break;
      case "released": {
        const thread = this.#of.get(message.attempt);
        if (thread !== undefined) this.#gone(thread, message.attempt);
        break;
      }
    }
    this.#listener.heard(message);
  }

  #gone(thread: Thread, attempt: number): void {
    const bytes = thread.attempts.get(attempt);
    if (bytes === undefined) return;
    thread.attempts.delete(attempt);
    this.#of.delete(attempt);
    this.figures.live -= 1;
    this.#admission.leave(bytes);
    this.figures.bytes = this.#admission.bytes;
  }

  /** Each thread its share of what stands in line. */
  #makeRoom(inLine: number): void {
    this.figures.inLine = inLine;
    const count = Math.ceil(inLine / this.#threads.length);
    for (const thread of this.#threads) thread.post({ type: "makeRoom", count });
  }

  #died(thread: Thread, error: Error): void {
    const at = this.#threads.indexOf(thread);
    if (at === -1 || this.#closed) return;
    this.#threads.splice(at, 1);
    this.figures.threadsLost += 1;
    const attempts = [...thread.attempts.keys()];
    for (const attempt of attempts) this.#gone(thread, attempt);
    for (const making of this.#making.values()) making.reject(error);
    this.#making.clear();
    for (const asking of this.#asking.values()) asking.reject(error);
    this.#asking.clear();
    this.#listener.died(attempts, error);
  }
}

function giveBase(thread: Thread, base: BaseImage): void {
  if (thread.bases.has(base.hash)) return;
  thread.bases.add(base.hash);
  thread.post({ type: "base", base });
}
