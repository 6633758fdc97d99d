// A world: one seed, from the first submission until everything has settled
// =========================================================================
// Phase 1 has faults. In phase 2 they are over, whoever waits for a person or a signal gets it, and every run must end.
//
// W1. The world does one thing at a time, then lets all microtasks run dry, then does the next: promise reactions of
//     engine and handlers run to their end inside the tick that caused them, so the order of everything is a function of
//     the seed. (A turn of `setImmediate` begins only when no microtask is left; nothing in a world waits for real I/O.)
// W2. All randomness comes from streams split off the seed by name.

import {
  createMemoryStorage,
  type MemoryStorage,
  type Mutation,
  openMemoryStore,
  type StoreReader,
  type StreamPage,
} from "@perdure/engine";
import {
  type Awaiting,
  type Executor,
  isFinished,
  type Run,
  type RunId,
  streamOwner,
  type StreamOwner,
  type StreamRef,
  valueResult,
} from "@perdure/protocol";
import { createRoutedExecutor } from "@perdure/host";
import { createRegistry } from "@perdure/sdk";
import { Agenda } from "./agenda.ts";
import { Company } from "./agents/company.ts";
import { playbill } from "./agents/stage.ts";
import { Catalogue } from "./catalogue.ts";
import { Checkers } from "./checkers/all.ts";
import { Effects } from "./effects.ts";
import { Names, type Observation, type StoredRun, type StoredState, type Violation } from "./observations.ts";
import { Operator } from "./outside/operator.ts";
import { describeParameters, drawParameters, type Parameters, type WorldKind } from "./parameters.ts";
import { drawPrograms, type Program } from "./program.ts";
import { hashText, Random } from "./random.ts";
import { ScriptExecutor, type ScriptPorts } from "./script/attempt.ts";
import { createSdkExecutor } from "./sdk/executor.ts";
import { type IsolateSimPorts, openIsolates, prepareIsolates } from "./sdk/isolates.ts";
import { type Process, type Sabotage, SimHost } from "./sim-host.ts";
import { Trace, type TraceSink } from "./trace.ts";

export interface WorldOptions {
  readonly seed: number;
  readonly executor?: WorldKind;
  readonly trace?: TraceSink;
  readonly sabotage?: Sabotage;
  /** Is given everything that is seen. */
  readonly record?: (observation: Observation) => void;
  /** Stop at the first violation. */
  readonly impatient?: boolean;
}

export interface WorldReport {
  readonly seed: number;
  readonly parameters: string;
  readonly violations: readonly Violation[];
  readonly faultTicks: number;
  readonly healTicks: number;
  readonly events: number;
  readonly runs: number;
  readonly settled: number;
  readonly entries: number;
  readonly journalHash: string;
}

/** After the faults the world must come to rest within so much of its time, and so many events. */
const HEALING_MS_MAX = 1_200_000;
const EVENTS_MAX = 150_000;
const DECIDE_EVERY_MS = 250;
const REBOOT_MS_MAX = 150;

export async function runWorld(options: WorldOptions): Promise<WorldReport> {
  const world = new World(options, options.executor === "snapshot" ? await prepareIsolates() : "");
  return world.run();
}

type CommonPorts = Pick<ScriptPorts, "programs" | "settings" | "random" | "effects" | "now" | "attemptFails">;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function allRuns(reader: StoreReader): Promise<readonly Run[]> {
  const runs: Run[] = [];
  for (;;) {
    const page = await reader.runs({ limit: 1_000, order: "oldest", cursor: runs.at(-1)?.seq ?? 0 });
    runs.push(...page);
    if (page.length < 1_000) return runs;
  }
}

class World {
  readonly #options: WorldOptions;
  readonly #random: Random;
  readonly #parameters: Parameters;
  readonly #agenda: Agenda = new Agenda();
  readonly #storage: MemoryStorage = createMemoryStorage();
  readonly #programs: readonly Program[];
  readonly #environment: Catalogue;
  readonly #effects: Effects = new Effects();
  readonly #names: Names = new Names();
  readonly #checkers: Checkers = new Checkers(this.#names);
  readonly #trace: Trace;
  readonly #hosts: readonly SimHost[];
  readonly #operator: Operator;
  /** Null: a world without agents. */
  readonly #company: Company | null;
  #faulty = true;
  #attempts = 0;
  #events = 0;
  #hash = 0;
  #entries = 0;

  /** @param bundle of handlers in isolates, where there are some. */
  constructor(options: WorldOptions, bundle: string) {
    this.#options = options;
    this.#random = new Random(options.seed);
    const parameters = drawParameters(options.seed, this.#random.split("parameters"), options.executor ?? "script");
    this.#parameters = parameters;
    options.trace?.(describeParameters(parameters));
    this.#programs = drawPrograms(this.#random.split("programs"), parameters.programs);
    const retry = {
      initialMs: 20,
      maxMs: 500,
      maxAttempts: parameters.handlerTriesMax,
      onExhausted: parameters.onExhausted,
    };
    const manifests = parameters.agents === null ? [] : createRegistry(playbill(parameters.agents)).manifests;
    this.#environment = new Catalogue({
      retry,
      retentionMs: parameters.retention.keepMs,
      deployment: ({ service }) => (parameters.isolated.includes(service) ? bundle : "d1"),
      manifests,
    });
    this.#trace = new Trace(options.trace ?? null, this.#agenda, this.#names, this.#checkers.shadow);
    this.#hosts = Array.from({ length: parameters.hosts }, (_, index) => new SimHost(index, this.#hostPorts()));
    this.#operator = new Operator({
      random: this.#random.split("operator"),
      parameters,
      programs: this.#programs,
      environment: this.#environment,
      shadow: this.#checkers.shadow,
      after: (ms, callback) => void this.#agenda.after(ms, callback),
      now: () => (this.#hosts[0] as SimHost).clock.now(),
      host: () => this.#anyHost(),
      trace: (text) => this.#trace.note(-1, ">", text),
    });
    this.#company = this.#assemble();
  }

  #assemble(): Company | null {
    const { agents: parameters, faultMs } = this.#parameters;
    if (parameters === null) return null;
    return new Company({
      seed: this.#options.seed,
      parameters,
      programs: this.#programs.length,
      bend: this.#options.sabotage?.context,
      faultsOn: () => this.#faulty,
      see: (observation) => this.#see(observation),
      outside: {
        random: this.#random.split("correspondent"),
        faultMs,
        environment: this.#environment,
        shadow: this.#checkers.shadow,
        after: (ms, callback) => void this.#agenda.after(ms, callback),
        host: () => this.#anyHost(),
        trace: (text) => this.#trace.note(-1, ">", text),
      },
    });
  }

  #hostPorts(): ConstructorParameters<typeof SimHost>[1] {
    return {
      agenda: this.#agenda,
      random: this.#random.split("hosts"),
      parameters: this.#parameters,
      environment: this.#environment,
      sabotage: this.#options.sabotage ?? {},
      storage: this.#storage,
      faultsOn: () => this.#faulty,
      nextAttempt: () => ++this.#attempts,
      see: (observation) => this.#see(observation),
      trace: (host, mark, text) => this.#trace.note(host, mark, text),
      executor: (host, life) => this.#executor(host, life),
      down: (host, fenced) => {
        if (!fenced || this.#parameters.hosts === 1) this.#reviveSoon(host);
      },
    };
  }

  #executor(host: SimHost, life: Process): Executor {
    const { faults, executor } = this.#parameters;
    const common = {
      programs: this.#programs,
      settings: executor,
      random: this.#random.split(`executor ${host.index} ${this.#agenda.tick}`),
      effects: this.#effects,
      now: () => host.clock.now(),
      attemptFails: () => (this.#faulty ? faults.attemptFails : 0),
    };
    return executor.kind === "sdk" ? this.#sdkExecutor(host, life, common) : this.#scriptExecutor(host, life, common);
  }

  #sdkExecutor(host: SimHost, life: Process, common: CommonPorts): Executor {
    const seen = this.#seen(host);
    const inProcess = createSdkExecutor({
      ...common,
      ...seen,
      idempotentId: (target, idempotencyKey) => this.#environment.idempotentId(target, idempotencyKey),
      workflowId: (service, key) => this.#environment.workflowId(service, key),
      after: life.after,
      more: this.#company?.define(life) ?? [],
      provide: (ports) => this.#company?.provide(ports),
    });
    if (this.#parameters.isolated.length === 0) return inProcess;
    const random = common.random.split("isolates");
    const isolates = openIsolates({ ...common, ...seen, random, after: life.after });
    life.bereaved.add(() => void isolates.close());
    return createRoutedExecutor(inProcess, isolates);
  }

  #seen(host: SimHost): Pick<IsolateSimPorts, "executed" | "saw"> {
    return {
      executed: (run, command) =>
        this.#ofAttempt(host, run, (attempt) => ({ type: "executed", tick: this.#agenda.tick, attempt, command })),
      saw: (run, count, digest) =>
        this.#ofAttempt(host, run, (attempt) => ({
          type: "observed",
          attempt,
          command: count,
          result: valueResult(String(digest)),
        })),
    };
  }

  /** Something that the code of a live attempt does. */
  #ofAttempt(host: SimHost, run: RunId, observation: (attempt: number) => Observation): void {
    const attempt = host.watched?.attemptOf(run);
    if (attempt !== undefined) this.#see(observation(attempt));
  }

  #scriptExecutor(host: SimHost, life: Process, common: CommonPorts): Executor {
    const { images } = this.#parameters;
    return new ScriptExecutor({
      ...common,
      images,
      imaging: common.random.split("images"),
      imageUnusable: () => (this.#faulty ? images.unusable : 0),
      after: (ms, callback) => void life.after(ms, callback),
      wakeAt: (at, callback) => void host.clock.wakeAt(at, () => (life.dead ? undefined : callback())),
      executed: ({ run }, command) =>
        this.#ofAttempt(host, run, (attempt) => ({ type: "executed", tick: this.#agenda.tick, attempt, command })),
      observed: ({ run }, command, result) =>
        this.#ofAttempt(host, run, (attempt) => ({ type: "observed", attempt, command, result })),
    });
  }

  #see(observation: Observation): void {
    this.#options.record?.(observation);
    if (observation.type === "committed") this.#count(observation.commit.mutations);
    this.#trace.see(observation);
    this.#checkers.see(observation);
  }

  #count(mutations: readonly Mutation[]): void {
    for (const mutation of mutations) {
      if (mutation.type === "insertRun") this.#names.of(mutation.run.id); // Traced or not, a run has the same name.
      if (mutation.type !== "appendEntry") continue;
      this.#entries += 1;
      this.#hash = hashText(JSON.stringify([mutation.run, mutation.entry]), this.#hash);
    }
  }

  async run(): Promise<WorldReport> {
    // What nobody catches would end a real process.
    const uncaught = (error: unknown): void =>
      this.#see({ type: "uncaught", text: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    process.on("unhandledRejection", uncaught);
    try {
      return await this.#perform();
    } finally {
      process.off("unhandledRejection", uncaught);
    }
  }

  async #perform(): Promise<WorldReport> {
    this.#operator.begin();
    this.#company?.correspondent.begin();
    (this.#hosts[0] as SimHost).boot();
    this.#planFaults();
    const { faultMs } = this.#parameters;
    this.#agenda.after(faultMs, () => undefined); // An idle world does not sleep past the end of the faults.
    while (this.#agenda.tick < faultMs && this.#goesOn() && this.#agenda.step()) await this.#afterEvent();
    const faultTicks = this.#agenda.tick;
    await this.#heal();
    while (this.#faulty === false && this.#goesOn() && !this.#isAtRest() && this.#agenda.step())
      await this.#afterEvent();
    await this.#settle(faultTicks);
    return this.#report(faultTicks);
  }

  async #afterEvent(): Promise<void> {
    this.#events += 1;
    await turn(); // W1.
  }

  #goesOn(): boolean {
    if (this.#options.impatient === true && this.#checkers.violations.length > 0) return false;
    return (
      this.#checkers.violations.length < 20 &&
      this.#events < EVENTS_MAX &&
      this.#agenda.tick < this.#parameters.faultMs + HEALING_MS_MAX
    );
  }

  /** At random times, about every `everyMs`. */
  #repeat(name: string, everyMs: number, fault: (random: Random) => void): void {
    if (everyMs === 0) return;
    const random = this.#random.split(name);
    const plan = (): void => {
      this.#agenda.after(random.int(1, everyMs * 2), () => {
        if (!this.#faulty) return;
        fault(random);
        plan();
      });
    };
    plan();
  }

  #planFaults(): void {
    const { faults } = this.#parameters;
    this.#repeat("crashes", faults.crashEveryMs, (random) => {
      const up = this.#hosts.filter((host) => !host.isDown);
      if (up.length === 0) return;
      const host = random.pick(up);
      host.crash();
      this.#reviveSoon(random.pick(this.#hosts));
    });
    this.#repeat("takeovers", faults.takeoverEveryMs, (random) => {
      const down = this.#hosts.filter((host) => host.isDown);
      if (down.length > 0) random.pick(down).boot();
    });
    this.#repeat("drains", faults.drainEveryMs, (random) => {
      const up = this.#hosts.filter((host) => host.isUp);
      if (up.length > 0) random.pick(up).drain(random.int(0, 300));
    });
    this.#repeat("stops", faults.stopEveryMs, (random) => {
      const up = this.#hosts.filter((host) => !host.isDown);
      if (up.length === 0) return;
      const host = random.pick(up);
      host.stop();
      this.#reviveSoon(host);
    });
    this.#repeat("rot", this.#parameters.images.rotEveryMs, (random) => {
      const stored = [...this.#storage.data.imageBytes.values()];
      if (stored.length === 0) return;
      const { bytes } = random.pick(stored);
      const at = random.int(0, bytes.length - 1);
      bytes[at] = (bytes[at] ?? 0) ^ 0xff;
      this.#trace.note(-1, "!", "a stored image is damaged");
    });
    this.#repeat("jumps", faults.jumpEveryMs, (random) => {
      const { jumpMsMax } = faults;
      const host = random.pick(this.#hosts);
      const byMs = random.int(-jumpMsMax, jumpMsMax);
      this.#trace.note(host.index, "~", `the clock jumps by ${byMs} ms`);
      host.clock.jump(byMs);
    });
  }

  /** Some time after a host went down, it or another one comes up, unless one is. */
  #reviveSoon(host: SimHost): void {
    this.#agenda.after(this.#random.int(1, REBOOT_MS_MAX), () => {
      if (host.isDown && !this.#hosts.some((other) => other.isUp && this.#owns(other))) host.boot();
    });
  }

  #owns(host: SimHost): boolean {
    return host.epoch === this.#checkers.shadow.epoch;
  }

  #anyHost(): SimHost | null {
    const up = this.#hosts.filter((host) => host.isUp);
    return up.length === 0 ? null : this.#random.pick(up);
  }

  async #heal(): Promise<void> {
    this.#faulty = false;
    this.#operator.heal();
    this.#company?.correspondent.heal();
    this.#trace.phase("liveness: faults healed");
    this.#stopStale();
    await turn();
    if (this.#hosts.every((host) => host.isDown)) this.#random.pick(this.#hosts).boot();
    this.#planDecider();
  }

  /** A host that has lost the partition and writes nothing would not learn of it: somebody ends it. */
  #stopStale(): void {
    for (const host of this.#hosts) if (host.isUp && !this.#owns(host)) host.stop();
  }

  #planDecider(): void {
    this.#agenda.after(DECIDE_EVERY_MS, () => {
      this.#stopStale();
      this.#see({ type: "pulse", tick: this.#agenda.tick });
      if (this.#hosts.every((host) => host.isDown)) (this.#hosts[0] as SimHost).boot();
      this.#operator.decide((run) => this.#waitsOf(run));
      this.#company?.correspondent.decide();
      this.#planDecider();
    });
  }

  /** What a run waits for: as stored, or as its live attempt says. */
  #waitsOf(run: RunId): readonly Awaiting[] {
    const stored = this.#checkers.shadow.run(run)?.record.awaiting;
    if (stored != null) return stored;
    for (const host of this.#hosts) {
      const waits = host.loop?.attempt(run)?.awaiting();
      if (waits != null) return waits;
    }
    return [];
  }

  #isAtRest(): boolean {
    if (this.#operator.open > 0 || this.#agenda.tick < this.#parameters.faultMs) return false;
    if (this.#company?.correspondent.isDone === false) return false;
    for (const run of this.#checkers.shadow.runs.values())
      if (!run.deleted && !isFinished(run.record.status)) return false;
    const figures = this.#figures();
    return figures !== null && Object.values(figures).every((value) => value === 0);
  }

  /** Figures of the loop that has the partition; null where it is not up. */
  #figures(): Readonly<Record<string, number>> | null {
    const owner = this.#hosts.find((host) => host.isUp && this.#owns(host));
    return owner?.loop === undefined || owner.loop === null ? null : { ...owner.loop.figures };
  }

  async #settle(faultTicks: number): Promise<void> {
    const reader = openMemoryStore(this.#storage).reader;
    const runs: StoredRun[] = [];
    const states = new Map<string, StoredState>();
    for (const run of await allRuns(reader)) {
      runs.push({
        run,
        entries: await reader.journal(run.id, 0, 10_000),
        images: await reader.images(run.id),
      });
      const { service, key } = run;
      if (key !== null && !states.has(`${service}/${key}`))
        states.set(`${service}/${key}`, { service, key, state: await reader.state({ service, key }) });
    }
    this.#see({ type: "stored", runs, states: [...states.values()], streams: await this.#storedStreams(reader) });
    if (this.#checkers.violations.length > 0) return;
    const why = this.#isAtRest()
      ? null
      : `no rest ${this.#agenda.tick - faultTicks} ms and ${this.#events} events after the faults`;
    this.#see({ type: "settled", figures: this.#figures() ?? {}, why });
  }

  /** Of every run and key that there ever was. */
  async #storedStreams(reader: StoreReader): Promise<Extract<Observation, { type: "stored" }>["streams"]> {
    const owners = new Map<string, StreamOwner>();
    for (const { record } of this.#checkers.shadow.bySeq.values()) {
      const owner = streamOwner(record);
      owners.set(JSON.stringify(owner), owner);
    }
    const found: { readonly stream: StreamRef; readonly page: StreamPage }[] = [];
    for (const owner of owners.values()) {
      for (const { name } of await reader.streams(owner)) {
        const stream = { owner, name };
        found.push({ stream, page: await reader.stream(stream, 0, Number.MAX_SAFE_INTEGER) });
      }
    }
    return found;
  }

  #report(faultTicks: number): WorldReport {
    const runs = [...this.#checkers.shadow.bySeq.values()];
    return {
      seed: this.#options.seed,
      parameters: describeParameters(this.#parameters),
      violations: this.#checkers.violations,
      faultTicks,
      healTicks: this.#agenda.tick - faultTicks,
      events: this.#events,
      runs: runs.length,
      settled: runs.filter((run) => run.deleted || isFinished(run.record.status)).length,
      entries: this.#entries,
      journalHash: this.#hash.toString(16).padStart(8, "0"),
    };
  }
}
