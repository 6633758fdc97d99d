// A step: an effect, its tries, and the one result that is journaled
// ===================================================================
//
//   held ──────▶ running ──▶ proposed ──▶ over          held: the journal is still being replayed
//    │  │         ▲   │ ▲                               intent: what it is about to do is being written down first
//    │  └▶ intent ┘   │ └── waiting (for the next try)  asking: the reconcile hook finds out what became of it
//    │       ▲        ▼      ▲
//    └────▶ asking ◀──┴──────┘                           (intent, asking: at most once only)
//
// S1. A closure runs only when its attempt is live, and only for a command that has no result in the journal.
// S2. At most once: the closure runs only after an entry that announces it is durable, and never again without a person
//     or the reconcile hook saying that it did not happen.
// S3. A try that is over (timed out, cancelled) is not heard any more. One that the cancel caught in the middle still has
//     its result journaled, for people to see; code has moved on.

import type {
  AttemptFailure,
  AttemptReplies,
  Awaiting,
  CommandEntry,
  Instant,
  Result,
  ResumedEntry,
  RetryEntry,
  RetryPolicy,
  StepCommand,
} from "@perdure/protocol";
import {
  failureFrom,
  failureResult,
  isPerdureError,
  parseDuration,
  RetriesExhaustedError,
  StepFailedError,
  UnknownEffectError,
} from "@perdure/protocol";
import type { Reconciled, StepInfo, StepOptions } from "../context/options.ts";
import type { StreamWriter } from "../context/streams.ts";
import { resolveRetry } from "../definitions/manifest.ts";
import { encodeResult } from "../json.ts";
import type { AbortControllerLike, AbortSignalLike, HandlerScope, SdkPorts } from "../ports.ts";
import { backoffMs, retryAfterMs, upstreamWaitMs } from "./backoff.ts";
import { LiveWrites } from "./live-writes.ts";
import { checkStreamName, encodeItems } from "./stream-reference.ts";
import { Wait } from "./wait.ts";

/** Timers of the usual runtimes hold 31 bits. A longer wait is asked for again. */
const DELAY_MS_MAX = 2_147_483_647;

/** The attempt, as its steps see it. */
export interface StepHost {
  readonly ports: SdkPorts;
  readonly replies: AttemptReplies;
  readonly scope: HandlerScope;
  readonly generation: number;
  readonly defaultRetry: RetryPolicy;
  readonly over: boolean;
  /** Ends the attempt. */
  fail(failure: AttemptFailure): void;
  /** Made when a step first writes into a stream. */
  writes: LiveWrites | undefined;
  /** `ctx` is out of bounds between the two. */
  enterStep(): void;
  leaveStep(): void;
}

type State = "held" | "intent" | "running" | "proposed" | "waiting" | "asking" | "abandoned" | "over";

export type StepFunction = (info: StepInfo) => unknown;

export function stepCommand(name: string, options: StepOptions | undefined): StepCommand {
  const { atMostOnce, into } = options ?? {};
  if (into === undefined) return atMostOnce === true ? { type: "step", name, atMostOnce } : { type: "step", name };
  return atMostOnce === true ? { type: "step", name, atMostOnce, into } : { type: "step", name, into };
}

export class StepTask extends Wait {
  readonly name: string;
  readonly #host: StepHost;
  readonly #fn: StepFunction;
  readonly #options: StepOptions | undefined;
  readonly #atMostOnce: boolean;
  #state: State = "held";
  /** Counts the tries and questions of this attempt; an answer to an older one is not heard. */
  #round = 0;
  #tries = 0;
  #retryAt: Instant = 0;
  /** A person said that the unknown effect may run again. */
  #forgotten = false;
  /** What the try threw whose outcome is asked for; undefined where it was never heard of again. */
  #tryError: unknown = undefined;
  /** The cancel that caught a try in the middle. */
  #abandonedBy: unknown = undefined;
  #cancelTimer: (() => void) | undefined = undefined;
  #controller: AbortControllerLike | undefined = undefined;

  constructor(
    host: StepHost,
    id: number,
    name: string,
    fn: StepFunction,
    options: StepOptions | undefined,
    atMostOnce: boolean,
  ) {
    super(id);
    this.name = name;
    this.#host = host;
    this.#fn = fn;
    this.#options = options;
    this.#atMostOnce = atMostOnce;
  }

  get isHeld(): boolean {
    return this.#state === "held";
  }

  /** The command was sent just now. */
  launch(): void {
    if (this.#atMostOnce)
      this.#state = "intent"; // S2: goes on in `journaled`.
    else this.#run();
  }

  /** The heap was put back from an image: whatever was under way then is not any more (I2). */
  hold(): void {
    if (this.#state === "over") return;
    this.#clearTimer();
    this.#round += 1;
    this.#controller = undefined;
    this.#state = this.#state === "abandoned" ? "over" : "held";
  }

  /** The command is in the journal since an earlier attempt, which left no result. */
  relaunch(): void {
    if (this.#atMostOnce) {
      if (this.#forgotten) this.#announceAgain();
      else this.#findOut(undefined);
    } else if (this.#retryAt > this.#host.ports.now()) {
      this.#waitForRetry();
    } else this.#run();
  }

  override journaled(_entry: CommandEntry): boolean {
    if (this.#state === "intent") this.#run();
    return false;
  }

  /** A failed try stands in the journal: one of this attempt, or on replay of an earlier one. */
  retried(entry: RetryEntry): void {
    if (this.#state === "held") {
      this.#tries = entry.tries;
      this.#retryAt = entry.retryAt ?? 0;
      this.#forgotten = false; // Whatever was allowed before it was used by the try that this entry announces or reports.
    } else if (this.#state === "intent") {
      this.#run(); // What `announceAgain` waited for.
    }
  }

  /** A person resumed the run. */
  resumed(entry: ResumedEntry): void {
    this.#tries = 0;
    this.#retryAt = 0;
    if (entry.forget === this.id) this.#forgotten = true;
    if (this.#state === "waiting") this.#run();
  }

  override settle(result: Result): void {
    if (this.#state !== "proposed") this.#stop("the step was settled otherwise"); // By a person.
    this.#state = "over";
    super.settle(result);
  }

  override cancel(error: unknown): boolean {
    this.#stop(error);
    this.#state = this.#state === "running" ? "abandoned" : "over";
    this.#abandonedBy = error;
    this.reject(error);
    return true;
  }

  override drop(): void {
    this.#stop("the attempt is over");
    this.#state = "over";
  }

  override awaiting(): Awaiting | undefined {
    return this.#state === "waiting" ? { kind: "time", at: this.#retryAt } : undefined;
  }

  #stop(reason: unknown): void {
    this.#clearTimer();
    if (this.#state === "running" || this.#state === "asking") this.#controller?.abort(reason);
  }

  #clearTimer(): void {
    if (this.#cancelTimer === undefined) return;
    this.#cancelTimer();
    this.#cancelTimer = undefined;
  }

  // Trying
  // ------

  #run(): void {
    this.#clearTimer();
    this.#state = "running";
    this.#controller = undefined;
    this.#begin(() => {
      const timeout = this.#options?.timeout;
      if (timeout !== undefined) this.#watchTimeout(this.#round, parseDuration(timeout));
      return this.#fn;
    });
  }

  /** In a new round, and where the host keeps code of steps apart, in a piece of its own. */
  #begin(prepare: () => StepFunction): void {
    this.#round += 1;
    const round = this.#round;
    const begin = (): void => {
      const value = this.#call(round, prepare());
      if (value !== REFUSED) this.#follow(round, value);
    };
    const { ports } = this.#host;
    if (ports.beginStep === undefined) begin();
    else {
      ports.beginStep(() => {
        if (round === this.#round && !this.#host.over) begin();
      });
    }
  }

  /** Calls user code. `REFUSED`: it threw, and that was dealt with. */
  #call(round: number, fn: StepFunction): unknown {
    const host = this.#host;
    host.enterStep();
    try {
      const info = new Info(this, this.#tries + 1);
      const { ports } = host;
      if (ports.runStep === undefined) return fn(info);
      return ports.runStep({ ...host.scope, step: this.name, command: this.id }, () => fn(info));
    } catch (error) {
      this.#failed(round, error);
      return REFUSED;
    } finally {
      host.leaveStep();
    }
  }

  #follow(round: number, value: unknown): void {
    if (isThenable(value)) {
      Promise.resolve(value).then(
        (result) => this.#answered(round, result),
        (error: unknown) => this.#failed(round, error),
      );
    } else this.#answered(round, value);
  }

  #answered(round: number, value: unknown): void {
    if (round !== this.#round || this.#host.over) return;
    if (this.#state === "asking") this.#foundOut(value as Reconciled<unknown>);
    else this.#succeeded(value);
  }

  #succeeded(value: unknown): void {
    let result: Result;
    try {
      result = encodeResult(value, "the result of the step");
    } catch (error) {
      this.#failed(this.#round, error);
      return;
    }
    this.#propose(result);
  }

  #propose(result: Result): void {
    this.#clearTimer();
    if (this.#state === "over" || this.#host.over) return;
    this.#state = this.#state === "abandoned" ? "over" : "proposed";
    this.#host.writes?.flush();
    this.#host.replies.propose(this.id, result);
  }

  #failed(round: number, error: unknown): void {
    if (round !== this.#round || this.#host.over) return;
    this.#clearTimer();
    if (this.#state === "abandoned" || (isPerdureError(error) && error.retry === "terminal")) {
      this.#propose(failureResult(failureFrom(error)));
    } else if (isPerdureError(error) && error.retry === "pause") {
      this.#host.fail({ failure: failureFrom(error), behavior: "pause", command: this.id });
    } else if (this.#state === "asking") {
      this.#askLater(error);
    } else if (this.#atMostOnce) {
      this.#findOut(error);
    } else this.#retry(error);
  }

  #watchTimeout(round: number, ms: number): void {
    this.#cancelTimer = this.#host.ports.delay(Math.min(ms, DELAY_MS_MAX), () => {
      if (round !== this.#round || this.#state !== "running") return;
      const error = new StepTimeoutError(`step "${this.name}" took longer than its timeout of ${ms} ms`);
      this.#controller?.abort(error);
      this.#failed(round, error);
    });
  }

  // Retrying
  // --------

  #retry(error: unknown): void {
    const { ports, replies } = this.#host;
    const policy = this.#policy();
    this.#tries += 1;
    this.#round += 1; // A late answer of the failed try is not heard.
    if (this.#tries >= policy.maxAttempts) {
      this.#exhausted(policy, error);
      return;
    }
    const now = ports.now();
    const asked = retryAfterMs(error, now);
    const wait =
      asked === undefined
        ? backoffMs(policy, this.#tries, ports.random())
        : upstreamWaitMs(policy, asked, ports.random());
    this.#retryAt = now + wait;
    this.#host.writes?.flush();
    replies.retrying(this.id, this.#tries, failureFrom(error), this.#retryAt);
    this.#waitForRetry();
  }

  #waitForRetry(): void {
    const { ports } = this.#host;
    this.#state = "waiting";
    const wait = Math.max(0, this.#retryAt - ports.now());
    this.#cancelTimer = ports.delay(Math.min(wait, DELAY_MS_MAX), () => {
      this.#cancelTimer = undefined;
      if (this.#state !== "waiting" || this.#host.over) return;
      if (ports.now() < this.#retryAt)
        this.#waitForRetry(); // Longer than a timer holds, or the clock went back.
      else this.#run();
    });
  }

  #policy(): RetryPolicy {
    const retry = this.#options?.retry;
    return retry === undefined ? this.#host.defaultRetry : resolveRetry(retry, this.#host.defaultRetry);
  }

  #exhausted(policy: RetryPolicy, cause: unknown): void {
    const last = failureFrom(cause);
    const metadata = { step: this.name, tries: String(this.#tries), lastError: last.message };
    const tries =
      this.#tries === 1
        ? "once, and its retry policy allows no more"
        : `${this.#tries} times, and its retry policy allows no more`;
    const message = `step "${this.name}" failed ${tries}; the last error: ${last.message}`;
    const stack = last.stack === undefined ? {} : { stack: last.stack };
    if (policy.onExhausted === "throw") {
      this.#propose(failureResult({ ...new StepFailedError(message, { cause, metadata }).toFailure(), ...stack }));
    } else {
      const failure = { ...new RetriesExhaustedError(message, { cause, metadata }).toFailure(), ...stack };
      this.#host.fail({ failure, behavior: "pause", command: this.id });
    }
  }

  // At most once
  // ------------

  /** Was it done? */
  #findOut(error: unknown): void {
    const reconcile = this.#options?.reconcile;
    if (reconcile === undefined) {
      this.#unknown(error);
      return;
    }
    this.#state = "asking";
    this.#tryError = error;
    this.#controller = undefined;
    this.#begin(() => reconcile);
  }

  #foundOut(reconciled: Reconciled<unknown>): void {
    const error = this.#tryError;
    this.#tryError = undefined;
    if (reconciled === "unknown") this.#unknown(error);
    else if (reconciled.happened) this.#succeeded(reconciled.value);
    else if (error === undefined) this.#run();
    else this.#retry(error);
  }

  #unknown(cause: unknown): void {
    const why =
      cause === undefined
        ? "and no result of it was ever recorded"
        : `and its try ended in an error: ${failureFrom(cause).message}`;
    const message = [
      `The effect of step "${this.name}" (command ${this.id}) was begun, ${why}.`,
      "It is declared at most once, so it is not run again unasked. Find out whether it happened, then settle the step with",
      "its result, or resume the run with the step forgotten, so that it runs again. A `reconcile` hook on the step",
      "answers this without a person.",
    ].join("\n");
    const error = new UnknownEffectError(message, { cause, metadata: { step: this.name, command: String(this.id) } });
    this.#host.fail({ failure: error.toFailure(), behavior: "pause", command: this.id });
  }

  /** The hook itself failed: the attempt is tried again, and asks again. */
  #askLater(error: unknown): void {
    const delayMs = retryAfterMs(error, this.#host.ports.now());
    const failure = failureFrom(error);
    this.#host.fail({ failure, behavior: "retry", command: this.id, ...(delayMs === undefined ? {} : { delayMs }) });
  }

  /**
   * A person allowed one more run of the effect. That it is begun again must be in the journal first, or a crash in the
   * middle of it would find the permission still standing (S2). The entry of a try serves as that announcement.
   */
  #announceAgain(): void {
    const { ports, replies } = this.#host;
    this.#state = "intent";
    const error = new UnknownEffectError(
      `step "${this.name}" is begun again: a person said that its effect did not happen`,
    );
    replies.retrying(this.id, this.#tries + 1, error.toFailure(), ports.now());
  }

  // What the closure gets
  // ---------------------

  /** A restarted run is meant to have its effects again, so its generation is part of the key. */
  get idempotencyKey(): string {
    const { generation, scope } = this.#host;
    return generation === 0 ? `${scope.run}-${this.id}` : `${scope.run}.${generation}-${this.id}`;
  }

  /** S3: what a try writes after its end is not heard. */
  write(attempt: number, stream: string, items: readonly unknown[]): void {
    const host = this.#host;
    if (this.#state !== "running" || attempt !== this.#tries + 1 || host.over) return;
    host.writes ??= new LiveWrites(host.replies);
    host.writes.add(stream, `${this.id}.${attempt}`, encodeItems(stream, items));
  }

  get signal(): AbortSignalLike {
    this.#controller ??= this.#host.ports.createAbortController();
    if (this.#host.over) this.#controller.abort("the attempt is over");
    else if (this.#state === "abandoned") this.#controller.abort(this.#abandonedBy); // Asked for only after the cancel.
    return this.#controller.signal;
  }
}

/** The step's arguments. Getters, because most steps look at none of them. */
class Info implements StepInfo {
  readonly #task: StepTask;

  static taskOf(value: unknown): StepTask | undefined {
    return typeof value === "object" && value !== null && #task in value ? value.#task : undefined;
  }
  readonly attempt: number;

  constructor(task: StepTask, attempt: number) {
    this.#task = task;
    this.attempt = attempt;
  }

  get idempotencyKey(): string {
    return this.#task.idempotencyKey;
  }

  get signal(): AbortSignalLike {
    return this.#task.signal;
  }

  /** A function of its own, since arguments like to be destructured. */
  get stream(): <T>(name: string) => StreamWriter<T> {
    return (name) => {
      checkStreamName(name);
      return { write: (...items) => this.#task.write(this.attempt, name, items) };
    };
  }
}

/** Of a step's info: the info, and its step's command. Undefined for any other value. */
export function stepInfoSource(value: unknown): { readonly info: StepInfo; readonly command: number } | undefined {
  const task = Info.taskOf(value);
  return task === undefined ? undefined : { info: value as StepInfo, command: task.id };
}

const REFUSED: unique symbol = Symbol("refused");

class StepTimeoutError extends Error {
  override readonly name = "StepTimeoutError";
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === "object" && value !== null && typeof (value as { readonly then?: unknown }).then === "function"
  );
}
