// The replay machine of the scripted executor
// ===========================================
// It runs a program's code as fibers (generators), feeds it the entries of the journal one at a time, and lets it run
// until it waits before it sees the next one (J3). It knows nothing of time and faults; script-attempt.ts does.
//
// M1. Command ids are the order in which the code asks, whatever is replayed and whatever is new (C3).
// M2. What is in the journal is not asked for again; what is not, is asked for when the journal has been replayed.
// M3. Started from an image, it lives through what the image has seen, without a word, before it sees the entries after it.

import {
  type AttemptStart,
  CANCEL_SIGNAL,
  type Command,
  type CommandEntry,
  type Entry,
  type Failure,
  type Payload,
  type Result,
  type RunId,
  type SignalName,
} from "@perdure/protocol";
import type { ProgramInput, StepNode } from "../program.ts";
import { hashText } from "../random.ts";
import { decodeImage, type Life, type ScriptImage } from "./image.ts";

/** A failure that the code sees, and may catch. */
export class ScriptFailure extends Error {
  readonly failure: Failure;
  readonly cancelled: boolean;
  constructor(failure: Failure, cancelled = false) {
    super(failure.message);
    this.failure = failure;
    this.cancelled = cancelled;
  }
}

export type Wait =
  | { readonly on: "command"; readonly id: number }
  /** The command's own entry: at most once, and the id of a child. */
  | { readonly on: "entry"; readonly id: number }
  | { readonly on: "signal"; readonly signal: SignalName }
  | { readonly on: "fibers"; readonly fibers: readonly Fiber[]; readonly mode: "all" | "race" };

export type Code = Generator<Wait, Result, Result>;

export interface Fiber {
  readonly code: Code;
  wait: Wait | null;
  outcome: { readonly result: Result } | { readonly failure: ScriptFailure } | null;
  joiner: Fiber | null;
}

export interface Asked {
  readonly command: Command;
  readonly step: StepNode | null;
  /** What the code already knows, sent along (a state that it was given). */
  readonly given: Result | undefined;
  /** Of an append. */
  readonly items: readonly Payload[] | undefined;
}

export interface StepProgress {
  readonly id: number;
  readonly node: StepNode;
  tries: number;
  retryAt: number;
  /** At most once, and its intent stands in the journal without a result. */
  unknown: boolean;
}

export interface MachinePorts {
  now(): number;
  /** The code asks for something that is not in the journal. */
  ask(id: number, asked: Asked): void;
  observed(id: number, result: Result): void;
}

export class Mismatch extends Error {}

export class Machine {
  readonly start: AttemptStart;
  readonly input: ProgramInput;
  readonly #ports: MachinePorts;
  readonly #main: Fiber;
  readonly #waiting: Set<Fiber> = new Set();
  readonly #asked: Asked[] = [];
  readonly #signals: Map<SignalName, Result[]> = new Map();
  readonly #entries: Map<number, RunId | null> = new Map();
  /** Steps that have no result yet. */
  readonly steps: Map<number, StepProgress> = new Map();
  state: Map<string, Payload> | null;
  awakeables = 16;
  /** Who the code is; in an image, who it was. */
  run: RunId;
  /** Index of the last entry that the code was given. */
  seen = 0;
  readonly #recorded: Map<number, CommandEntry> = new Map();
  readonly #lives: Life[] = [];
  /** What this life was told so far. */
  readonly #told: Entry[] = [];
  #reliving = false;
  /** The state is the one of an image: it does not have what was recorded since. */
  #holdsState = false;
  #digest = 0;
  #journaled = 0;
  #live = false;

  constructor(start: AttemptStart, input: ProgramInput, ports: MachinePorts, code: (machine: Machine) => Code) {
    this.start = start;
    this.input = input;
    this.#ports = ports;
    this.state = start.state === null ? null : new Map(start.state);
    this.run = start.run;
    this.#main = { code: code(this), wait: null, outcome: null, joiner: null };
  }

  /** Replays what is in the journal, then asks for what is not. */
  begin(): void {
    const { image, entries } = this.start;
    if (image === null) this.#replay(entries, true);
    else {
      this.#relive(decodeImage(image.bytes));
      this.seen = image.info.entry;
      this.#replay(entries, false);
    }
    if (this.outcome !== null) return;
    for (let id = this.#journaled + 1; id <= this.#asked.length; id += 1)
      this.#ports.ask(id, this.#asked[id - 1] as Asked);
  }

  /** What an attempt is given at its start. */
  #replay(entries: readonly Entry[], isFirst: boolean): void {
    for (const entry of entries) {
      if (entry.kind !== "command") continue;
      this.#journaled = Math.max(this.#journaled, entry.id);
      this.#recorded.set(entry.id, entry);
    }
    this.#live = false;
    if (isFirst) this.#resume(this.#main, null);
    for (const entry of entries) this.#feed(entry);
    this.#live = true;
  }

  /** M3. */
  #relive({ asked, lives }: ScriptImage): void {
    this.#reliving = true;
    this.state = lives[0]?.state == null ? null : new Map(lives[0].state);
    for (const [number, life] of lives.entries()) {
      this.run = life.run;
      this.#lives.push(life);
      this.#replay(life.given, number === 0);
      for (const entry of life.told) this.#feed(entry);
      for (const step of this.steps.values()) step.unknown ||= step.node.atMostOnce && this.isDurable(step.id);
      this.#journaled = Math.max(this.#journaled, this.#asked.length);
      this.#holdsState = true;
    }
    this.#reliving = false;
    this.run = this.start.run;
    if (this.#asked.length !== asked)
      throw new Mismatch(
        `the image had asked for ${asked} commands, lived through again it asks for ${this.#asked.length}`,
      );
    this.#journaled = asked;
  }

  feed(entry: Entry): void {
    this.#told.push(entry);
    this.#feed(entry);
  }

  /** As it is now. Null: it is over, or has not begun. */
  capture(): ScriptImage | null {
    if (!this.#live || this.outcome !== null) return null;
    const { start } = this;
    const { run } = start;
    const life = {
      run,
      state: start.state === null ? null : [...start.state],
      given: start.entries,
      told: [...this.#told],
    };
    return { seen: this.seen, asked: this.#asked.length, lives: [...this.#lives, life] };
  }

  get outcome(): Fiber["outcome"] {
    return this.#main.outcome;
  }

  get digest(): number {
    return this.#digest;
  }

  /** What the fibers wait for. */
  waits(): readonly Wait[] {
    return [...this.#waiting].flatMap((fiber) => (fiber.wait === null ? [] : [fiber.wait]));
  }

  asked(id: number): Asked | undefined {
    return this.#asked[id - 1];
  }

  /** The run that a call or send started, once its entry was seen. */
  child(id: number): RunId | null {
    return this.#entries.get(id) ?? null;
  }

  /** The command's entry stands in the journal and was seen. */
  isDurable(id: number): boolean {
    return this.#entries.has(id);
  }

  now(): number {
    return this.#ports.now();
  }

  /** M1. */
  ask(command: Command, step: StepNode | null = null, given?: Result, items?: readonly Payload[]): number {
    const asked: Asked = { command, step, given, items };
    const id = this.#asked.push(asked);
    if (step !== null) this.steps.set(id, { id, node: step, tries: 0, retryAt: 0, unknown: false });
    if (this.#live && !this.#reliving) this.#ports.ask(id, asked);
    return id;
  }

  /**
   * A read of the state by code that nobody else writes beside is answered at once, as it was recorded or as it is known:
   * the engine is told of the result and does not tell it back. Others ask the engine and wait.
   */
  read(command: Command, result: Result): Result | null {
    const isExclusive = this.start.mode === "exclusive" || this.start.mode === "workflow";
    if (!isExclusive) return null;
    const recorded = this.#recorded.get(this.#asked.length + 1);
    const known = recorded?.result ?? result;
    const id = this.ask(command, null, known);
    this.#note(`read ${id} ${JSON.stringify(known)}`);
    return known;
  }

  /** What was recorded of the command that the code asks for next: a fork meets what its origin wrote. */
  get recorded(): Command | undefined {
    return this.#recorded.get(this.#asked.length + 1)?.command;
  }

  /** A write that the loaded state does not hold yet. */
  get isNew(): boolean {
    return this.#asked.length > this.#journaled || this.#holdsState;
  }

  spawn(code: Code): Fiber {
    const fiber: Fiber = { code, wait: null, outcome: null, joiner: null };
    this.#resume(fiber, null);
    return fiber;
  }

  #feed(entry: Entry): void {
    if (this.#main.outcome !== null) return;
    this.seen = entry.index;
    switch (entry.kind) {
      case "command":
        return this.#command(entry);
      case "completion":
        return this.#complete(entry.id, entry.result);
      case "signal":
        return this.#signal(entry.signal, entry.payload);
      case "retry": {
        const step = this.steps.get(entry.id);
        if (step !== undefined) Object.assign(step, { tries: entry.tries, retryAt: entry.retryAt ?? 0 });
        return;
      }
      case "resumed":
        for (const step of this.steps.values()) {
          step.tries = 0;
          step.retryAt = 0;
          if (step.id === entry.forget) step.unknown = false;
        }
    }
  }

  #command(entry: Extract<Entry, { kind: "command" }>): void {
    const asked = this.#asked[entry.id - 1];
    if (asked === undefined || headOf(asked.command) !== headOf(entry.command))
      throw new Mismatch(
        `command ${entry.id}: recorded ${headOf(entry.command)}, now ${asked === undefined ? "nothing" : headOf(asked.command)}`,
      );
    this.#entries.set(entry.id, entry.child ?? null);
    const step = this.steps.get(entry.id);
    if (step !== undefined && !this.#live && step.node.atMostOnce) step.unknown = true;
    this.#wake((wait) => wait.on === "entry" && wait.id === entry.id, { kind: "void" });
    if (entry.result !== undefined) this.#complete(entry.id, entry.result);
  }

  #complete(id: number, result: Result): void {
    this.steps.delete(id);
    if (!this.#reliving) this.#ports.observed(id, result);
    this.#wake((wait) => wait.on === "command" && wait.id === id, result);
  }

  #signal(signal: SignalName, payload: Result): void {
    if (signal === CANCEL_SIGNAL) {
      const failure = new ScriptFailure({ code: 409, message: "the run was cancelled", errorCode: "P0002" }, true);
      for (const fiber of [...this.#waiting]) {
        if (fiber.wait === null || fiber.wait.on === "fibers") continue;
        this.#note(`cancel ${fiber.wait.on}`);
        this.#resume(fiber, failure);
      }
      return;
    }
    const taken = this.#wake((wait) => wait.on === "signal" && wait.signal === signal, payload);
    if (taken) return;
    const buffered = this.#signals.get(signal);
    if (buffered === undefined) this.#signals.set(signal, [payload]);
    else buffered.push(payload);
  }

  /** Resumes the first fiber whose wait matches. */
  #wake(matches: (wait: Wait) => boolean, result: Result): boolean {
    for (const fiber of this.#waiting) {
      if (fiber.wait === null || !matches(fiber.wait)) continue;
      this.#note(`${JSON.stringify(fiber.wait)} ${JSON.stringify(result)}`);
      this.#resume(fiber, result);
      return true;
    }
    return false;
  }

  #note(text: string): void {
    this.#digest = hashText(text, this.#digest);
  }

  #resume(fiber: Fiber, input: Result | ScriptFailure | null): void {
    this.#waiting.delete(fiber);
    let next: Result | ScriptFailure | null = input;
    for (;;) {
      const wait = this.#advance(fiber, next);
      if (wait === null) break;
      next = this.#ready(fiber, wait);
      if (next !== null) continue;
      fiber.wait = wait;
      this.#waiting.add(fiber);
      return;
    }
    fiber.wait = null;
    const { joiner } = fiber;
    if (joiner?.wait?.on !== "fibers") return;
    const joined = joinOutcome(joiner.wait);
    if (joined !== null) this.#resume(joiner, joined);
  }

  /** Lets the code run to its next wait; null: it is done. */
  #advance(fiber: Fiber, input: Result | ScriptFailure | null): Wait | null {
    fiber.wait = null;
    try {
      const step =
        input instanceof ScriptFailure ? fiber.code.throw(input) : fiber.code.next(input ?? { kind: "void" });
      if (step.done !== true) return step.value;
      fiber.outcome = { result: step.value };
    } catch (error) {
      if (!(error instanceof ScriptFailure)) throw error;
      fiber.outcome = { failure: error };
    }
    return null;
  }

  /** What is waited for and is already there. */
  #ready(fiber: Fiber, wait: Wait): Result | ScriptFailure | null {
    if (wait.on === "signal") return this.#signals.get(wait.signal)?.shift() ?? null;
    if (wait.on !== "fibers") return null;
    for (const child of wait.fibers) child.joiner = fiber;
    return joinOutcome(wait);
  }
}

function joinOutcome(wait: Extract<Wait, { on: "fibers" }>): Result | ScriptFailure | null {
  for (const fiber of wait.fibers) {
    if (fiber.outcome === null) continue;
    if ("failure" in fiber.outcome) return fiber.outcome.failure;
    if (wait.mode === "race") return fiber.outcome.result;
  }
  return wait.fibers.every((fiber) => fiber.outcome !== null) ? { kind: "void" } : null;
}

/** What of a command has to be the same on replay. */
function headOf(command: Command): string {
  switch (command.type) {
    case "step":
      return `step ${command.name}`;
    case "call":
    case "send":
      return `${command.type} ${command.target.service}/${command.target.handler}/${command.target.key ?? ""}`;
    case "getState":
    case "setState":
    case "clearState":
    case "getPromise":
    case "peekPromise":
    case "completePromise":
      return `${command.type} ${command.key}`;
    case "append":
      return `append ${command.stream} ${command.count}`;
    default:
      return command.type;
  }
}
