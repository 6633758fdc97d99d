// An engine for tests: one run, in memory, on a clock that is moved
// =================================================================
// It journals as the real one does: what an attempt says is gathered and decided on the next turn of the event loop, a
// step and its result become one entry where nothing was written in between, calls and sleeps and signals are completed
// by a script, and whatever ends an attempt without ending the run starts another one from the journal.
//
// Time stands still until nothing else is left to do; then it jumps to the next timer.

import {
  assert,
  type Attempt,
  type AttemptFailure,
  type AttemptReplies,
  type Awaiting,
  CANCEL_SIGNAL,
  type Command,
  encodeRunId,
  type Entry,
  type Failure,
  type HandlerMode,
  type Instant,
  parseAwakeableId,
  type Payload,
  type Result,
  type RunId,
  type SignalName,
  type Target,
  VOID,
  valueResult,
} from "@perdure/protocol";

import type { createExecutor, ExecutorOptions } from "../src/attempt/executor.ts";
import { createRegistry } from "../src/definitions/registry.ts";
import type { AnyDefinition } from "../src/definitions/service.ts";
import type { LogRecord, SdkPorts } from "../src/ports.ts";
import { executorOfMode } from "./both-modes.ts";

export interface Scenario {
  readonly definition: AnyDefinition;
  readonly handler: string;
  readonly key?: string;
  readonly input?: unknown;
  /** What was journaled before a crash. */
  readonly entries?: readonly Entry[];
  readonly state?: Readonly<Record<string, unknown>>;
  /** Hand over no state, so that it has to be asked for. */
  readonly lazyState?: boolean;
  /** Answers calls; undefined: never answers. */
  readonly answer?: (target: Target, input: unknown) => Result | undefined;
  /** Sent one at a time, whenever the run waits. */
  readonly signals?: readonly (readonly [SignalName, Result])[];
  readonly executor?: ExecutorOptions;
  readonly ports?: Partial<SdkPorts>;
  readonly generation?: number;
  /** What a person does when the run is paused, by the number of the pause. Undefined: nothing, the run stays paused. */
  readonly resume?: (
    pause: number,
    failure: AttemptFailure,
  ) => { readonly forget?: number; readonly settle?: Result } | undefined;
  /** Ask for a suspension whenever the attempt is blocked. */
  readonly alwaysYield?: boolean;
}

export interface Outcome {
  readonly status: "ended" | "paused" | "stuck";
  readonly result: Result | undefined;
  readonly paused: AttemptFailure | undefined;
  readonly entries: readonly Entry[];
  readonly attempts: number;
  readonly suspensions: readonly (readonly Awaiting[])[];
  readonly errors: readonly AttemptFailure[];
  readonly now: Instant;
  readonly state: ReadonlyMap<string, Payload>;
  readonly logs: readonly LogRecord[];
}

export const RUN_ID: RunId = encodeRunId(Uint8Array.from({ length: 24 }, (_, i) => i * 7));
export const START_TIME = 1_700_000_000_000;
const TURNS_MAX = 20_000;

interface Timer {
  readonly at: Instant;
  readonly order: number;
  readonly fire: () => void;
  /** Belongs to an attempt: gone when its process is. */
  readonly volatile: boolean;
}

type Said =
  | { readonly type: "command"; readonly id: number; readonly command: Command; readonly result: Result | undefined }
  | { readonly type: "propose"; readonly id: number; readonly result: Result }
  | {
      readonly type: "retrying";
      readonly id: number;
      readonly tries: number;
      readonly failure: Failure;
      readonly retryAt: Instant;
    }
  | { readonly type: "end"; readonly result: Result }
  | { readonly type: "suspend"; readonly awaiting: readonly Awaiting[]; readonly entriesSeen: number }
  | { readonly type: "error"; readonly failure: AttemptFailure };

/** Runs the scenario until its run ends, is paused, or has nothing left to wait for. */
export function play(scenario: Scenario): Promise<Outcome> {
  return new FakeEngine(scenario).play();
}

export class FakeEngine {
  readonly #scenario: Scenario;
  readonly entries: Entry[];
  readonly state: Map<string, Payload>;
  readonly logs: LogRecord[] = [];
  readonly #promises = new Map<string, Result>();
  readonly #errors: AttemptFailure[] = [];
  readonly #suspensions: (readonly Awaiting[])[] = [];
  #now: Instant = START_TIME;
  #timers: Timer[] = [];
  #order = 0;
  #said: Said[] = [];
  #held: { readonly id: number; readonly name: string }[] = [];
  #attempt: Attempt | undefined = undefined;
  #token = 0;
  #attempts = 0;
  #commands = 0;
  #given = 0;
  #awaiting: readonly Awaiting[] | undefined = undefined;
  #result: Result | undefined = undefined;
  #paused: AttemptFailure | undefined = undefined;
  #pauses = 0;
  #signalsSent = 0;

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    this.entries = [...(scenario.entries ?? [])];
    this.#now = Math.max(START_TIME, ...this.entries.map((entry) => entry.at));
    this.state = new Map(Object.entries(scenario.state ?? {}).map(([key, value]) => [key, JSON.stringify(value)]));
    for (const entry of this.entries) this.#recover(entry);
  }

  get ports(): SdkPorts {
    return {
      now: () => this.#now,
      random: () => 0.5,
      afterMicrotasks: (callback) => process.nextTick(callback),
      delay: (ms, callback) => this.delay(ms, callback, true),
      createAbortController: () => new AbortController(),
      log: (record) => this.logs.push(record),
      ...this.#scenario.ports,
    };
  }

  delay(ms: number, fire: () => void, volatile = false): () => void {
    const timer: Timer = { at: this.#now + ms, order: this.#order++, fire, volatile };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  async play(): Promise<Outcome> {
    const { definition, executor } = this.#scenario;
    const registry = createRegistry([definition]);
    const runner = executorOfMode(registry, this.ports, { suspendAfterMs: Number.POSITIVE_INFINITY, ...executor });
    const begin = (): void => this.#begin((replies) => runner.start(this.#start(), replies));
    begin();
    for (let turn = 0; turn < TURNS_MAX && this.#result === undefined && this.#paused === undefined; turn += 1) {
      if (this.#attempt === undefined && this.#awaiting === undefined) begin();
      for (let i = 0; i < 3 && this.#said.length === 0; i += 1) await new Promise((resolve) => setImmediate(resolve));
      if (this.#said.length > 0) this.#decide();
      else if (this.#scenario.alwaysYield === true && this.#attempt?.awaiting() != null) this.#attempt.yield();
      else if (!this.#nextEvent()) break;
    }
    return {
      status: this.#result !== undefined ? "ended" : this.#paused !== undefined ? "paused" : "stuck",
      result: this.#result,
      paused: this.#paused,
      entries: this.entries,
      attempts: this.#attempts,
      suspensions: this.#suspensions,
      errors: this.#errors,
      now: this.#now,
      state: this.state,
      logs: this.logs,
    };
  }

  #start(): Parameters<ReturnType<typeof createExecutor>["start"]>[0] {
    const { definition, handler, key, input, lazyState, generation } = this.#scenario;
    const spec = definition.specs.get(handler);
    return {
      run: RUN_ID,
      service: definition.name,
      handler,
      key: key ?? null,
      mode: (spec?.mode ?? "service") as HandlerMode,
      input: input === undefined ? null : JSON.stringify(input),
      headers: { "x-test": "yes" },
      idempotencyKey: null,
      generation: generation ?? 0,
      createdAt: START_TIME,
      deployment: null,
      image: null,
      origin: null,
      migrated: null,
      entries: [...this.entries],
      state: key === undefined || lazyState === true ? null : new Map(this.state),
      tries: 0,
    };
  }

  #begin(start: (replies: AttemptReplies) => Attempt): void {
    this.#token += 1;
    this.#attempts += 1;
    this.#awaiting = undefined;
    this.#held = [];
    this.#given = this.entries.length;
    this.#commands = this.entries.filter((entry) => entry.kind === "command").length;
    const token = this.#token;
    const say = (said: Said): void => {
      if (token === this.#token) this.#said.push(said);
    };
    this.#attempt = start({
      command: (id, command, result) => say({ type: "command", id, command, result }),
      append: () => undefined, // No streams here: what a crash leaves of them is the engine's own affair.
      propose: (id, result) => say({ type: "propose", id, result }),
      retrying: (id, tries, failure, retryAt) => say({ type: "retrying", id, tries, failure, retryAt }),
      end: (result) => say({ type: "end", result }),
      suspend: (awaiting, entriesSeen) => say({ type: "suspend", awaiting, entriesSeen }),
      error: (failure) => say({ type: "error", failure }),
      image: () => undefined, // Replay needs none.
      imageUnusable: () => undefined,
    });
  }

  /** The process of the attempt is gone, with its timers. */
  #over(): void {
    for (const step of this.#held)
      this.#append({ kind: "command", id: step.id, command: { type: "step", name: step.name } });
    this.#held = [];
    this.#token += 1;
    this.#attempt = undefined;
    this.#timers = this.#timers.filter((timer) => !timer.volatile);
  }

  // Events from outside
  // -------------------

  #nextEvent(): boolean {
    const signal = (this.#scenario.signals ?? [])[this.#signalsSent];
    const waits = this.#attempt === undefined || this.#attempt.awaiting() !== null;
    if (signal !== undefined && waits) {
      this.#signalsSent += 1;
      this.#deliver({ kind: "signal", signal: signal[0], payload: signal[1] });
      return true;
    }
    const timer = this.#timers.reduce<Timer | undefined>(
      (first, next) =>
        first === undefined || next.at < first.at || (next.at === first.at && next.order < first.order) ? next : first,
      undefined,
    );
    if (timer === undefined) return false;
    this.#timers = this.#timers.filter((other) => other !== timer);
    this.#now = Math.max(this.#now, timer.at);
    timer.fire();
    return true;
  }

  // Decisions
  // ---------

  #decide(): void {
    const said = this.#said;
    this.#said = [];
    const given: Entry[] = [];
    for (const one of said) this.#one(one, given);
    for (const entry of given) this.#attempt?.notify([entry]);
  }

  #one(said: Said, given: Entry[]): void {
    switch (said.type) {
      case "command":
        assert(said.id === this.#commands + 1, `C3: command ${said.id} after ${this.#commands}`);
        this.#commands = said.id;
        this.#command(said.id, said.command, said.result, given);
        return;
      case "propose":
        this.#propose(said.id, said.result, given);
        return;
      case "retrying": {
        this.#flushHeld(said.id);
        const { id, tries, failure, retryAt } = said;
        given.push(this.#append({ kind: "retry", id, tries, failure, retryAt }));
        return;
      }
      case "end":
        this.#over();
        this.#result = said.result;
        return;
      case "suspend":
        this.#suspensions.push(said.awaiting);
        this.#suspend(said.awaiting, said.entriesSeen);
        return;
      case "error":
        this.#errors.push(said.failure);
        this.#over();
        this.#failed(said.failure);
        return;
    }
  }

  #suspend(awaiting: readonly Awaiting[], entriesSeen: number): void {
    const missed = this.#given > entriesSeen;
    this.#over();
    if (missed) return; // E5: starts again at once.
    this.#awaiting = awaiting;
    for (const item of awaiting) {
      if (item.kind === "time") this.delay(item.at - this.#now, () => this.#wake());
    }
  }

  #wake(): void {
    this.#awaiting = undefined;
  }

  #failed(failure: AttemptFailure): void {
    if (failure.behavior === "retry") {
      this.#awaiting = [];
      this.delay(failure.delayMs ?? 1_000, () => this.#wake());
      return;
    }
    const action = this.#scenario.resume?.(this.#pauses, failure);
    this.#pauses += 1;
    if (action === undefined) {
      this.#paused = failure;
      return;
    }
    if (action.settle !== undefined)
      this.#append({ kind: "completion", id: failure.command ?? 0, result: action.settle });
    this.#append({ kind: "resumed", ...(action.forget === undefined ? {} : { forget: action.forget }) });
  }

  #propose(id: number, result: Result, given: Entry[]): void {
    const step = this.#held.find((held) => held.id === id);
    if (step === undefined) {
      if (!this.#completed(id)) given.push(this.#append({ kind: "completion", id, result }));
      return;
    }
    this.#flushHeld(id - 1);
    this.#held = this.#held.filter((held) => held !== step);
    given.push(this.#append({ kind: "command", id, command: { type: "step", name: step.name }, result }));
  }

  #completed(id: number): boolean {
    return this.entries.some(
      (entry) =>
        (entry.kind === "completion" && entry.id === id) ||
        (entry.kind === "command" && entry.id === id && entry.result !== undefined),
    );
  }

  #flushHeld(upTo: number): void {
    for (const step of this.#held.filter((held) => held.id <= upTo)) {
      this.#append({ kind: "command", id: step.id, command: { type: "step", name: step.name } });
    }
    this.#held = this.#held.filter((held) => held.id > upTo);
  }

  #command(id: number, command: Command, result: Result | undefined, given: Entry[]): void {
    if (command.type === "step" && command.atMostOnce !== true) {
      this.#held.push({ id, name: command.name });
      return;
    }
    this.#flushHeld(id);
    switch (command.type) {
      case "step":
        given.push(this.#append({ kind: "command", id, command }));
        return;
      case "call":
      case "send":
        given.push(this.#append({ kind: "command", id, command, child: childId(id) }));
        this.#perform(id, command);
        return;
      case "getState":
      case "getStateKeys":
        this.#read(id, command, result, given);
        return;
      case "peekPromise":
        given.push(this.#append({ kind: "command", id, command, result: this.#promises.get(command.key) ?? VOID }));
        return;
      case "output":
        given.push(this.#append({ kind: "command", id, command, result: valueResult('"out"') }));
        return;
      case "completePromise":
        given.push(this.#append({ kind: "command", id, command, result: VOID }));
        this.#perform(id, command);
        return;
      default:
        this.#append({ kind: "command", id, command });
        this.#perform(id, command);
    }
  }

  #read(id: number, command: Command, result: Result | undefined, given: Entry[]): void {
    if (result !== undefined) {
      this.#append({ kind: "command", id, command, result });
      return;
    }
    const keys = JSON.stringify([...this.state.keys()].sort());
    const read = valueResult(command.type === "getState" ? this.state.get(command.key) : keys);
    if (this.#scenario.lazyState === true) {
      this.#append({ kind: "command", id, command });
      given.push(this.#append({ kind: "completion", id, result: read }));
    } else given.push(this.#append({ kind: "command", id, command, result: read }));
  }

  /** What a command sets in motion, at first and again after a crash. */
  #perform(id: number, command: Command): void {
    const complete = (result: Result): void => this.#deliver({ kind: "completion", id, result });
    if (command.type === "sleep") this.delay(command.wakeAt - this.#now, () => complete(VOID));
    else if (command.type === "call") {
      const input: unknown = typeof command.input === "string" ? JSON.parse(command.input) : undefined;
      const answer = this.#scenario.answer?.(command.target, input);
      if (answer !== undefined) this.delay(1, () => complete(answer));
    } else if (command.type === "attach") this.delay(1, () => complete(valueResult('"attached"')));
    else if (command.type === "setState") this.state.set(command.key, command.value);
    else if (command.type === "clearState") this.state.delete(command.key);
    else if (command.type === "clearAllState") this.state.clear();
    else if (command.type === "completePromise") this.#promises.set(command.key, command.completion);
    else if (command.type === "getPromise") {
      const known = this.#promises.get(command.key);
      this.delay(5, () => complete(known ?? this.#promises.get(command.key) ?? valueResult('"late"')));
    } else if (command.type === "completeAwakeable") {
      const ref = parseAwakeableId(command.awakeable);
      if (ref?.run === RUN_ID)
        this.delay(0, () => this.#deliver({ kind: "signal", signal: ref.signal, payload: command.completion }));
    } else if (command.type === "sendSignal" && command.run === RUN_ID) {
      this.delay(0, () => this.#deliver({ kind: "signal", signal: command.signal, payload: command.payload }));
    }
  }

  #recover(entry: Entry): void {
    if (entry.kind === "signal") {
      const sent = (this.#scenario.signals ?? []).some(([name]) => name === entry.signal);
      if (sent) this.#signalsSent += 1;
    }
    if (entry.kind !== "command" || entry.result !== undefined) {
      if (entry.kind === "command" && entry.command.type === "completePromise") this.#perform(entry.id, entry.command);
      return;
    }
    if (this.#completed(entry.id)) return;
    const sent =
      entry.command.type === "sendSignal"
        ? entry.command.signal
        : entry.command.type === "completeAwakeable"
          ? parseAwakeableId(entry.command.awakeable)?.signal
          : undefined;
    if (sent !== undefined && this.entries.some((other) => other.kind === "signal" && other.signal === sent)) return;
    this.#perform(entry.id, entry.command);
  }

  #deliver(body: DistributiveOmit<Entry, "index" | "at">): void {
    const entry = this.#append(body);
    if (this.#attempt !== undefined) this.#attempt.notify([entry]);
    else if (this.#awaiting?.some((item) => matches(item, entry)) === true) this.#wake();
  }

  #append(body: DistributiveOmit<Entry, "index" | "at">): Entry {
    const entry = { ...body, index: this.entries.length + 1, at: this.#now } as Entry;
    this.entries.push(entry);
    if (entry.kind !== "command" || entry.result !== undefined || entry.child !== undefined) this.#given = entry.index;
    return entry;
  }
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

function matches(awaiting: Awaiting, entry: Entry): boolean {
  if (entry.kind === "signal" && entry.signal === CANCEL_SIGNAL) return true;
  if (awaiting.kind === "completion") return entry.kind === "completion" && entry.id === awaiting.id;
  return awaiting.kind === "signal" && entry.kind === "signal" && entry.signal === awaiting.signal;
}

export function childId(command: number): RunId {
  return encodeRunId(Uint8Array.from({ length: 24 }, (_, i) => (i === 23 ? command & 255 : i)));
}

export function valueOf(outcome: Outcome): unknown {
  const { result } = outcome;
  assert(
    result?.kind === "value" || result?.kind === "void",
    `the run did not succeed: ${JSON.stringify(outcome.result ?? outcome.paused ?? outcome.status)}`,
  );
  return result.kind === "void" ? undefined : JSON.parse(result.value as string);
}

/** The commands of a journal, without what differs between two runs of the same thing. */
export function commandsOf(entries: readonly Entry[]): string[] {
  return entries.flatMap((entry) => {
    if (entry.kind !== "command") return [];
    const { wakeAt: _, invokeAt: __, ...rest } = entry.command as Command & { wakeAt?: number; invokeAt?: number };
    return [JSON.stringify(rest)];
  });
}
