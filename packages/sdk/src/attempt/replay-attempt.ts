// An attempt: one execution of a handler, from the journal or from scratch
// ========================================================================
//
//   starting ─▶ replaying ─▶ live ─▶ over (ended | suspended | failed | aborted)
//       └──────────────────────────────▲
//
// A cursor walks the entries in the order of the journal. At a command it waits until the code has asked for it. At a
// notification (or the result of a fused command) it delivers it, lets the code run until it waits again, and only then
// goes on. What arrives when live is delivered in the same way, so live and replayed code see the same things in the
// same order, and ordinary promise combinators replay (J3).
//
// A1. Commands are counted in the order in which the code asks. One that is recorded must be the one that is asked for.
// A2. Nothing goes out while the attempt replays: new commands are held back, closures of steps are not run.
// A3. Between two deliveries the code has run as far as it can (`drained`).
// A4. After it is over, an attempt says nothing, and its code gets no further turn: its promises stay unsettled.
// A5. Whatever the code does at the same place of the journal, it is given the same: a promise that is settled at once
//     live (read state, a kept signal) is settled at once on replay.
//
// An attempt may be imaged, heap and all (sdk/src/guest), and go on from the image in another process:
// I1. It may be imaged while it waits. What it has asked for by then was said before the image is, so the engine has it in
//     the journal when it takes the image: the image is at an entry, and whatever came after that is met as on replay.
// I2. What went on beside the heap (tries of steps, timers) is not in the image: it is begun again, as after a crash.
//
// Reading state of an exclusive handler (or of a workflow) is answered at once, before its entry is durable. That is
// safe: nobody else may write the key meanwhile, so that after a crash the same value would be read, and the entry
// stands before every later command. A shared handler reads beside a writer, so it asks the engine, and waits.

import type {
  Attempt,
  AttemptFailure,
  AttemptReplies,
  AttemptStart,
  Awaiting,
  Command,
  CommandEntry,
  ContextMisuseError,
  Entry,
  Payload,
  Result,
  RetryPolicy,
  SignalName,
  StepCommand,
} from "@perdure/protocol";
import {
  CANCEL_SIGNAL,
  CancelledError,
  FIRST_AWAKEABLE_SIGNAL,
  failureFrom,
  failureResult,
  isPerdureError,
  valueResult,
} from "@perdure/protocol";
import type { StepOptions } from "../context/options.ts";
import type { HandlerSpec } from "../definitions/handler.ts";
import type { AbortControllerLike, AbortSignalLike, HandlerScope, LogLevel, SdkPorts } from "../ports.ts";
import { retryAfterMs } from "./backoff.ts";
import type { AttemptOptions, HeldCommand } from "./attempt-options.ts";
import { awaitingOf } from "./awaiting.ts";
import { HandlerContext } from "./handler-context.ts";
import { encodeResult } from "../json.ts";
import { readInput, writeOutput } from "./handler-payloads.ts";
import { Identity, scopeOf } from "./identity.ts";
import { JournalCursor } from "./journal-cursor.ts";
import type { LiveWrites } from "./live-writes.ts";
import { callerPosition, captureStack, type Divergence, mismatchError, sameCommand } from "./mismatch.ts";
import { afterTheEnd, insideStep } from "./misuse.ts";
import { never, rejected, settledNow } from "./promises.ts";
import { SafePoints } from "./safe-points.ts";
import { Signals } from "./signals.ts";
import { StateView } from "./state-view.ts";
import { stepCommand, type StepFunction, type StepHost, StepTask } from "./step-task.ts";
import { Stillness } from "./stillness.ts";
import { trimmedFailure } from "./stream-reference.ts";
import { Wait } from "./wait.ts";

type Over = "ended" | "suspended" | "failed" | "aborted";

export class ReplayAttempt implements Attempt, StepHost {
  readonly ports: SdkPorts;
  readonly replies: AttemptReplies;
  scope: HandlerScope;
  generation: number;
  readonly identity: Identity;
  readonly defaultRetry: RetryPolicy;
  /** `ctx` is out of bounds: the attempt is over, or a step's closure is running. */
  closed = false;
  /** A cancel found the code waiting for nothing: the next wait throws. */
  cancelOwed = false;
  /** Its code uses ticks, not microtasks alone (T2). */
  usesTicks = false;
  writes: LiveWrites | undefined = undefined;

  readonly #options: AttemptOptions;
  readonly #exclusive: boolean;
  readonly #cursor: JournalCursor;
  /** Commands that the code has asked for. */
  #issued: number;
  /** Tries of steps that were begun. */
  #tries = 0;
  #live: boolean;
  /** Code may still run: nothing is delivered. */
  #busy = true;
  #started = false;
  #over: Over | undefined = undefined;
  #insideStep = false;
  #yielding: boolean;
  readonly #waits = new Map<number, Wait>();
  #held: HeldCommand[] = [];
  /** Made when the first signal is asked for or arrives. */
  #signals: Signals | undefined = undefined;
  #state: StateView | null;
  #nextAwakeable: number;
  readonly #safePoints: SafePoints;
  #controller: AbortControllerLike | undefined = undefined;
  #cancelled: CancelledError | undefined = undefined;
  #cancelGrace: (() => void) | undefined = undefined;
  /** How the handler ended, while there is still something to replay. */
  #outcome: { readonly result: Result; readonly how: string } | undefined = undefined;
  readonly #stillness = new Stillness();

  constructor(start: AttemptStart, replies: AttemptReplies, options: AttemptOptions) {
    this.ports = options.ports;
    this.replies = replies;
    this.scope = scopeOf(start);
    this.identity = new Identity(start, () => ({ issued: this.#issued, met: this.#cursor.met }));
    this.generation = start.generation;
    this.defaultRetry = options.defaultRetry;
    this.#options = options;
    this.#exclusive = start.mode === "exclusive" || start.mode === "workflow";
    this.#issued = start.migrated?.commands ?? 0; // M2
    this.#nextAwakeable = start.migrated?.awakeables ?? FIRST_AWAKEABLE_SIGNAL;
    this.#safePoints = new SafePoints(start);
    this.#cursor = new JournalCursor(start.entries, this.#issued);
    this.#live = start.entries.length === 0;
    this.#state = start.state === null ? null : new StateView(start.state);
    this.#yielding = options.suspendAfterMs === 0;
  }

  get over(): boolean {
    return this.#over !== undefined;
  }

  // The handler
  // -----------

  /** Runs the handler. Called once, on a later microtask than `start`, so that the engine knows the attempt by then. */
  async run(spec: HandlerSpec, start: AttemptStart): Promise<void> {
    if (this.over) return;
    try {
      const input = await readInput(spec, start.input);
      if (this.over) return;
      this.#begin();
      const context = new HandlerContext(this, start);
      const { fn } = spec;
      const { ports } = this;
      const output: unknown = await (ports.runHandler === undefined
        ? fn(context, input)
        : ports.runHandler(this.scope, () => fn(context, input)));
      if (this.over) return;
      this.#conclude(await writeOutput(spec, output), "the handler returned");
    } catch (error) {
      this.#threw(error);
    }
  }

  #begin(): void {
    if (this.#started) return;
    this.#started = true;
    this.#options.turns.mark(this);
  }

  #threw(error: unknown): void {
    if (this.over) return;
    this.#begin(); // Where the input was refused, the handler never ran.
    const failure = failureFrom(error);
    if (isPerdureError(error) && error.retry === "terminal") {
      this.#conclude(failureResult(failure), `the handler failed: ${failure.message}`);
    } else if (isPerdureError(error) && error.retry === "pause") {
      this.fail({ failure, behavior: "pause" });
    } else {
      const delayMs = retryAfterMs(error, this.ports.now());
      this.fail({ failure, behavior: "retry", ...(delayMs === undefined ? {} : { delayMs }) });
    }
  }

  /** The end is said when everything recorded was met, and everything held back is out. */
  #conclude(result: Result, how: string): void {
    if (this.over) return;
    this.#outcome = { result, how };
    if (this.#live) {
      this.#end(result);
      return;
    }
    this.closed = true; // Branches that go on beside the end ask for nothing any more, as they did not live.
    this.touch();
  }

  #end(result: Result): void {
    this.#finish("ended");
    this.replies.end(result);
  }

  // What the context asks
  // ---------------------

  /** Why code may not wait now, as a promise; undefined where it may. Asked before a command is counted. */
  refusal(): Promise<never> | undefined {
    const refusal = this.closedRefusal();
    if (refusal !== undefined || !this.cancelOwed) return refusal;
    this.cancelOwed = false;
    return rejected(new CancelledError());
  }

  /** The same for what is no wait: it does not take the cancel that is owed. */
  closedRefusal(): Promise<never> | undefined {
    if (!this.closed && this.ports.insideStep === undefined) return undefined;
    if (this.#over !== undefined && this.#over !== "ended") return never(); // A4
    const misuse = this.#misuse();
    return misuse === undefined ? undefined : rejected(misuse);
  }

  /** For what does not wait. False: do nothing, the attempt is over (A4). @throws ContextMisuseError */
  allowed(): boolean {
    if (!this.closed && this.ports.insideStep === undefined) return true;
    if (this.#over !== undefined && this.#over !== "ended") return false;
    const misuse = this.#misuse();
    if (misuse !== undefined) throw misuse;
    return true;
  }

  #misuse(): ContextMisuseError | undefined {
    if (this.#over === "ended" || this.#outcome !== undefined) return afterTheEnd(this.scope);
    return this.#insideStep || this.ports.insideStep?.() === true ? insideStep(this.scope) : undefined;
  }

  /** Counts a command; compares it with the recorded one, or sends it. */
  issue(command: Command, result?: Result, items?: readonly Payload[]): number {
    this.#issued += 1;
    const id = this.#issued;
    const recorded = this.#cursor.recorded(id);
    if (recorded !== undefined) {
      if (!sameCommand(recorded.command, command)) this.#diverged(recorded, { kind: "command", command });
    } else if (this.#live) this.replies.command(id, command, result, items);
    else this.#held.push([id, command, result, items]);
    if (!this.#busy) this.touch();
    return id;
  }

  /** A command that something completes. */
  request(command: Command): Promise<unknown> {
    return this.refusal() ?? this.await(new Wait(this.issue(command)));
  }

  await(wait: Wait): Promise<unknown> {
    if (this.over) return never(); // The command was not the recorded one.
    this.#waits.set(wait.id, wait);
    return wait.promise;
  }

  step(name: string, fn: StepFunction, options: StepOptions | undefined): Promise<unknown> {
    return this.#step(stepCommand(name, options), fn, options);
  }

  #step(command: StepCommand, fn: StepFunction, options?: StepOptions): Promise<unknown> {
    const refusal = this.refusal();
    if (refusal !== undefined) return refusal;
    let atMostOnce = command.atMostOnce === true;
    const id = this.issue(command);
    if (this.over) return never();
    if (!this.#live) {
      const recorded = this.#cursor.recorded(id)?.command;
      if (recorded?.type === "step" && recorded.atMostOnce === true) atMostOnce = true; // What was promised when it began counts.
    }
    const task = new StepTask(this, id, command.name, fn, options, atMostOnce);
    this.#waits.set(id, task);
    if (this.#live) task.launch();
    return task.promise;
  }

  now(): Promise<unknown> {
    return this.#known({ type: "step", name: "now" }, () => this.ports.now());
  }

  safePoint(point: string, state: unknown): Promise<unknown> {
    const kept = this.#signals?.keptEntries ?? [];
    return this.#known(...this.#safePoints.reached({ point, kept, awakeables: this.#nextAwakeable }, state));
  }

  /** A step whose result is there at once: it is proposed along with it. */
  #known(command: StepCommand, value: () => unknown): Promise<unknown> {
    if (!this.#live) return this.#step(command, value);
    const refusal = this.refusal();
    if (refusal !== undefined) return refusal;
    const result = encodeResult(value(), command.name);
    const wait = new Wait(this.issue(command));
    this.replies.propose(wait.id, result);
    return this.await(wait);
  }

  readState(command: Extract<Command, { type: "getState" | "getStateKeys" }>): Promise<unknown> {
    const refusal = this.closedRefusal();
    if (refusal !== undefined) return refusal;
    const recorded = this.#cursor.recorded(this.#issued + 1);
    let result: Result | undefined;
    if (recorded !== undefined) result = recorded.result;
    else if (this.#exclusive && this.#state !== null) {
      result = valueResult(
        command.type === "getState" ? this.#state.get(command.key) : JSON.stringify(this.#state.keys()),
      );
    }
    const id = this.issue(command, result);
    if (this.over) return never();
    return result !== undefined && this.#exclusive ? settledNow(result) : this.await(new Wait(id)); // A5
  }

  /** `undefined` clears. */
  setState(name: string, value: Result): void {
    const payload = value.kind === "value" ? value.value : null;
    const isNew = this.#cursor.recorded(this.#issued + 1) === undefined;
    this.issue(payload === null ? { type: "clearState", key: name } : { type: "setState", key: name, value: payload });
    this.#state?.set(name, payload, isNew);
  }

  clearAllState(): void {
    const isNew = this.#cursor.recorded(this.#issued + 1) === undefined;
    this.issue({ type: "clearAllState" });
    this.#state?.clearAll(isNew);
  }

  signal(name: string): Promise<unknown> {
    return this.refusal() ?? this.#take(name);
  }

  awakeable(): { readonly signal: number; readonly promise: Promise<unknown> } {
    const signal = this.#nextAwakeable;
    this.#nextAwakeable += 1;
    return { signal, promise: this.refusal() ?? this.#take(signal) };
  }

  #take(name: SignalName): Promise<unknown> {
    this.#signals ??= new Signals();
    return this.#signals.take(name);
  }

  get abortSignal(): AbortSignalLike {
    this.#controller ??= this.ports.createAbortController();
    if (this.#cancelled !== undefined) this.#controller.abort(this.#cancelled);
    else if (this.over && this.#over !== "ended") this.#controller.abort("the attempt is over");
    return this.#controller.signal;
  }

  log(level: LogLevel, message: string, fields: Readonly<Record<string, unknown>> | undefined): void {
    if (this.#cursor.replaying || (this.over && this.#over !== "ended")) return;
    this.ports.log?.({ level, message, fields, ...this.scope });
  }

  // StepHost
  // --------

  enterStep(): void {
    this.#tries += 1;
    this.#insideStep = true;
    this.closed = true;
  }

  leaveStep(): void {
    this.#insideStep = false;
    this.closed = this.over || this.#outcome !== undefined;
  }

  fail(failure: AttemptFailure): void {
    if (this.over) return;
    this.writes?.flush();
    this.#finish("failed");
    this.replies.error(failure);
  }

  // The conversation
  // ----------------

  notify(entries: readonly Entry[]): void {
    if (this.over) return;
    this.#cursor.arrive(entries);
    if (!this.#busy) this.#pump();
  }

  abort(reason: string): void {
    if (this.over) return;
    this.#finish("aborted", reason);
  }

  /** The last entry that an image of it would have seen; undefined where it may not be imaged now (I1). */
  get imageableAt(): number | undefined {
    if (this.over || this.#busy || !this.#live || this.#cursor.behind || this.#outcome !== undefined) return undefined;
    return this.#cursor.seen;
  }

  /** The heap was put back from the image at `entry`: it goes on with what the journal has after it. */
  resume(start: AttemptStart, entry: number): void {
    this.scope = scopeOf(start);
    this.generation = start.generation;
    this.identity.resume(start);
    this.#state?.resume();
    this.#cursor.resume(start.entries, { commands: this.#issued, entry });
    this.#live = false; // What is to be begun again is begun when the entries were met.
    this.#yielding = false;
    for (const wait of [...this.#waits.values()]) {
      if (!(wait instanceof StepTask)) continue;
      wait.hold();
      if (!wait.isHeld) this.#waits.delete(wait.id);
    }
    this.touch();
  }

  awaiting(): readonly Awaiting[] | null {
    return this.#blockedOn();
  }

  yield(): void {
    if (this.over) return;
    this.#yielding = true;
    this.#suspendIfAsked();
  }

  /** Called now and then, so that no wait needs a timer of its own. */
  sweep(now: number): void {
    const awaiting = this.#blockedOn();
    const stillMs = this.#stillness.lasted(awaiting && this.#issued + this.#cursor.seen + this.#tries, now);
    if (awaiting !== null && stillMs >= this.#options.suspendAfterMs) this.#suspend(awaiting);
  }

  // The cursor
  // ----------

  /** Code ran outside of a delivery; what it did may be what the cursor waits for. */
  touch(): void {
    if (this.#busy || this.over) return;
    this.#busy = true;
    this.#options.turns.mark(this);
  }

  drained(): void {
    if (this.over) return;
    this.#busy = false;
    this.#pump();
  }

  #pump(): void {
    const cursor = this.#cursor;
    for (let entry = cursor.next; entry !== undefined; entry = cursor.next) {
      if (entry.kind === "command" && entry.id > this.#issued) {
        this.#missing(entry);
        return;
      }
      cursor.advance();
      if (this.#deliver(entry)) {
        this.touch();
        return;
      }
    }
    if (this.over) return;
    if (!this.#live) this.#goLive();
    for (let entry = cursor.take(); entry !== undefined; entry = cursor.take()) {
      if (this.#deliver(entry)) {
        this.touch();
        return;
      }
    }
    if (this.#yielding) this.#suspendIfAsked();
  }

  /** True: code saw something. */
  #deliver(entry: Entry): boolean {
    this.ports.delivering?.(entry.at);
    switch (entry.kind) {
      case "command":
      case "completion": {
        const wait = this.#waits.get(entry.id);
        if (wait === undefined) return false; // Needs no answer, was answered at once, or was cancelled.
        let seen = false;
        if (entry.kind === "command") {
          seen = (entry.result === undefined || entry.child !== undefined) && wait.journaled(entry);
          if (entry.result === undefined) {
            if (wait.done) this.#waits.delete(entry.id);
            return seen;
          }
        }
        this.#waits.delete(entry.id);
        const trimmed = trimmedFailure(entry);
        if (trimmed === undefined) wait.settle(entry.result as Result);
        else this.fail({ failure: trimmed, behavior: "pause", command: entry.id }); // E2: nothing else than it saw before.
        return true;
      }
      case "signal":
        if (entry.signal === CANCEL_SIGNAL) return this.#cancel();
        this.#signals ??= new Signals();
        return this.#signals.deliver(entry);
      case "retry":
        this.#task(entry.id)?.retried(entry);
        return false;
      case "resumed":
        for (const wait of this.#waits.values()) if (wait instanceof StepTask) wait.resumed(entry);
        return false;
    }
  }

  #task(id: number): StepTask | undefined {
    const wait = this.#waits.get(id);
    return wait instanceof StepTask ? wait : undefined;
  }

  #cancel(): boolean {
    const error = new CancelledError();
    this.#cancelled = error;
    this.#controller?.abort(error);
    let told = this.#signals?.cancel(error) ?? false;
    for (const wait of [...this.#waits.values()]) {
      if (wait.cancel(error)) told = true;
      if (!wait.lingers) this.#waits.delete(wait.id);
    }
    this.cancelOwed = !told;
    return true;
  }

  /** Everything recorded was met: what was held back goes out, and what was left undone is done. */
  #goLive(): void {
    this.#live = true;
    const recorded = this.#cursor.recordedCount;
    this.#cursor.forgetPast();
    for (const held of this.#held.splice(0)) this.replies.command(...held);
    if (this.#outcome !== undefined) {
      this.#end(this.#outcome.result);
      return;
    }
    for (const wait of [...this.#waits.values()]) {
      if (!(wait instanceof StepTask) || !wait.isHeld || this.over) continue;
      if (wait.id <= recorded) wait.relaunch();
      else wait.launch();
    }
  }

  /** The cursor stands at a command that the code has not asked for, although it has run as far as it can. */
  #missing(entry: CommandEntry): void {
    if (this.#outcome !== undefined) {
      this.#diverged(entry, { kind: "ended", how: this.#outcome.how });
      return;
    }
    this.#cancelGrace ??= this.ports.delay(this.#options.divergenceGraceMs, () => {
      this.#cancelGrace = undefined;
      if (this.over || this.#busy) return;
      const awaited = this.#cursor.next;
      if (awaited?.kind !== "command" || awaited.id <= this.#issued) return;
      if (awaited === entry) this.#diverged(entry, { kind: "blocked" });
      else this.#missing(awaited); // It went on meanwhile, and stands at another one: that one has its own time.
    });
  }

  #diverged(recorded: CommandEntry, divergence: Divergence): void {
    const position = divergence.kind === "command" ? callerPosition(captureStack()) : undefined;
    const error = mismatchError(recorded.id, recorded.command, divergence, position);
    this.fail({ failure: error.toFailure(), behavior: "pause", command: recorded.id });
  }

  // Being blocked, and being over
  // -----------------------------

  /** What has to happen from outside before the code can go on; null while something goes on here. */
  #blockedOn(): Awaiting[] | null {
    if (this.over || this.#busy || !this.#live || this.#cursor.behind) return null;
    return awaitingOf(this.#waits.values(), this.#signals);
  }

  #suspendIfAsked(): void {
    if (!this.#yielding) return;
    const awaiting = this.#blockedOn();
    if (awaiting !== null) this.#suspend(awaiting);
  }

  #suspend(awaiting: readonly Awaiting[]): void {
    this.#finish("suspended");
    this.replies.suspend(awaiting, this.#cursor.seen);
  }

  /** A4. Drops what it holds: code that is never woken is garbage then. */
  #finish(how: Over, reason = "the attempt is over"): void {
    this.#over = how;
    this.closed = true;
    this.cancelOwed = false;
    this.#cancelGrace?.();
    for (const wait of this.#waits.values()) wait.drop();
    if (how !== "ended") this.#controller?.abort(reason);
    this.#waits.clear();
    this.#signals = undefined;
    this.#cursor.drop();
    this.#held = [];
    this.writes?.drop();
    this.#state = null;
    this.#options.ended(this);
  }
}
