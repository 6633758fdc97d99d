// The runtime: a loop over a store, with the questions that the outside may ask it
// ================================================================================
//   new ─▶ running ─▶ draining ─▶ closed
//             ▲│
//             └┴─ a loop failed (disk full, partition lost): it is replaced, with backoff, and goes on from what is stored
//
// Every answer given here is durable. Questions that cannot be answered throw errors from @perdure/protocol, with the
// status that a HTTP caller gets.

import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import {
  type ArtifactKind,
  Loop,
  LoopClosedError,
  type Limits,
  type Mutation,
  type Observer,
  type Question,
  type Reply,
  type Store,
  type StoreReader,
  type StreamPage,
} from "@perdure/engine";
import {
  AssertionError,
  ConflictError,
  FencedError,
  MigrationRefusedError,
  OverloadedError,
  RunNotFoundError,
  ShuttingDownError,
  StoreWriteError,
  UnknownTargetError,
  isPerdureError,
  parseAwakeableId,
  BadRequestError,
  type Awaiting,
  type DeploymentView,
  type DurationMs,
  type Executor,
  type Headers,
  type ImageInfo,
  type ImageInspection,
  type Instant,
  type MigrationReport,
  type Payload,
  type Result,
  type Run,
  type RunId,
  type RunStatus,
  type SignalName,
  type StreamRef,
  type Target,
} from "@perdure/protocol";
import type { Catalog } from "./catalog.ts";
import { ChangeFeed } from "./change-feed.ts";
import { deploymentsOf } from "./deployments.ts";
import { returnIdleMemory } from "./idle-memory.ts";
import { Migrator, type MigrationRequest } from "./migrator.ts";
import { inspectStored } from "./isolate/inspect-stored.ts";
import type { IsolateFigures } from "./isolate/figures.ts";
import { nodeClock, nodeScheduler } from "./node-ports.ts";
import { idempotentRunId, randomRunId, workflowRunId } from "./run-ids.ts";
import type { StateMigrator } from "./state-migrator.ts";
import { StreamFeed, type StreamListener, type StreamWatch } from "./stream-feed.ts";

export interface RuntimeOptions {
  readonly store: Store;
  readonly executor: Executor;
  readonly catalog: Catalog;
  readonly limits?: Partial<Limits>;
  /** Told of failures that the runtime recovers from by itself. */
  readonly onTrouble?: (error: unknown, retryInMs: DurationMs) => void;
  /** Told of an image that is damaged or cannot be read: its run goes on from the one before, with a longer journal. */
  readonly onImageLost?: (run: RunId, entry: number, reason: string) => void;
  /** What the code of a deployment makes of the state of a run that goes over to it. Without it no run can. */
  readonly migrateState?: StateMigrator;
  /** What its isolates cost, where it has some: for metrics. */
  readonly isolates?: () => IsolateFigures;
  /** Told of a planned migration that was given up. */
  readonly onMigrationGivenUp?: (run: RunId, reason: string) => void;
}

export interface EditStateOptions {
  /** What names have to be still, `null` none at all: else nothing is changed. */
  readonly expected?: ReadonlyMap<string, Payload | null>;
  /** Also while an exclusive run has the key's turn. */
  readonly force?: boolean;
}

export interface SubmitRequest {
  readonly target: Target;
  readonly input: Payload | null;
  readonly headers?: Headers;
  readonly idempotencyKey?: string;
  /** Start then rather than now. */
  readonly startAt?: Instant;
}

export interface ForkRequest {
  /** The last entry that is shared; absent: all there are. */
  readonly at?: number;
  /** For exclusive handlers; absent: one is made. */
  readonly key?: string;
  /** Only where nothing is shared (`at` 0). */
  readonly input?: Payload;
  /** Given to the fork as the signal `perdure.fork`. */
  readonly note?: Payload;
}

export interface Rewound {
  readonly status: RunStatus | null;
  /** What the run was before, as a run of its own that has ended. */
  readonly branch: RunId;
}

export interface Accepted {
  readonly run: RunId;
  /** The run was there already (idempotency key, workflow key). */
  readonly existing: boolean;
  readonly status: RunStatus;
}

export interface Finished {
  readonly run: RunId;
  readonly existing: boolean;
  readonly result: Result;
}

/** Is given what withdraws the question: the asker has gone, and nothing is kept to answer it. The run goes on. */
export type OnAsked = (withdraw: () => void) => void;

/** What a run is doing now, for people. */
export interface LiveView {
  /** An attempt is live in this process. */
  readonly live: boolean;
  /** What it waits for; null where it is executing. */
  readonly awaiting: readonly Awaiting[] | null;
}

export interface RuntimeFigures {
  readonly live: number;
  readonly ready: number;
  readonly queued: number;
  readonly watchers: number;
  readonly batches: number;
  readonly events: number;
  readonly mutations: number;
  readonly failures: number;
  /** Images that were damaged or could not be read. */
  readonly imagesLost: number;
}

const FORK_KEY_DIGITS = 6;
const RESTART_MS_FIRST = 100;
const RESTART_MS_MAX = 10_000;

export class Runtime {
  readonly catalog: Catalog;
  readonly reader: StoreReader;
  readonly changes: ChangeFeed;
  readonly #streams: StreamFeed;
  readonly startedAt: Instant = Date.now();
  readonly #options: RuntimeOptions;
  readonly #migrator: Migrator;
  readonly #owner = `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`;
  #loop: Loop;
  #closed = false;
  #restartMs = RESTART_MS_FIRST;
  #restartTimer: NodeJS.Timeout | null = null;
  #idleMemory: { stop(): void } | null = null;
  readonly #totals = { batches: 0, events: 0, mutations: 0, failures: 0, imagesLost: 0 };

  constructor(options: RuntimeOptions) {
    this.#options = options;
    this.catalog = options.catalog;
    this.reader = options.store.reader;
    this.#streams = new StreamFeed(this.reader);
    this.#migrator = new Migrator({
      store: options.store,
      environment: options.catalog,
      migrateState: options.migrateState ?? refuseMigration,
      ask: (question) => this.#loop.ask(question),
      onGivenUp: (run, reason) => options.onMigrationGivenUp?.(run, reason),
    });
    this.changes = new ChangeFeed(randomUUID().slice(0, 8), Date.now);
    this.#loop = this.#newLoop();
  }

  async start(): Promise<void> {
    await this.#loop.start(this.#owner);
    this.#idleMemory = returnIdleMemory(() => this.#totals.batches);
  }

  get figures(): RuntimeFigures {
    return { ...this.#loop.figures, ...this.#totals };
  }

  get isolates(): IsolateFigures | null {
    return this.#options.isolates?.() ?? null;
  }

  /** Bundles and bases that are stored. */
  async artifactCounts(): Promise<Readonly<Record<ArtifactKind, number>>> {
    const counts = { bundle: 0, base: 0 };
    for (const { kind } of await this.#options.store.artifacts.list()) counts[kind] += 1;
    return counts;
  }

  /** Questions are taken. */
  get healthy(): boolean {
    return this.#loop.state === "running";
  }

  get draining(): boolean {
    return this.#closed;
  }

  /** Starts a run and answers when that is durable. */
  async submit(request: SubmitRequest): Promise<Accepted> {
    const reply = await this.#ask(this.#submission(request, false));
    if (reply.type !== "accepted") throw unexpected(reply);
    return { run: reply.run, existing: reply.existing, status: reply.status };
  }

  /** Starts a run and answers when it has ended. */
  async call(request: SubmitRequest, onAsked?: OnAsked): Promise<Finished> {
    const reply = await this.#ask(this.#submission(request, true), onAsked);
    if (reply.type !== "finished") throw unexpected(reply);
    return { run: reply.run, existing: reply.existing, result: reply.result };
  }

  /** The id that `request` will get. Fresh ones differ from call to call. */
  runIdFor(request: Pick<SubmitRequest, "target" | "idempotencyKey">): {
    readonly run: RunId;
    readonly fresh: boolean;
  } {
    const { target, idempotencyKey } = request;
    const mode = this.catalog.mode(target);
    if (mode === null) throw this.catalog.unknown(target);
    if (mode === "workflow") return { run: workflowRunId(target.service, target.key ?? ""), fresh: false };
    if (idempotencyKey !== undefined) return { run: idempotentRunId(target, idempotencyKey), fresh: false };
    return { run: randomRunId(target), fresh: true };
  }

  #submission(request: SubmitRequest, awaits: boolean): Question {
    const { run, fresh } = this.runIdFor(request);
    return {
      type: "submit",
      run,
      fresh,
      target: request.target,
      input: request.input,
      headers: request.headers ?? null,
      idempotencyKey: request.idempotencyKey ?? null,
      startAt: request.startAt ?? null,
      await: awaits,
    };
  }

  /** The result of a run, as soon as it has ended. */
  async attach(run: RunId, onAsked?: OnAsked): Promise<Result> {
    const reply = await this.#ask({ type: "attach", run }, onAsked);
    if (reply.type !== "finished") throw unexpected(reply);
    return reply.result;
  }

  /** The result of a run if it has ended, else null. */
  async output(id: RunId): Promise<Result | null> {
    return (await this.run(id)).result;
  }

  /** @throws RunNotFoundError */
  async run(id: RunId): Promise<Run> {
    const run = await this.reader.run(id);
    if (run === null) throw new RunNotFoundError(`there is no run ${id}: it never was, or its retention is over`);
    return run;
  }

  /** Items from offset `from` on, or from where the stream begins, at most `limit`. */
  readStream(stream: StreamRef, from: number, limit: number): Promise<StreamPage> {
    return this.reader.stream(stream, from, limit);
  }

  /**
   * Gives each durable item from offset `from` on to the listener, once and in order: first what is there, then what comes.
   * A listener that gives a promise is given nothing more until it is fulfilled. `failed`: the watch ended by an error.
   */
  watchStream(
    stream: StreamRef,
    from: number,
    listener: StreamListener,
    failed: (error: unknown) => void = (error) => this.#options.onTrouble?.(error, 0),
  ): StreamWatch {
    return this.#streams.watch(stream, from, listener, failed);
  }

  live(run: RunId): LiveView {
    const attempt = this.#loop.attempt(run);
    return { live: attempt !== undefined, awaiting: attempt?.awaiting() ?? null };
  }

  async signal(run: RunId, signal: SignalName, payload: Result): Promise<RunStatus | null> {
    return this.#done({ type: "signal", run, signal, payload });
  }

  /** Answers an awakeable. @throws BadRequestError where `id` is none. */
  async completeAwakeable(id: string, result: Result): Promise<RunId> {
    const ref = parseAwakeableId(id);
    if (ref === undefined)
      throw new BadRequestError(
        `"${id}" is not an awakeable id: those begin with sign_1 and come from ctx.awakeable()`,
      );
    await this.signal(ref.run, ref.signal, result);
    return ref.run;
  }

  cancel(run: RunId): Promise<RunStatus | null> {
    return this.#done({ type: "cancel", run });
  }

  kill(run: RunId): Promise<RunStatus | null> {
    return this.#done({ type: "kill", run });
  }

  pause(run: RunId): Promise<RunStatus | null> {
    return this.#done({ type: "pause", run });
  }

  resume(run: RunId): Promise<RunStatus | null> {
    return this.#done({ type: "resume", run });
  }

  /** The journal is cut before entry `from` (1: everything), and the run goes on from there. */
  restart(run: RunId, from: number): Promise<RunStatus | null> {
    return this.#done({ type: "restart", run, from });
  }

  /** The run goes over to other code, from the safe point that it is at. @throws RunNotFoundError, BadRequestError */
  async migrate(run: RunId, request: MigrationRequest): Promise<MigrationReport> {
    if (this.#closed) throw shuttingDown();
    try {
      return await this.#migrator.migrate(run, request);
    } catch (error) {
      throw outsideError(error);
    }
  }

  /** A new run that shares the first entries of `id` and goes on from there on its own. */
  async fork(id: RunId, request: ForkRequest = {}): Promise<Accepted> {
    const { service, handler, key, mode } = await this.run(id);
    const target = key === null ? { service, handler } : { service, handler, key };
    // Of a handler that is exclusive the fork has another key, and an id that goes with it.
    const isExclusive = key !== null && (mode === "exclusive" || mode === "workflow");
    const own = isExclusive ? (request.key ?? `${key}~${randomRunId(target).slice(-FORK_KEY_DIGITS)}`) : undefined;
    const forked = own === undefined ? target : { ...target, key: own };
    const reply = await this.#ask({
      type: "fork",
      run: id,
      id: mode === "workflow" ? workflowRunId(service, own ?? "") : randomRunId(forked),
      ...request,
      ...(own === undefined ? {} : { key: own }),
    });
    if (reply.type !== "accepted") throw unexpected(reply);
    return { run: reply.run, existing: reply.existing, status: reply.status };
  }

  /** The run goes back to what it was after entry `at`, in place. What it is now is kept as a run that has ended. */
  async rewind(id: RunId, at: number): Promise<Rewound> {
    const { service, handler, key } = await this.run(id);
    const branch = randomRunId(key === null ? { service, handler } : { service, handler, key });
    return { status: await this.#done({ type: "rewind", run: id, at, branch }), branch };
  }

  /** The entries at which the run has an image, oldest first. @throws RunNotFoundError */
  async moments(id: RunId): Promise<readonly ImageInfo[]> {
    await this.run(id);
    return this.reader.images(id);
  }

  /** What is in the image at that entry. @throws RunNotFoundError, BadRequestError where there is none */
  async inspectImage(id: RunId, entry: number): Promise<{ readonly info: ImageInfo; readonly image: ImageInspection }> {
    const images = await this.moments(id);
    const info = images.find((one) => one.entry === entry);
    if (info === undefined) {
      const there = images.map((one) => one.entry).join(", ");
      const known = there === "" ? "the run has none" : `those of the run are at ${there}`;
      throw new BadRequestError(`there is no image at entry ${entry}: ${known}`);
    }
    return { info, image: await inspectStored(this.#options.store, info) };
  }

  /** A moment with a name is kept as long as its run; `null` takes the name away. */
  nameMoment(run: RunId, entry: number, name: string | null): Promise<RunStatus | null> {
    return this.#done({ type: "nameMoment", run, entry, name });
  }

  /** The bundles that are stored, and which runs have which. */
  deployments(): Promise<readonly DeploymentView[]> {
    return deploymentsOf(this.#options.store, this.catalog, this.catalog.targets.manifests);
  }

  /** Deletes a finished run. */
  purge(run: RunId): Promise<RunStatus | null> {
    return this.#done({ type: "purge", run });
  }

  /** A person says what became of the effect of `command`; no result: it did not happen, run it again. */
  settleEffect(run: RunId, command: number, result: Result | undefined): Promise<RunStatus | null> {
    return this.#done(
      result === undefined ? { type: "settleEffect", run, command } : { type: "settleEffect", run, command, result },
    );
  }

  /** @throws ConflictError where a run has the turn, or something is not what is expected. */
  async editState(
    service: string,
    key: string,
    changes: ReadonlyMap<string, Payload | null>,
    { expected = new Map(), force = false }: EditStateOptions = {},
  ): Promise<void> {
    await this.#ask({ type: "editState", key: { service, key }, changes, expected, force });
  }

  /** Takes nothing new, lets running steps finish for at most `graceMs`, then closes the store. */
  async close(graceMs: DurationMs): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#idleMemory?.stop();
    if (this.#restartTimer !== null) clearTimeout(this.#restartTimer);
    let timer: NodeJS.Timeout | undefined;
    await this.#loop.drain((giveUp) => {
      timer = setTimeout(giveUp, graceMs);
    });
    clearTimeout(timer);
    await this.#options.store.close();
  }

  async #done(question: Question): Promise<RunStatus | null> {
    const reply = await this.#ask(question);
    if (reply.type !== "done") throw unexpected(reply);
    return reply.status;
  }

  async #ask(question: Question, onAsked?: OnAsked): Promise<Reply> {
    if (this.#closed) throw shuttingDown();
    let reply: Reply;
    try {
      reply = await this.#loop.ask(question, onAsked);
    } catch (error) {
      throw outsideError(error);
    }
    if (reply.type === "refused") throw refusal(reply);
    return reply;
  }

  #newLoop(): Loop {
    return new Loop({
      store: this.#options.store,
      executor: this.#options.executor,
      environment: this.catalog,
      clock: nodeClock,
      scheduler: nodeScheduler,
      observer: this.#observer,
      ...(this.#options.limits === undefined ? {} : { limits: this.#options.limits }),
      onFailure: (error) => this.#replaceLoop(error),
    });
  }

  readonly #observer: Observer = {
    committed: (mutations: readonly Mutation[], now: Instant): void => {
      this.changes.committed(mutations, now);
      this.#streams.committed(mutations);
      this.#restartMs = RESTART_MS_FIRST; // A commit went through: the trouble is over.
    },
    batch: (events, mutations) => {
      this.#totals.batches += 1;
      this.#totals.events += events;
      this.#totals.mutations += mutations;
    },
    mayMigrate: (run) => void this.#migrator.mayMigrate(run),
    imageLost: (run, entry, reason) => {
      this.#totals.imagesLost += 1;
      this.#options.onImageLost?.(run, entry, reason);
    },
  };

  #replaceLoop(error: unknown): void {
    this.#totals.failures += 1;
    if (this.#closed) return;
    const delay = this.#restartMs;
    this.#restartMs = Math.min(delay * 2, RESTART_MS_MAX);
    this.#options.onTrouble?.(error, delay);
    this.#restartTimer = setTimeout(() => {
      this.#loop = this.#newLoop();
      this.#loop.start(this.#owner).then(
        () => this.#streams.reread(), // What the lost loop has written last, nobody told of.
        (failure: unknown) => {
          this.#loop.stop();
          this.#replaceLoop(failure);
        },
      );
    }, delay);
  }
}

function shuttingDown(): ShuttingDownError {
  return new ShuttingDownError("the runtime is shutting down; try again in a moment");
}

const refuseMigration: StateMigrator = async () => {
  throw new MigrationRefusedError("this runtime was not told how to ask code about a state");
};

function refusal(reply: Extract<Reply, { type: "refused" }>): Error {
  switch (reply.reason) {
    case "not_found":
      return new RunNotFoundError(reply.message);
    case "unknown_target":
      return new UnknownTargetError(reply.message);
    case "overloaded":
      return new OverloadedError(reply.message);
    case "conflict":
      return new ConflictError(reply.message);
  }
}

function outsideError(error: unknown): Error {
  if (error instanceof LoopClosedError)
    return new ShuttingDownError("the engine is starting again or shutting down; try again in a moment", {
      cause: error,
    });
  if (isPerdureError(error) && (error instanceof FencedError || error instanceof StoreWriteError)) return error;
  return error instanceof Error ? error : new AssertionError(String(error));
}

function unexpected(reply: Reply): AssertionError {
  return new AssertionError(`the engine answered "${reply.type}" to a question of another kind`);
}
