// The conversation between the engine and an executor
// ===================================================
// The engine calls `start`; the executor answers with commands and proposals, the engine with entries; the attempt ends
// in exactly one of `end`, `suspend`, `error`. Every executor (in-process, worker, isolate, HTTP) speaks this.
//
//   starting ─▶ replaying ─▶ live ─▶ ended
//
// C1. After `end`, `suspend`, `error` or `abort` an attempt says nothing more; what it says is ignored.
// C2. Entries reach an attempt in the order of the journal, each exactly once: the ones in `start`, then `notify`.
// C3. `command` ids are the code's own count; the engine refuses a gap.
// C4. `suspend` and `error` say how many entries the attempt has been given: if there are more by then, it starts again
//     at once instead of waiting for something that is already there (E5).

import type { Awaiting, Command, Entry, Headers } from "./journal.ts";
import type { RunId } from "./ids.ts";
import type { HandlerMode } from "./run.ts";
import type { DurationMs, Instant } from "./time.ts";
import type { Failure, Payload, Result } from "./payload.ts";

export interface AttemptStart {
  readonly run: RunId;
  readonly service: string;
  readonly handler: string;
  readonly key: string | null;
  readonly mode: HandlerMode;
  readonly input: Payload | null;
  readonly headers: Headers;
  readonly idempotencyKey: string | null;
  readonly generation: number;
  readonly createdAt: Instant;
  /** All entries so far, in order. */
  readonly entries: readonly Entry[];
  /** The key's whole state, for keyed handlers. */
  readonly state: ReadonlyMap<string, Payload> | null;
  /** Failed tries of the handler since its last progress. */
  readonly tries: number;
}

/** What an executor tells the engine about one attempt. None of these waits. */
export interface AttemptReplies {
  /**
   * The code asked for something new. Only commands that are not in the journal yet are sent. `result`: what the code has
   * seen of it already. `items`: what an `append` appends.
   */
  command(id: number, command: Command, result?: Result, items?: readonly Payload[]): void;
  /** The result of a step. */
  propose(id: number, result: Result): void;
  /** Items that do not wait for a step's end. Not journaled, so not part of a replay; refused once the attempt is over. */
  append(stream: string, items: readonly Payload[], writer: string): void;
  /** A try of a step failed and will be repeated at `retryAt`. */
  retrying(id: number, tries: number, failure: Failure, retryAt: Instant): void;
  /** The handler returned or threw a terminal error. */
  end(result: Result): void;
  suspend(awaiting: readonly Awaiting[], entriesSeen: number): void;
  error(failure: AttemptFailure): void;
}

export interface AttemptFailure {
  readonly failure: Failure;
  /** `retry` with the handler's policy, `pause` for a person, `fail` for good. */
  readonly behavior: "retry" | "pause" | "fail";
  /** The wait that the upstream asked for (`Retry-After`). */
  readonly delayMs?: DurationMs;
  /** The command that the failure is about. */
  readonly command?: number;
}

/** A live attempt, as the engine holds it. */
export interface Attempt {
  /** New entries since the start. Command entries are sent when the attempt asked for them and now they are durable. */
  notify(entries: readonly Entry[]): void;
  /** Forget the attempt: its code gets no further turn. `AbortSignal`s handed out fire. */
  abort(reason: string): void;
  /** What the code waits for right now, where it is blocked. For people to look at. */
  awaiting(): readonly Awaiting[] | null;
  /** Ask a blocked attempt to suspend now rather than later (memory is short, or shutdown). */
  yield(): void;
}

export interface Executor {
  start(start: AttemptStart, replies: AttemptReplies): Attempt;
}
