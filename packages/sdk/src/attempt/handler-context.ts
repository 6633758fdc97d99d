// `ctx`, as handlers get it: a thin face on the attempt
// ====================================================
// One class serves all kinds of handlers; the interfaces in context/ say which part of it a kind may use. What a kind
// may not use is refused at run time too, since JavaScript does not read types.

import type {
  AttemptStart,
  DurationLike,
  HandlerMode,
  Headers,
  QueueListing,
  Result,
  RunId,
  Target,
} from "@perdure/protocol";
import {
  BadRequestError,
  ContextMisuseError,
  encodeAwakeableId,
  parseAwakeableId,
  parseDuration,
  parseRunId,
} from "@perdure/protocol";
import type { Calls, RunHandle, Sends } from "../context/calls.ts";
import type { Awakeable, Log, WorkflowContext, WorkflowPromise } from "../context/context.ts";
import type { FetchOptions, FetchResponse } from "../context/fetch.ts";
import type { CallOptions, SendOptions, StepInfo, StepOptions } from "../context/options.ts";
import type { Stream } from "../context/streams.ts";
import type { AnyDefinition } from "../definitions/service.ts";
import type { ContextInternals } from "../internals.ts";
import { encode, encodeRejection, encodeResult } from "../json.ts";
import type { AbortSignalLike, FetchAnswer, LogLevel } from "../ports.ts";
import { fetchStep, JournaledResponse } from "./fetch-step.ts";
import { CallWait, SendWait } from "./child-waits.ts";
import { IdentityRandom } from "./identity.ts";
import type { ReplayAttempt } from "./replay-attempt.ts";
import { ChildReference, RunReference, refusedHandle } from "./run-reference.ts";
import { SignalIterator } from "./signal-iterator.ts";
import { StreamReference } from "./stream-reference.ts";
import type { TargetSink } from "../definitions/target-calls.ts";
import { targetCalls } from "../definitions/target-calls.ts";
import { WorkflowPromiseReference } from "./workflow-promise.ts";

export class HandlerContext implements WorkflowContext, TargetSink<SendOptions> {
  readonly #attempt: ReplayAttempt;
  readonly idempotencyKey: string | null;
  readonly headers: Headers;
  readonly attempt: number;
  readonly #mode: HandlerMode;
  #random: IdentityRandom | undefined = undefined;
  #log: Log | undefined = undefined;

  constructor(attempt: ReplayAttempt, start: AttemptStart) {
    this.#attempt = attempt;
    this.idempotencyKey = start.idempotencyKey;
    this.headers = start.headers;
    this.attempt = start.tries + 1;
    this.#mode = start.mode;
  }

  get runId(): RunId {
    return this.#attempt.identity.run;
  }

  get key(): string {
    const { key } = this.#attempt.identity;
    if (key === null) throw new ContextMisuseError("a service has no key: write an object or a workflow");
    return key;
  }

  get abortSignal(): AbortSignalLike {
    return this.#attempt.abortSignal;
  }

  get log(): Log {
    this.#log ??= logOf(this.#attempt);
    return this.#log;
  }

  /** Not in `Context`: found by `internalsOf`. */
  get internals(): ContextInternals {
    const attempt = this.#attempt;
    return {
      ports: attempt.ports,
      getQueue: () => attempt.request({ type: "getQueue" }) as Promise<QueueListing>,
      useTicks: () => {
        attempt.usesTicks = true;
      },
    };
  }

  // Steps, time and chance
  // ----------------------

  step<T>(name: string, fn: (info: StepInfo) => T | Promise<T>, options?: StepOptions<NoInfer<T>>): Promise<T> {
    return this.#attempt.step(name, fn, options as StepOptions | undefined) as Promise<T>;
  }

  async fetch(url: string | { readonly href: string }, options: FetchOptions = {}): Promise<FetchResponse> {
    const {
      name,
      run,
      options: stepOptions,
    } = fetchStep(this.#attempt.ports, typeof url === "string" ? url : url.href, options);
    return new JournaledResponse((await this.#attempt.step(name, run, stepOptions)) as FetchAnswer);
  }

  sleep(duration: DurationLike, name?: string): Promise<void> {
    const wakeAt = this.#attempt.ports.now() + parseDuration(duration);
    return this.#attempt.request(
      name === undefined ? { type: "sleep", wakeAt } : { type: "sleep", name, wakeAt },
    ) as Promise<void>;
  }

  now(): Promise<number> {
    return this.#attempt.now() as Promise<number>;
  }

  async safePoint<T>(name: string, state: T): Promise<T> {
    if (typeof name !== "string" || name === "")
      throw new BadRequestError('a safe point has a name: ctx.safePoint("idle", state)');
    return this.#attempt.safePoint(name, state) as Promise<T>;
  }

  random(): number {
    this.#attempt.allowed();
    this.#random ??= new IdentityRandom(this.#attempt.identity);
    return this.#random.random();
  }

  uuid(): string {
    this.#attempt.allowed();
    this.#random ??= new IdentityRandom(this.#attempt.identity);
    return this.#random.uuid();
  }

  // Messages
  // --------

  signal<T = unknown>(name: string): Promise<T> {
    return this.#attempt.signal(name) as Promise<T>;
  }

  signals<T = unknown>(name: string): AsyncIterableIterator<T> {
    return new SignalIterator<T>(() => this.#attempt.signal(name) as Promise<T>);
  }

  awakeable<T = unknown>(): Awakeable<T> {
    const { signal, promise } = this.#attempt.awakeable();
    return { id: encodeAwakeableId({ run: this.runId, signal }), promise: promise as Promise<T> };
  }

  resolve(awakeable: string, value?: unknown): void {
    this.#settleAwakeable(awakeable, encodeResult(value, "the value of the awakeable"));
  }

  reject(awakeable: string, reason: string | Error): void {
    this.#settleAwakeable(awakeable, encodeRejection(reason));
  }

  #settleAwakeable(awakeable: string, completion: Result): void {
    if (!this.#attempt.allowed()) return;
    if (parseAwakeableId(awakeable) === undefined)
      throw new BadRequestError(`"${awakeable}" is not the id of an awakeable`);
    this.#attempt.issue({ type: "completeAwakeable", awakeable, completion });
  }

  promise<T = unknown>(name: string): WorkflowPromise<T> {
    this.#keyed("promises");
    return new WorkflowPromiseReference<T>(this.#attempt, name);
  }

  // Streams
  // -------

  stream<T = unknown>(name: string): Stream<T> {
    return new StreamReference<T>(this.#attempt, name, this.#mode);
  }

  // Other runs
  // ----------

  run<T = unknown>(id: string): RunHandle<T> {
    const run = parseRunId(id);
    if (run === undefined) throw new BadRequestError(`"${id}" is not the id of a run`);
    return new RunReference<T>(this.#attempt, run);
  }

  call<H>(target: AnyDefinition | string, keyOrOptions?: string | CallOptions, options?: CallOptions): Calls<H> {
    return targetCalls(this, "call", target, keyOrOptions, options) as Calls<H>;
  }

  send<H>(target: AnyDefinition | string, keyOrOptions?: string | SendOptions, options?: SendOptions): Sends<H> {
    return targetCalls(this, "send", target, keyOrOptions, options) as Sends<H>;
  }

  invoke(kind: "call" | "send", target: Target, input: unknown, options: SendOptions | undefined): Promise<unknown> {
    const attempt = this.#attempt;
    const common = {
      target,
      input: encode(input, "the input") ?? null,
      ...(options?.headers === undefined ? {} : { headers: options.headers }),
      ...(options?.idempotencyKey === undefined ? {} : { idempotencyKey: options.idempotencyKey }),
    };
    if (kind === "send") {
      const refusal = attempt.closedRefusal(); // A send is not a wait: it does not take the cancel that is owed.
      if (refusal !== undefined) return refusal;
      const invokeAt = startTime(options, attempt);
      const id = attempt.issue(
        invokeAt === undefined ? { type: "send", ...common } : { type: "send", ...common, invokeAt },
      );
      return attempt.await(new SendWait(id, attempt, target));
    }
    const refusal = attempt.refusal();
    if (refusal !== undefined) return Object.assign(refusal, { handle: refusedHandle(refusal) });
    const wait = new CallWait(attempt.issue({ type: "call", ...common }));
    return Object.assign(attempt.await(wait), { handle: new ChildReference(attempt, wait) });
  }

  // State
  // -----

  get<T = unknown>(name: string): Promise<T | undefined> {
    this.#keyed("state");
    return this.#attempt.readState({ type: "getState", key: name }) as Promise<T | undefined>;
  }

  keys(): Promise<string[]> {
    this.#keyed("state");
    return this.#attempt.readState({ type: "getStateKeys" }) as Promise<string[]>;
  }

  set(name: string, value: unknown): void {
    this.#writable();
    const result = encodeResult(value, `the value of "${name}"`);
    if (this.#attempt.allowed()) this.#attempt.setState(name, result);
  }

  clear(name: string): void {
    this.#writable();
    if (this.#attempt.allowed()) this.#attempt.setState(name, { kind: "void" });
  }

  clearAll(): void {
    this.#writable();
    if (this.#attempt.allowed()) this.#attempt.clearAllState();
  }

  #keyed(what: string): void {
    if (this.#attempt.scope.key === null)
      throw new ContextMisuseError(`a service has no ${what}: write an object or a workflow`);
  }

  #writable(): void {
    this.#keyed("state");
    if (this.#mode === "shared")
      throw new ContextMisuseError("a shared handler may only read: it runs beside the one that writes");
  }
}

function startTime(options: SendOptions | undefined, attempt: ReplayAttempt): number | undefined {
  if (options?.at !== undefined) return Number(options.at);
  return options?.delay === undefined ? undefined : attempt.ports.now() + parseDuration(options.delay);
}

function logOf(attempt: ReplayAttempt): Log {
  const at =
    (level: LogLevel) =>
    (message: string, fields?: Readonly<Record<string, unknown>>): void =>
      attempt.log(level, message, fields);
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}
