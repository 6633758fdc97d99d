// The conversation between the engine and an executor
// ===================================================
// The engine calls `start`; the executor answers with commands and proposals, the engine with entries; the attempt ends
// in exactly one of `end`, `suspend`, `error`, `imageUnusable`. Every executor (in-process, worker, isolate, HTTP) speaks this.
//
//   starting ─▶ replaying ─▶ live ─▶ ended
//
// C1. After `end`, `suspend`, `error`, `imageUnusable` or `abort` an attempt says nothing more; what it says is ignored.
// C2. Entries reach an attempt in the order of the journal, each exactly once: the ones in `start`, then `notify`. An
//     attempt that starts from an image is owed the entries after it.
// C3. `command` ids are the code's own count; the engine refuses a gap.
// C4. `suspend` says how many entries the attempt has seen, those in its image included: if there are more by then, it
//     starts again at once instead of waiting for something that is already there (E5).

import type { Awaiting, Command, Entry, Headers } from "./journal.ts";
import type { RunId } from "./ids.ts";
import type { CapturedImage, StartImage } from "./image.ts";
import type { Migrated } from "./migration.ts";
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
  /** When the code began: of a fork, when the run was created that it came from. */
  readonly createdAt: Instant;
  /** The deployment whose code runs it; pinned when the run first starts. */
  readonly deployment: string | null;
  /** Where the code begins: the entries of before are not among `entries`, but for signals that it kept. */
  readonly migrated: Migrated | null;
  /** Where the attempt starts from; null: from the beginning. */
  readonly image: StartImage | null;
  /** The entries so far, in order: all of them, those after `image.info.entry`, or those that `migrated` leaves (M1). */
  readonly entries: readonly Entry[];
  /** The key's whole state, for keyed handlers; null where an image is given, which holds its own. */
  readonly state: ReadonlyMap<string, Payload> | null;
  /** Of a fork: the entries up to `until` were made by that run, and by what its code knew of itself. */
  readonly origin: AttemptOrigin | null;
  /** Failed tries of the handler since its last progress. */
  readonly tries: number;
}

export interface AttemptOrigin {
  readonly run: RunId;
  readonly key: string | null;
  readonly until: number;
  /** Where that run was a fork itself: the entries up to an earlier one were another's. */
  readonly origin: AttemptOrigin | null;
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
  /**
   * The attempt's execution, captured while its code waits. At any time while the attempt lives; it becomes the run's with
   * the commit that names it, and not before. Nothing has to come of it: an image may be refused or dropped.
   */
  image(image: CapturedImage): void;
  /**
   * The image that the attempt was started from is damaged or cannot be read, and nothing of it has run. The engine forgets
   * it and starts again from the one before, with the longer tail.
   */
  imageUnusable(failure: Failure): void;
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
