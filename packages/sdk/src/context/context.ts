// The context: everything that a handler may do to the world
// ==========================================================
// What goes through `ctx` is journaled, so that it happens once, however often the handler's code runs. What a handler
// does beside it (a request, a timer, a random number) happens again on every replay: put it into a step.
//
//   Context ◀── ObjectSharedContext ◀── ObjectContext ◀──────── WorkflowContext
//                       ◀────────────── WorkflowSharedContext ◀─┘
//
// Ordinary promises and combinators work: `Promise.all`, `race`, `any`, `allSettled`, try/finally, `for await`.

import type { DurationLike, Headers, RunId } from "@perdure/protocol";
import type { KeyedDefinition, ServiceDefinition } from "../definitions/service.ts";
import type { AbortSignalLike } from "../ports.ts";
import type { Calls, RunHandle, Sends, UntypedCalls, UntypedSends } from "./calls.ts";
import type { FetchOptions, FetchResponse } from "./fetch.ts";
import type { CallOptions, SendOptions, StepInfo, StepOptions } from "./options.ts";
import type { Stream } from "./streams.ts";

export interface Context {
  readonly runId: RunId;
  /** The key under which the run was submitted, if it was submitted under one. */
  readonly idempotencyKey: string | null;
  /** Headers of the request that started the run. */
  readonly headers: Headers;
  /** Which try of the handler this is since its last progress, from 1. Differs between replays: for logs only. */
  readonly attempt: number;
  /** Fires when the run is cancelled, and when this host lets go of it. */
  readonly abortSignal: AbortSignalLike;
  /** Silent while the handler is replayed. */
  readonly log: Log;

  /**
   * Runs an effect and journals its result. Once it is journaled, it is the only result: replays see it, and the effect is
   * not run again. Errors are retried in place; a `TerminalError` is thrown into the handler.
   * The result comes back as JSON gives it (and a `Uint8Array` as its bytes).
   */
  step<T>(name: string, fn: (info: StepInfo) => T | Promise<T>, options?: StepOptions<NoInfer<T>>): Promise<T>;
  /**
   * Sends a request as a step: its answer is journaled, and a request whose answer is there is not sent again. What is no
   * `GET` carries the step's idempotency key, as the header `Idempotency-Key`.
   */
  fetch(url: string | { readonly href: string }, options?: FetchOptions): Promise<FetchResponse>;
  /** Waits, if need be for months: a sleeping run costs disk only. */
  sleep(duration: DurationLike, name?: string): Promise<void>;
  /** The time, journaled: milliseconds since the epoch. */
  now(): Promise<number>;
  /** In [0, 1). The same numbers on every replay. Not for secrets. */
  random(): number;
  /** The same ids on every replay. Not for secrets. */
  uuid(): string;

  /** The next message that is sent to this run under `name`. Keep the promise while you race it: it takes one message. */
  signal<T = unknown>(name: string): Promise<T>;
  /**
   * All messages under `name`, in order: `for await (const message of ctx.signals("inbox"))`. While a `next()` is pending,
   * another gives the same promise, so that racing it against a timer loses nothing.
   */
  signals<T = unknown>(name: string): AsyncIterableIterator<T>;
  /**
   * The code can begin anew from here, given the state: other code, too. Gives the state back, or what a migration made of it.
   * `for (;;) { state = await ctx.safePoint("idle", state); const message = await ctx.signal("message"); … }`
   */
  safePoint<T>(name: string, state: T): Promise<T>;
  /** A promise that the outside resolves by its id: over HTTP, with `perdure resolve`, or `ctx.resolve` in another run. */
  awakeable<T = unknown>(): Awakeable<T>;
  /** Resolves somebody's awakeable. */
  resolve(awakeable: string, value?: unknown): void;
  /** Rejects somebody's awakeable: its promise throws a `TerminalError`. */
  reject(awakeable: string, reason: string | Error): void;
  /** Any run, by its id. */
  run<T = unknown>(id: string): RunHandle<T>;

  /** A log of this key under a name; in a service, of this run: `ctx.stream("transcript").append(message)`. */
  stream<T = unknown>(name: string): Stream<T>;

  /** Calls a handler and waits for its answer: `await ctx.call(mailer).send(mail)`, `ctx.call(inbox, "ada").add("…")`. */
  call<H>(target: ServiceDefinition<H>, options?: CallOptions): Calls<H>;
  call<H>(target: KeyedDefinition<H>, key: string, options?: CallOptions): Calls<H>;
  call(target: string, options?: CallOptions): UntypedCalls;
  call(target: string, key: string, options?: CallOptions): UntypedCalls;
  /** Starts a run and does not wait for it: `ctx.send(inbox, "ada", { delay: "7d" }).remind()`. */
  send<H>(target: ServiceDefinition<H>, options?: SendOptions): Sends<H>;
  send<H>(target: KeyedDefinition<H>, key: string, options?: SendOptions): Sends<H>;
  send(target: string, options?: SendOptions): UntypedSends;
  send(target: string, key: string, options?: SendOptions): UntypedSends;
}

/** What may read a key. */
export interface ObjectSharedContext extends Context {
  readonly key: string;
  /** The value under `name`, or undefined. Reading is free: it waits for nothing. */
  get<T = unknown>(name: string): Promise<T | undefined>;
  /** Names that have a value, sorted. */
  keys(): Promise<string[]>;
}

/** What owns a key while it runs. */
export interface ObjectContext extends ObjectSharedContext {
  /** `undefined` clears. */
  set(name: string, value: unknown): void;
  clear(name: string): void;
  clearAll(): void;
}

/** What runs beside a workflow: it reads, and settles its promises. */
export interface WorkflowSharedContext extends ObjectSharedContext {
  /** A promise of this workflow, under a name: any of its handlers may wait for it or settle it, once. */
  promise<T = unknown>(name: string): WorkflowPromise<T>;
}

/** The workflow itself: its `run` handler, which runs once per key. */
export interface WorkflowContext extends ObjectContext, WorkflowSharedContext {}

export interface Awakeable<T> {
  readonly id: string;
  readonly promise: Promise<T>;
}

export interface WorkflowPromise<T> {
  /** Waits until it is settled. */
  get(): Promise<T>;
  /** Its value if it is settled, or undefined. */
  peek(): Promise<T | undefined>;
  /** @throws a `TerminalError` with status 409 where it is settled already. */
  resolve(value?: T): Promise<void>;
  /** @throws a `TerminalError` with status 409 where it is settled already. */
  reject(reason: string | Error): Promise<void>;
}

export interface Log {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}
