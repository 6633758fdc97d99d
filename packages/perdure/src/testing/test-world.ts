// A test world: the real engine and the real replay machine over a memory store, with a clock that skips time
// ===========================================================================================================
// Nothing is mocked but the disk and the clock. When nothing is left to do the clock jumps to the next timer, so a handler
// that sleeps for a week ends at once. The world can be crashed at any commit and opened again on the same storage, which
// is what `crashAtEveryEntry` does.
//
// Given `sources`, definitions with `memory: "snapshot"` live in isolates here, too (isolated-runs.ts), and with
// `mode: "snapshot"` all that are named do: the same handlers, tested in both modes.

import { AsyncLocalStorage } from "node:async_hooks";
import { createHash } from "node:crypto";
import {
  Loop,
  createMemoryStorage,
  openMemoryStore,
  type Clock,
  type CommitFate,
  type Limits,
  type MemoryStorage,
  type Question,
  type Scheduler,
  type StreamItem,
} from "@perdure/engine";
import {
  Catalog,
  createRoutedExecutor,
  createStateMigrator,
  hostFetch,
  type HostFunction,
  type MigrationRequest,
  Migrator,
} from "@perdure/host";
import {
  createExecutor,
  createRegistry,
  type LogRecord,
  type MemoryMode,
  type Registry,
  type SdkPorts,
  type Servable,
  type StartCall,
  type StepScope,
} from "@perdure/sdk";
import {
  isFinished,
  valueResult,
  type Entry,
  type Executor,
  type MigrationReport,
  type Result,
  type Run,
  type RunId,
  type StreamOwner,
  type Target,
} from "@perdure/protocol";
import { describeAwaiting, describeFailure, openWait, type OpenWait } from "./waits.ts";
import { IsolatedRuns, type TestImages } from "./isolated-runs.ts";

/** A step's closure that was run. Of an isolate's it is known when it ends: in a result, or in an error that is retried. */
export interface Execution {
  readonly run: RunId;
  readonly service: string;
  readonly handler: string;
  readonly step: string;
  readonly command: number;
  /** Its result was in the journal already: the effect was paid for twice (E2). */
  readonly journaledBefore: boolean;
}

/** What may be kept between worlds: the disk, and what the outside has seen. */
export interface TestMemory {
  readonly storage: MemoryStorage;
  readonly executions: Execution[];
  now: number;
  /** How often a world was opened on it. */
  opened: number;
  /** How many forks and branches were made. */
  forked: number;
  readonly images: ImageCounts;
}

export interface TestFork {
  readonly at?: number;
  readonly key?: string;
  readonly note?: unknown;
}

/** What became of images of runs with `memory: "snapshot"`. */
export interface ImageCounts {
  taken: number;
  /** Attempts that began from one. */
  restored: number;
  /** Damaged ones that were passed over. */
  lost: number;
}

export interface TestWorldOptions {
  /** Definitions, and what is made of them: schedules. */
  readonly services: readonly Servable[];
  readonly limits?: Partial<Limits>;
  readonly log?: (record: LogRecord) => void;
  readonly memory?: TestMemory;
  /** Modules that export the definitions with `memory: "snapshot"`: paths or file URLs, as `serve()` takes them. */
  readonly sources?: readonly (string | URL)[];
  /** When their runs are imaged. Default: as a server does. */
  readonly images?: TestImages;
  /** How runs of all named services are remembered, whatever their definitions ask for. */
  readonly mode?: MemoryMode;
}

const START_OF_TIME = Date.UTC(2026, 0, 1);
/** Turns of the event loop without any work after which the world counts as idle. */
const IDLE_TURNS = 4;
/** More jumps of the clock than this without an end are taken for a loop. */
const JUMPS_MAX = 100_000;

export function createTestMemory(): TestMemory {
  return {
    storage: createMemoryStorage(),
    executions: [],
    now: START_OF_TIME,
    opened: 0,
    forked: 0,
    images: { taken: 0, restored: 0, lost: 0 },
  };
}

export class TestWorld {
  readonly memory: TestMemory;
  readonly registry: Registry;
  readonly catalog: Catalog;
  readonly #options: TestWorldOptions;
  readonly #loop: Loop;
  readonly #migrator: Migrator;
  /** Of handlers in this process: the models of isolates are found by them, too. */
  readonly #shared: SdkPorts;
  #isolated: IsolatedRuns | undefined = undefined;
  readonly #alarms: Alarm[] = [];
  #turns = 0;
  /** Steps whose closures run. One that waits for a time of the world's clock is not busy. */
  readonly #steps: Set<RunningStep> = new Set();
  readonly #inStep: AsyncLocalStorage<RunningStep> = new AsyncLocalStorage();
  #activity = 0;
  #crashed = false;
  /** The engine itself broke: nothing goes on any more. */
  #failure: { readonly error: unknown } | undefined = undefined;

  constructor(options: TestWorldOptions) {
    this.#options = options;
    this.memory = options.memory ?? createTestMemory();
    this.registry = createRegistry(options.services);
    this.catalog = new Catalog(this.registry, {
      deployment: (target) => this.#isolated?.deployment(target) ?? null,
    });
    this.#migrator = new Migrator({
      store: openMemoryStore(this.memory.storage),
      environment: this.catalog,
      migrateState: createStateMigrator(this.registry, {
        migrateState: (bundle, migration) => this.#runs.migrateState(bundle, migration),
      }),
      ask: (question) => this.#loop.ask(question),
      onGivenUp: (run, reason) => this.#options.log?.(givenUp(run, reason)),
    });
    this.#shared = this.#ports(options.log);
    const isolates: Executor = { start: (start, replies) => this.#runs.start(start, replies) };
    this.#loop = new Loop({
      store: openMemoryStore(this.memory.storage),
      executor: createRoutedExecutor(createExecutor(this.registry, this.#shared), isolates),
      environment: this.catalog,
      clock: this.#clock,
      scheduler: this.#scheduler,
      onFailure: (error) => (this.#failure ??= { error }),
      observer: {
        committed: () => undefined,
        imageLost: () => (this.memory.images.lost += 1),
        mayMigrate: (run) => void this.#migrator.mayMigrate(run),
      },
      retentionEveryMs: Number.POSITIVE_INFINITY, // Else the clock would jump from sweep to sweep for ever.
      ...(options.limits === undefined ? {} : { limits: options.limits }),
    });
  }

  /** @throws DefinitionError where a definition asks for `memory: "snapshot"` and no source exports it; IsolateModuleError */
  async open(): Promise<this> {
    await this.#openIsolates();
    await this.#loop.start("test");
    this.memory.opened += 1;
    for (const call of this.registry.onStart) this.#callOnStart(call, `start ${this.memory.opened}`);
    return this;
  }

  async #openIsolates(): Promise<void> {
    const { services, sources = [], images = {}, mode, log = () => undefined } = this.#options;
    this.#isolated = await IsolatedRuns.open({
      services,
      registry: this.registry,
      sources,
      images,
      mode,
      storage: this.memory.storage,
      shared: this.#shared,
      ports: {
        now: () => this.memory.now,
        delay: (ms, callback) => this.#addAlarm(this.memory.now + ms, callback),
        randomBytes: chanceOf(`world ${this.memory.opened}`),
      },
      log,
      around: (fn) => this.#counted(fn),
      ran: ({ run, service, handler }, command, step) => this.#ran({ run, service, handler, step, command }),
      imaged: () => (this.memory.images.taken += 1),
    });
  }

  get #runs(): IsolatedRuns {
    if (this.#isolated === undefined) throw new Error("the world is not open");
    return this.#isolated;
  }

  /** While a function of the host runs for an isolate, the world is not idle. */
  #counted(fn: HostFunction): HostFunction {
    return (...args) => {
      const running: RunningStep = { alarms: 0 };
      return this.#whileRunning(running, () => this.#inStep.run(running, () => fn(...args)));
    };
  }

  /** As a server does. Not waited for: the world may crash before it is answered. */
  #callOnStart({ target, input }: StartCall, idempotencyKey: string): void {
    this.submit(target, input, idempotencyKey).catch((error: unknown) => {
      if (!this.#crashed) throw error;
    });
  }

  get now(): number {
    return this.memory.now;
  }

  get crashed(): boolean {
    return this.#crashed;
  }

  /** Starts a run. The id is derived from the target where no idempotency key is given, so that worlds repeat. */
  async submit(target: Target, input?: unknown, idempotencyKey = "test"): Promise<RunId> {
    const mode = this.catalog.mode(target);
    if (mode === null) throw this.catalog.unknown(target);
    const run =
      mode === "workflow"
        ? this.catalog.workflowId(target.service, target.key ?? "")
        : this.catalog.idempotentId(target, idempotencyKey);
    const payload = input === undefined ? null : JSON.stringify(input);
    await this.#loop.ask({
      type: "submit",
      run,
      fresh: false,
      target,
      input: payload,
      headers: null,
      idempotencyKey,
      startAt: null,
      await: false,
    });
    return run;
  }

  /** The stored record of a run. */
  run(id: RunId): Promise<Run | null> {
    return openMemoryStore(this.memory.storage).reader.run(id);
  }

  journal(id: RunId): Promise<readonly Entry[]> {
    return openMemoryStore(this.memory.storage).reader.journal(id, 0, 1_000_000);
  }

  /** The items of a stream: of a key's, or of a run of no key. */
  async stream(owner: StreamOwner, name: string): Promise<readonly StreamItem[]> {
    const { reader } = openMemoryStore(this.memory.storage);
    return (await reader.stream({ owner, name }, 0, Number.MAX_SAFE_INTEGER)).items;
  }

  runs(): Promise<readonly Run[]> {
    return openMemoryStore(this.memory.storage).reader.runs({ order: "oldest", limit: 1_000 });
  }

  async signal(run: RunId, name: string, value?: unknown): Promise<void> {
    await this.#loop.ask({ type: "signal", run, signal: name, payload: valueResult(JSON.stringify(value)) });
  }

  /** Resolves an awakeable; see `waiting()` for the open ones. */
  async resolve(awakeable: Pick<OpenWait, "run" | "signal">, value?: unknown): Promise<void> {
    await this.#loop.ask({
      type: "signal",
      run: awakeable.run,
      signal: awakeable.signal,
      payload: valueResult(JSON.stringify(value)),
    });
  }

  async cancel(run: RunId): Promise<void> {
    await this.#loop.ask({ type: "cancel", run });
  }

  async kill(run: RunId): Promise<void> {
    await this.#loop.ask({ type: "kill", run });
  }

  async pause(run: RunId): Promise<void> {
    await this.#loop.ask({ type: "pause", run });
  }

  async resume(run: RunId): Promise<void> {
    await this.#loop.ask({ type: "resume", run });
  }

  /** The journal is cut before entry `from`. */
  async restart(run: RunId, from: number): Promise<void> {
    await this.#loop.ask({ type: "restart", run, from });
  }

  /** As `perdure migrate` does. `to`: `latest`, or a bundle. */
  migrate(run: RunId, request: MigrationRequest = { to: "latest" }): Promise<MigrationReport> {
    return this.#migrator.migrate(run, request);
  }

  /**
   * A run that shares the first entries of another (absent: all of them) and goes on on its own. Where its handler is
   * exclusive it has another key.
   */
  async fork(origin: RunId, request: TestFork = {}): Promise<RunId> {
    const record = await this.run(origin);
    if (record === null) throw new Error(`there is no run ${origin}`);
    const { service, handler, key, mode } = record;
    const number = (this.memory.forked += 1);
    const isExclusive = key !== null && (mode === "exclusive" || mode === "workflow");
    const own = isExclusive ? (request.key ?? `${key}~${number}`) : undefined;
    const target = { service, handler, ...(key === null ? {} : { key: own ?? key }) };
    const run =
      mode === "workflow"
        ? this.catalog.workflowId(service, own ?? "")
        : this.catalog.idempotentId(target, `fork ${number} of ${origin}`);
    const { at, note } = request;
    await this.#done({
      type: "fork",
      run: origin,
      id: run,
      ...(at === undefined ? {} : { at }),
      ...(own === undefined ? {} : { key: own }),
      ...(note === undefined ? {} : { note: JSON.stringify(note) }),
    });
    return run;
  }

  /** The run goes back to what it was after entry `at`. What it was is kept under the id that is given back. */
  async rewind(run: RunId, at: number): Promise<RunId> {
    const { service, handler } = (await this.run(run)) ?? { service: "", handler: "" };
    const branch = this.catalog.idempotentId({ service, handler }, `branch ${(this.memory.forked += 1)} of ${run}`);
    await this.#done({ type: "rewind", run, at, branch });
    return branch;
  }

  async #done(question: Question): Promise<void> {
    const reply = await this.#loop.ask(question);
    if (reply.type === "refused") throw new Error(reply.message);
  }

  /** Signals and awakeables that unfinished runs wait for. */
  async waiting(): Promise<readonly OpenWait[]> {
    const open: OpenWait[] = [];
    for (const run of await this.runs()) {
      if (isFinished(run.status)) continue;
      for (const item of this.#loop.attempt(run.id)?.awaiting() ?? run.awaiting ?? []) {
        if (item.kind === "signal") open.push(openWait(run, item.signal));
      }
    }
    return open;
  }

  #isBusy(): boolean {
    if (this.#turns > 0 || this.#loop.figures.queued > 0 || this.#isolated?.busy === true) return true;
    for (const { alarms } of this.#steps) if (alarms === 0) return true;
    return false;
  }

  /** Lets everything happen that can happen without time passing. */
  async settle(): Promise<void> {
    for (let idle = 0; idle < IDLE_TURNS && !this.#crashed; ) {
      const before = this.#activity;
      await macrotask();
      const busy = this.#isBusy() || before !== this.#activity;
      idle = busy ? 0 : idle + 1;
    }
  }

  /**
   * Lets the world go on, skipping time, until `run` has ended or the world crashed.
   * @param outside called whenever everything waits: the place to answer awakeables and send signals. True: it did something.
   * @throws Error where the run waits for something that nobody brings.
   */
  async finish(run: RunId, outside?: (world: TestWorld) => Promise<boolean> | boolean): Promise<Result | null> {
    for (let jumps = 0; jumps < JUMPS_MAX; jumps += 1) {
      await this.settle();
      if (this.#crashed) return null;
      if (this.#failure !== undefined) throw this.#failure.error;
      const record = await this.run(run);
      if (record !== null && isFinished(record.status)) return record.result;
      if (record?.status === "paused") throw new Error(`run ${run} is paused: ${describeFailure(record.pausedBy)}`);
      try {
        if ((await outside?.(this)) === true) continue;
      } catch (error) {
        if (!this.#crashed) throw error; // Else its question went down with the host, as any caller's would.
      }
      if (this.#crashed) return null;
      if (!this.#jump())
        throw new Error(
          `run ${run} (${record?.status}) waits for something that nobody brings: ${describeAwaiting(record)}`,
        );
    }
    throw new Error(`run ${run} has not ended after ${JUMPS_MAX} jumps of the clock`);
  }

  /** Lets time pass, timers firing in order. */
  async advance(ms: number): Promise<void> {
    const until = this.memory.now + ms;
    for (;;) {
      await this.settle();
      const next = this.#nextAlarm();
      if (next === undefined || next.at > until) break;
      this.#jump();
    }
    this.memory.now = until;
    await this.settle();
  }

  /** The host dies now: nothing that is live says another word. */
  crash(): void {
    if (this.#crashed) return;
    this.#crashed = true;
    this.#loop.stop();
    this.memory.images.restored += this.#isolated?.figures.restores ?? 0;
    void this.#isolated?.close();
  }

  /** Decides over each commit; a lost or orphaned one crashes the world. */
  onCommit(decide: (entries: number) => CommitFate): void {
    this.memory.storage.hooks.beforeCommit = (commit) => {
      const entries = commit.mutations.filter((mutation) => mutation.type === "appendEntry").length;
      const fate = decide(entries);
      if (fate === "lose" || fate === "orphan") queueMicrotask(() => this.crash());
      return fate;
    };
  }

  #nextAlarm(): Alarm | undefined {
    return this.#alarms.reduce<Alarm | undefined>(
      (soonest, alarm) => (soonest === undefined || alarm.at < soonest.at ? alarm : soonest),
      undefined,
    );
  }

  /** Moves the clock to the next alarm. False: there is none. */
  #jump(): boolean {
    const next = this.#nextAlarm();
    if (next === undefined) return false;
    this.memory.now = Math.max(this.memory.now, next.at);
    for (const alarm of this.#alarms.filter((other) => other.at <= this.memory.now)) {
      this.#alarms.splice(this.#alarms.indexOf(alarm), 1);
      alarm.callback();
    }
    return true;
  }

  #addAlarm(at: number, callback: () => void): () => void {
    if (at === Number.POSITIVE_INFINITY) return () => undefined;
    const alarm = { at, callback };
    this.#alarms.push(alarm);
    return () => {
      const place = this.#alarms.indexOf(alarm);
      if (place >= 0) this.#alarms.splice(place, 1);
    };
  }

  #delay(ms: number, callback: () => void): () => void {
    const step = this.#inStep.getStore();
    if (step === undefined) return this.#addAlarm(this.memory.now + ms, callback);
    let pending = true;
    const over = (): void => {
      if (pending) step.alarms -= 1;
      pending = false;
    };
    step.alarms += 1;
    const cancel = this.#addAlarm(this.memory.now + ms, () => {
      over();
      this.#activity += 1;
      callback();
    });
    return () => {
      over();
      cancel();
    };
  }

  readonly #clock: Clock = {
    now: () => this.memory.now,
    wakeAt: (at, callback) => this.#addAlarm(at, callback),
  };

  readonly #scheduler: Scheduler = { soon: (callback) => this.#soon(callback) };

  /** In a later turn of the event loop; until then the world is not idle. */
  #soon(callback: () => void): void {
    this.#turns += 1;
    setImmediate(() => {
      this.#turns -= 1;
      this.#activity += 1;
      callback();
    });
  }

  #ports(log: ((record: LogRecord) => void) | undefined): SdkPorts {
    return {
      now: () => this.memory.now,
      random: () => 0.5,
      afterMicrotasks: (callback) => queueMicrotask(() => process.nextTick(callback)),
      afterTicks: (callback) => this.#soon(callback),
      delay: (ms, callback) => this.#delay(ms, callback),
      createAbortController: () => new AbortController(),
      fetch: hostFetch,
      runStep: (scope, body) => this.#runStep(scope, body),
      ...(log === undefined ? {} : { log }),
    };
  }

  #runStep<T>(scope: StepScope, body: () => T): T {
    this.#ran(scope);
    const running: RunningStep = { alarms: 0 };
    return this.#whileRunning(running, () => this.#inStep.run(running, body));
  }

  #ran({ run, service, handler, step, command }: Omit<Execution, "journaledBefore">): void {
    const journaledBefore = this.#hasResult(run, command);
    this.memory.executions.push({ run, service, handler, step, command, journaledBefore });
  }

  #whileRunning<T>(running: RunningStep, body: () => T): T {
    this.#steps.add(running);
    const done = (): void => {
      this.#steps.delete(running);
      this.#activity += 1;
    };
    try {
      const result = body();
      void Promise.resolve(result).then(done, done);
      return result;
    } catch (error) {
      done();
      throw error;
    }
  }

  #hasResult(run: RunId, command: number): boolean {
    const { data } = this.memory.storage;
    const stored = data.runs.get(data.seqs.get(run) ?? -1);
    return (stored?.entries ?? []).some(
      (entry) =>
        (entry.kind === "completion" && entry.id === command) ||
        (entry.kind === "command" && entry.id === command && entry.result !== undefined),
    );
  }
}

/** Never the same bytes twice, and the same ones again in a world that repeats. */
function chanceOf(seed: string): (count: number) => Buffer {
  let drawn = 0;
  return (count) => {
    drawn += 1;
    return createHash("shake256", { outputLength: Math.max(1, count) })
      .update(`${seed} ${drawn}`)
      .digest()
      .subarray(0, count);
  };
}

interface RunningStep {
  /** Times that it waits for. */
  alarms: number;
}

interface Alarm {
  readonly at: number;
  readonly callback: () => void;
}

function givenUp(run: RunId, reason: string): LogRecord {
  const message = `the migration was given up: ${reason}`;
  return { level: "warn", message, fields: undefined, run, service: "", handler: "", key: null };
}

function macrotask(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
