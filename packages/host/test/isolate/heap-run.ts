// A run in one isolate, with the test in the engine's and the store's place: what the guest asks for is journaled at once,
// what it waits for is brought, and wherever it may be imaged the heap can be taken out and put into another instance.

import {
  type Command,
  encodeRunId,
  type Entry,
  type Failure,
  type HandlerMode,
  type Result,
  type RunId,
  VOID,
  valueResult,
} from "@perdure/protocol";
import type { GuestEvent, GuestMessage, Outbox, WireStart } from "@perdure/sdk/wire";
import { bundleModule } from "../../src/isolate/bundle/bundle-module.ts";
import { loadEngine } from "../../src/isolate/engine.ts";
import { type BaseImage, encodeBase } from "../../src/isolate/image-codec.ts";
import { Instance, type InstanceLimits } from "../../src/isolate/instance.ts";
import { MachinePool } from "../../src/isolate/machine-pool.ts";
import { makeBase } from "../../src/isolate/make-base.ts";

export const RUN_ID: RunId = encodeRunId(Uint8Array.from({ length: 24 }, (_, at) => at * 5));
export const START_TIME = 1_800_000_000_000;
const MEBIBYTE = 1_024 * 1_024;
/** Time is long: what a test waits for comes at once, and a machine may be busy. */
export const LIMITS: InstanceLimits = { turnMs: 60_000, memoryBytes: 256 * MEBIBYTE };
const TURNS_MAX = 2_000;

/** The base of a module beside this file. */
export async function baseOf(module: string): Promise<{ readonly engine: MachinePool; readonly base: BaseImage }> {
  const engine = await loadEngine();
  const { code, hash } = await bundleModule({ entry: new URL(module, import.meta.url).pathname });
  const made = makeBase(engine, { code, hash });
  return { engine: new MachinePool(engine), base: { ...made, hash: encodeBase(made).hash } };
}

export interface HeapRunOptions {
  readonly engine: MachinePool;
  readonly base: BaseImage;
  readonly service: string;
  readonly handler: string;
  readonly input?: unknown;
  readonly run?: RunId;
  readonly mode?: HandlerMode;
  /** Sent one at a time, whenever the code waits for nothing else that comes by itself. */
  readonly signals?: readonly (readonly [string, unknown])[];
  /** Functions of the host. */
  readonly hands?: (target: string, args: readonly unknown[]) => unknown;
  /** Taken out and put back into a new instance, wherever that may be. */
  readonly reborn?: boolean;
  readonly limits?: InstanceLimits;
}

/** An image, and where in the journal it stands. */
export interface Moment {
  readonly image: Uint8Array;
  readonly entry: number;
}

type Body<E> = E extends unknown ? Omit<E, "index" | "at"> : never;
type EventBody = GuestEvent extends infer E ? (E extends GuestEvent ? Omit<E, "now"> : never) : never;

export class HeapRun {
  readonly entries: Entry[] = [];
  readonly moments: Moment[] = [];
  now: number = START_TIME;
  result: Result | undefined = undefined;
  failure: Failure | undefined = undefined;
  readonly #options: HeapRunOptions;
  #instance: Instance;
  #undelivered: Entry[] = [];
  #calls: { readonly call: number; readonly target: string; readonly args: readonly unknown[] }[] = [];
  readonly #sleeps = new Map<number, number>();
  readonly #timers = new Map<number, number>();
  #signalsSent = 0;
  #imageable = false;

  private constructor(instance: Instance, options: HeapRunOptions) {
    this.#instance = instance;
    this.#options = options;
  }

  static async begin(options: HeapRunOptions): Promise<HeapRun> {
    const instance = Instance.start(options.engine, options.base, options.limits ?? LIMITS);
    const run = new HeapRun(instance, options);
    run.#turn({ type: "start", start: run.#start([]) });
    return run;
  }

  /** Another run that goes on from where this one was then. */
  static async from(moment: Moment, other: HeapRun, options: HeapRunOptions): Promise<HeapRun> {
    const { engine, base, limits = LIMITS } = options;
    const run = new HeapRun(Instance.restore(engine, base, moment.image, limits), options);
    run.entries.push(...other.entries.slice(0, moment.entry));
    run.#reopen(other.now);
    run.#turn({ type: "resume", start: run.#start([]), entry: moment.entry });
    return run;
  }

  get isImageable(): boolean {
    return this.#imageable && this.#undelivered.length === 0;
  }

  get instance(): Instance {
    return this.#instance;
  }

  /** Brings what is waited for, until the run has ended or nothing is left to bring. */
  async finish(): Promise<Result | undefined> {
    for (let turn = 0; turn < TURNS_MAX && this.result === undefined && this.failure === undefined; turn += 1) {
      if (this.#options.reborn === true && this.isImageable) await this.rebirth();
      if (!this.#next()) break;
    }
    return this.result;
  }

  /** What its code gave, from JSON. */
  async value(): Promise<unknown> {
    const result = await this.finish();
    if (result?.kind !== "value") throw new Error(`no value: ${JSON.stringify(result ?? this.failure ?? "it waits")}`);
    return JSON.parse(String(result.value));
  }

  capture(): Moment {
    if (!this.isImageable) throw new Error("it cannot be imaged now");
    const moment = { image: this.#instance.capture(), entry: this.entries.length };
    this.moments.push(moment);
    return moment;
  }

  /** Its heap goes on in another instance, which knows nothing but the image. */
  async rebirth(): Promise<void> {
    const { engine, base, limits = LIMITS } = this.#options;
    const { image, entry } = this.capture();
    this.#instance.dispose();
    this.#instance = Instance.restore(engine, base, image, limits);
    this.#timers.clear();
    this.#calls = [];
    this.#turn({ type: "resume", start: this.#start([]), entry });
  }

  dispose(): void {
    this.#instance.dispose();
  }

  #start(entries: readonly Entry[]): WireStart {
    const { service, handler, input, run = RUN_ID, mode = "service" } = this.#options;
    return {
      run,
      service,
      handler,
      key: mode === "service" ? null : "k",
      mode,
      input: input === undefined ? null : JSON.stringify(input),
      headers: {},
      idempotencyKey: null,
      generation: 0,
      createdAt: START_TIME,
      deployment: null,
      origin: null,
      migrated: null,
      entries,
      state: mode === "service" ? null : [],
      tries: 0,
    };
  }

  /** What goes on beside the heap is known from the journal. */
  #reopen(now: number): void {
    this.now = now;
    for (const entry of this.entries) {
      if (entry.kind === "command" && entry.command.type === "sleep") this.#sleeps.set(entry.id, entry.command.wakeAt);
      else if (entry.kind === "completion") this.#sleeps.delete(entry.id);
      else if (entry.kind === "signal") this.#signalsSent += 1;
    }
  }

  /** The next thing that happens; false: nothing does. */
  #next(): boolean {
    const entry = this.#undelivered.shift();
    if (entry !== undefined) return this.#turn({ type: "notify", entries: [entry] });
    const call = this.#calls.shift();
    if (call !== undefined) {
      const value = this.#options.hands?.(call.target, call.args) ?? null;
      return this.#turn({ type: "callEnded", call: call.call, outcome: { kind: "value", value } });
    }
    const signal = this.#options.signals?.[this.#signalsSent];
    if (signal !== undefined) {
      this.#signalsSent += 1;
      const payload = valueResult(JSON.stringify(signal[1]));
      return this.#deliver({ kind: "signal", signal: signal[0], payload });
    }
    return this.#passTime();
  }

  #passTime(): boolean {
    const soonest = (map: Map<number, number>): [number, number] | undefined =>
      [...map].reduce<[number, number] | undefined>(
        (first, next) => (first && first[1] <= next[1] ? first : next),
        undefined,
      );
    const [sleep, timer] = [soonest(this.#sleeps), soonest(this.#timers)];
    if (timer !== undefined && (sleep === undefined || timer[1] <= sleep[1])) {
      this.#timers.delete(timer[0]);
      this.now = Math.max(this.now, timer[1]);
      return this.#turn({ type: "timer", timer: timer[0] });
    }
    if (sleep === undefined) return false;
    this.#sleeps.delete(sleep[0]);
    this.now = Math.max(this.now, sleep[1]);
    return this.#deliver({ kind: "completion", id: sleep[0], result: VOID });
  }

  #deliver(body: Body<Entry>): boolean {
    this.#undelivered.push(this.#append(body));
    return true;
  }

  #append(body: Body<Entry>): Entry {
    const entry = { ...body, index: this.entries.length + 1, at: this.now } as Entry;
    this.entries.push(entry);
    return entry;
  }

  #turn(event: EventBody): true {
    const outbox = this.#instance.turn({ ...event, now: this.now });
    for (const message of outbox.messages) this.#hear(message);
    this.#imageable = isImageable(outbox);
    return true;
  }

  #hear(message: GuestMessage): void {
    switch (message.type) {
      case "command":
        this.#command(message.id, message.command, message.result);
        return;
      case "propose":
        this.#deliver({ kind: "completion", id: message.id, result: message.result });
        return;
      case "retrying": {
        const { id, tries, failure, retryAt } = message;
        this.#deliver({ kind: "retry", id, tries, failure, retryAt });
        return;
      }
      case "end":
        this.result = message.result;
        return;
      case "error":
        this.failure = message.failure.failure;
        return;
      case "call":
        this.#calls.push(message);
        return;
      case "setTimer":
        this.#timers.set(message.timer, this.now + message.ms);
        return;
      case "clearTimer":
        this.#timers.delete(message.timer);
        return;
      case "append":
      case "abortCall":
      case "suspend":
      case "log":
        return;
    }
  }

  #command(id: number, command: Command, result: Result | undefined): void {
    this.#append({ kind: "command", id, command, ...(result === undefined ? {} : { result }) });
    if (command.type === "sleep") this.#sleeps.set(id, command.wakeAt);
  }
}

const isImageable = ({ imageableAt, messages }: Outbox): boolean =>
  imageableAt !== null && messages.every(({ type }) => type !== "end" && type !== "error" && type !== "suspend");
