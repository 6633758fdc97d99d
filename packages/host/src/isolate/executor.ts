// The isolate executor: attempts whose code runs in QuickJS, in threads of their own
// ==================================================================================
//   start ─▶ base is found or made ─▶ thread ─▶ live ─▶ over
//
// I1. A run keeps its bundle: `deployment` is the bundle's hash, and its code is taken from the store, not from disk.
// I2. What an attempt says reaches the engine in the order in which its guest said it.
// I3. A thread that dies takes its attempts with it, as a crash does: the engine is told, and starts them again elsewhere.

import type { Artifacts } from "@perdure/engine";
import {
  type Attempt,
  type AttemptReplies,
  type AttemptStart,
  type Awaiting,
  type Entry,
  type Executor,
  type Failure,
  failureFrom,
  ImageMismatchError,
  type Result,
} from "@perdure/protocol";
import type { FetchRequest, LogRecord, StateMigration } from "@perdure/sdk";
import type { GuestMessage, WireStart } from "@perdure/sdk/wire";
import { Bases } from "./bases.ts";
import { HOST_FETCH } from "@perdure/sdk/host-side";
import { hostFetch } from "../fetch.ts";
import { HostCall, type HostCallRequest, type HostFunction, type HostFunctions } from "./host-calls.ts";
import type { ThreadPorts } from "./isolate-thread.ts";
import type { StackTraces } from "./stack-traces.ts";
import { IsolateThreads } from "./isolate-threads.ts";
import type { IsolateFigures } from "./figures.ts";
import type { FromThread, ImagePolicy, ToThread } from "./thread-messages.ts";
import type { InstanceLimits } from "./instance.ts";

export interface IsolateOptions {
  readonly artifacts: Artifacts;
  readonly hostFunctions: HostFunctions;
  /** What else host modules export, by the same names. */
  readonly hostValues?: ReadonlyMap<string, unknown>;
  readonly log: (record: LogRecord) => void;
  /** 0: in this thread, for tests. Default: as many as there are cores, at most four. */
  readonly threads?: number;
  readonly policy?: Partial<ImagePolicy>;
  readonly limits?: Partial<InstanceLimits>;
  /** Bytes that all instances together may take. Default: a quarter of the machine's. */
  readonly memoryMax?: number;
  /** Of threads that are none (`threads: 0`). Default: the real time. */
  readonly ports?: ThreadPorts;
}

const NO_VALUES: ReadonlyMap<string, unknown> = new Map();

export interface IsolateExecutor extends Executor {
  /** Loads a bundle, so that the first run of it need not wait. @throws IsolateModuleError where that fails */
  prepare(bundle: string): Promise<void>;
  /** What the code of a bundle makes of the state of a run that is to go over to it. @throws where it refuses */
  migrateState(bundle: string, migration: StateMigration): Promise<Result>;
  readonly figures: IsolateFigures;
  /** Attempts are on their way into their instances: for tests that have to know when nothing goes on. */
  readonly busy: boolean;
  close(): Promise<void>;
}

export function createIsolateExecutor(options: IsolateOptions): IsolateExecutor {
  return new ThreadedExecutor(options);
}

class ThreadedExecutor implements IsolateExecutor {
  readonly #options: IsolateOptions;
  readonly #threads: IsolateThreads;
  readonly #bases: Bases;
  readonly #attempts = new Map<number, IsolateAttempt>();
  /** Those of which nothing was heard yet. */
  readonly #starting = new Set<number>();
  #last = 0;

  constructor(options: IsolateOptions) {
    this.#options = { ...options, hostFunctions: new Map([...options.hostFunctions, [HOST_FETCH, fetchFor]]) };
    this.#threads = new IsolateThreads(options, {
      heard: (message) => this.#heard(message),
      died: (attempts, error) => this.#died(attempts, error),
    });
    this.#bases = new Bases(options.artifacts, (bundle) => this.#threads.makeBase(bundle));
  }

  get figures(): IsolateFigures {
    return this.#threads.figures;
  }

  get busy(): boolean {
    return this.#starting.size > 0;
  }

  start(start: AttemptStart, replies: AttemptReplies): Attempt {
    this.#last += 1;
    const id = this.#last;
    const attempt = new IsolateAttempt(id, start, replies, this.#options, (message) => this.#threads.tell(id, message));
    this.#attempts.set(id, attempt);
    this.#starting.add(id);
    void this.#launch(id, attempt, start);
    return attempt;
  }

  async prepare(bundle: string): Promise<void> {
    await this.#bases.find(bundle, null);
  }

  async migrateState(bundle: string, migration: StateMigration): Promise<Result> {
    const { base } = await this.#bases.find(bundle, null);
    return this.#threads.migrateState(base, migration);
  }

  async close(): Promise<void> {
    await this.#threads.close();
  }

  async #launch(id: number, attempt: IsolateAttempt, start: AttemptStart): Promise<void> {
    try {
      if (start.deployment === null)
        throw new ImageMismatchError("the run has no bundle: it was not begun in an isolate");
      const { base, traces } = await this.#bases.find(start.deployment, start.image?.info.base ?? null);
      if (attempt.over) this.#forget(id);
      else {
        const { image, state, ...rest } = start;
        const wire: WireStart = { ...rest, state: state === null ? null : [...state] };
        const bytes = image === null ? null : { entry: image.info.entry, bytes: image.bytes };
        attempt.traces = traces;
        this.#threads.assign(
          id,
          base,
          () => this.#hasLeft(id, attempt),
          () => attempt.begin({ type: "start", attempt: id, base: base.hash, start: wire, image: bytes }),
        );
      }
    } catch (error) {
      this.#forget(id);
      attempt.failed(failureFrom(error), "pause");
    }
  }

  /** Aborted while it stood in line. */
  #hasLeft(id: number, attempt: IsolateAttempt): boolean {
    if (attempt.over) this.#attempts.delete(id);
    return attempt.over;
  }

  #heard(message: FromThread): void {
    if (!("attempt" in message)) return; // The threads' own.
    const attempt = this.#attempts.get(message.attempt);
    this.#starting.delete(message.attempt);
    switch (message.type) {
      case "said":
        attempt?.said(message.messages, message.awaiting);
        return;
      case "image":
        attempt?.imaged(message.image);
        return;
      case "imageUnusable":
        attempt?.imageUnusable(message.failure);
        return;
      case "failed":
        attempt?.failed(message.failure, message.behavior);
        return;
      case "restored":
        return;
      case "released":
        this.#forget(message.attempt);
        return;
    }
  }

  #died(attempts: readonly number[], error: Error): void {
    for (const id of attempts) {
      this.#attempts.get(id)?.failed(failureFrom(error), "retry");
      this.#forget(id);
    }
  }

  #forget(id: number): void {
    this.#attempts.delete(id);
    this.#starting.delete(id);
  }
}

const fetchFor: HostFunction = (request, info) =>
  hostFetch(request as FetchRequest, info as { readonly signal: AbortSignal });

class IsolateAttempt implements Attempt {
  readonly #id: number;
  readonly #replies: AttemptReplies;
  readonly #options: IsolateOptions;
  readonly #scope: Omit<LogRecord, "level" | "message" | "fields">;
  readonly #tell: (message: ToThread) => void;
  /** What waits for the thread; null once it has begun. */
  #early: ToThread[] | null = [];
  #awaiting: readonly Awaiting[] | null = null;
  readonly #calls = new Map<number, HostCall>();
  over = false;
  /** Known before anything is said. */
  traces: StackTraces | undefined = undefined;

  constructor(
    id: number,
    start: AttemptStart,
    replies: AttemptReplies,
    options: IsolateOptions,
    tell: (message: ToThread) => void,
  ) {
    this.#id = id;
    this.#replies = replies;
    this.#options = options;
    this.#scope = { run: start.run, service: start.service, handler: start.handler, key: start.key };
    this.#tell = tell;
  }

  begin(start: ToThread): void {
    const early = this.#early ?? [];
    this.#early = null;
    this.#tell(start);
    for (const message of early) this.#tell(message);
  }

  // From the engine
  // ---------------

  notify(entries: readonly Entry[]): void {
    this.#awaiting = null; // It is about to see something: what it waits for is said anew.
    this.#send({ type: "notify", attempt: this.#id, entries });
  }

  abort(reason: string): void {
    if (this.over) return;
    this.#end(reason);
    if (this.#early === null) this.#tell({ type: "abort", attempt: this.#id });
  }

  awaiting(): readonly Awaiting[] | null {
    return this.over ? null : this.#awaiting;
  }

  yield(): void {
    this.#send({ type: "yield", attempt: this.#id });
  }

  #send(message: ToThread): void {
    if (this.over) return;
    if (this.#early === null) this.#tell(message);
    else this.#early.push(message);
  }

  // From the thread
  // ---------------

  said(messages: readonly GuestMessage[], awaiting: readonly Awaiting[] | null): void {
    if (this.over) return;
    this.#awaiting = awaiting;
    for (const message of messages) this.#pass(message);
  }

  imaged(image: Parameters<AttemptReplies["image"]>[0]): void {
    if (!this.over) this.#replies.image(image);
  }

  imageUnusable(failure: Parameters<AttemptReplies["imageUnusable"]>[0]): void {
    if (this.over) return;
    this.#end("the image cannot be used");
    this.#replies.imageUnusable(failure);
  }

  failed(failure: ReturnType<typeof failureFrom>, behavior: "retry" | "pause"): void {
    if (this.over) return;
    this.#end("the attempt failed");
    this.#replies.error({ failure: this.#placedFailure(failure), behavior });
  }

  #pass(message: GuestMessage): void {
    const replies = this.#replies;
    switch (message.type) {
      case "command":
        replies.command(message.id, message.command, this.#placed(message.result), message.items);
        return;
      case "propose":
        replies.propose(message.id, this.#placed(message.result));
        return;
      case "append":
        replies.append(message.stream, message.items, message.writer);
        return;
      case "retrying":
        replies.retrying(message.id, message.tries, this.#placedFailure(message.failure), message.retryAt);
        return;
      case "end":
        this.#end("the run has ended");
        replies.end(this.#placed(message.result));
        return;
      case "suspend":
        this.#end("the run suspends");
        replies.suspend(message.awaiting, message.entriesSeen);
        return;
      case "error":
        this.#end("the attempt failed");
        replies.error({ ...message.failure, failure: this.#placedFailure(message.failure.failure) });
        return;
      case "call":
        void this.#call(message.call, message);
        return;
      case "abortCall":
        this.#calls.get(message.call)?.fired(message.signal, message.reason);
        return;
      case "log": {
        const { level, message: text, fields } = message;
        this.#options.log({ level, message: text, fields, ...this.#scope });
        return;
      }
      case "unhandledRejection":
        this.#unhandled(message.message, message.stack);
        return;
      case "setTimer":
      case "clearTimer":
        return; // Kept by the thread.
    }
  }

  #unhandled(reason: string, stack: string | undefined): void {
    const told = stack === undefined ? undefined : (this.traces?.told(stack) ?? stack);
    const at = told?.split("\n").find((line) => /^\s*at /.test(line));
    const message = `a promise was rejected, and nobody handled it: ${reason}`;
    const fields = at === undefined ? undefined : { at: at.trim().slice("at ".length) };
    this.#options.log({ level: "warn", message, fields, ...this.#scope });
  }

  #placed<R extends Result | undefined>(result: R): R {
    return result?.kind === "failure" ? { ...result, failure: this.#placedFailure(result.failure) } : result;
  }

  #placedFailure(failure: Failure): Failure {
    const { stack } = failure;
    return stack === undefined || this.traces === undefined ? failure : { ...failure, stack: this.traces.told(stack) };
  }

  async #call(call: number, request: HostCallRequest): Promise<void> {
    const running = new HostCall(request, {
      functions: this.#options.hostFunctions,
      values: this.#options.hostValues ?? NO_VALUES,
      replies: this.#replies,
      say: (said) => this.#send({ type: "callSaid", attempt: this.#id, call, said }),
    });
    this.#calls.set(call, running);
    const outcome = await running.run();
    this.#calls.delete(call);
    this.#send({ type: "callEnded", attempt: this.#id, call, outcome });
  }

  /** C1: it says nothing more, and what it still does is told to stop. */
  #end(reason: string): void {
    this.over = true;
    this.#awaiting = null;
    for (const call of this.#calls.values()) call.abort(reason);
    this.#calls.clear();
  }
}
