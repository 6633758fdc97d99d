// Events: what a batch is made of
// ===============================
// From attempts (they name the attempt, so that a stale one is refused, E4), from outside (they carry a ticket, by which
// the answer finds its asker), and from the loop itself.

import type {
  AttemptFailure,
  Awaiting,
  CapturedImage,
  Command,
  Failure,
  Headers,
  Instant,
  Payload,
  Result,
  Run,
  RunId,
  RunStatus,
  SignalName,
  Target,
} from "@perdure/protocol";
import type { SafePoint } from "./moves/safe-point.ts";
import type { KeyName } from "./store.ts";

/** Names the asker. Tickets are never reused within a process. */
export type Ticket = number;

export interface Submit {
  readonly type: "submit";
  readonly ticket: Ticket;
  readonly run: RunId;
  /** The id was drawn at random: nothing can be there yet, so nothing is looked up. */
  readonly fresh: boolean;
  readonly target: Target;
  readonly input: Payload | null;
  readonly headers: Headers | null;
  readonly idempotencyKey: string | null;
  readonly startAt: Instant | null;
  /** Answer when the run has ended, rather than when it is durable. */
  readonly await: boolean;
}

export type RunEvent =
  | { readonly type: "attach"; readonly ticket: Ticket; readonly run: RunId }
  | {
      readonly type: "signal";
      readonly ticket: Ticket;
      readonly run: RunId;
      readonly signal: SignalName;
      readonly payload: Result;
    }
  | { readonly type: "cancel"; readonly ticket: Ticket; readonly run: RunId }
  | { readonly type: "kill"; readonly ticket: Ticket; readonly run: RunId }
  | { readonly type: "pause"; readonly ticket: Ticket; readonly run: RunId }
  | { readonly type: "resume"; readonly ticket: Ticket; readonly run: RunId }
  /** `from`: the first entry that is dropped; 1 starts anew. */
  | { readonly type: "restart"; readonly ticket: Ticket; readonly run: RunId; readonly from: number }
  | { readonly type: "purge"; readonly ticket: Ticket; readonly run: RunId }
  | Fork
  | Rewind
  /** `entry`: that of an image. `null` takes the name away. */
  | {
      readonly type: "nameMoment";
      readonly ticket: Ticket;
      readonly run: RunId;
      readonly entry: number;
      readonly name: string | null;
    }
  | SettleEffect
  | Migrate
  /** It goes over to that deployment at its next safe point; null: it stays where it is. */
  | {
      readonly type: "planMigration";
      readonly ticket: Ticket;
      readonly run: RunId;
      readonly plan: Run["migrating"];
    };

/** The run goes over to other code, from the safe point that it is at. */
export interface Migrate {
  readonly type: "migrate";
  readonly ticket: Ticket;
  readonly run: RunId;
  readonly to: string | null;
  readonly safePoint: SafePoint;
  /** Its state as the other code takes it. */
  readonly state: Result;
}

/** A new run that shares the entries up to `at` with `run`. */
export interface Fork {
  readonly type: "fork";
  readonly ticket: Ticket;
  readonly run: RunId;
  /** Of the new run. That of a workflow is the one of its key. */
  readonly id: RunId;
  /** Absent: the journal's end. */
  readonly at?: number;
  /** Of the new run; absent: one is made of the key and the id. */
  readonly key?: string;
  /** Another input; only where nothing is shared (`at` 0). */
  readonly input?: Payload;
  /** Given to the new run as the signal `perdure.fork`. */
  readonly note?: Payload;
}

/** The run goes back to what it was after entry `at`, in place. What it is now is kept under the id `branch`. */
export interface Rewind {
  readonly type: "rewind";
  readonly ticket: Ticket;
  readonly run: RunId;
  readonly at: number;
  readonly branch: RunId;
}

/** A person says what became of an effect whose outcome is unknown. */
export interface SettleEffect {
  readonly type: "settleEffect";
  readonly ticket: Ticket;
  readonly run: RunId;
  readonly command: number;
  /** Absent: it did not happen, run it again. */
  readonly result?: Result;
}

export interface EditState {
  readonly type: "editState";
  readonly ticket: Ticket;
  readonly key: KeyName;
  /** `null` removes a name. */
  readonly changes: ReadonlyMap<string, Payload | null>;
  /** What names have to be still, `null` none at all: else nothing is changed. */
  readonly expected: ReadonlyMap<string, Payload | null>;
  /** Also while an exclusive run holds the key. */
  readonly force: boolean;
}

export type AttemptEvent =
  | {
      readonly type: "command";
      readonly run: RunId;
      readonly attempt: number;
      readonly id: number;
      readonly command: Command;
      readonly result: Result | undefined;
      /** Of an `append`. */
      readonly items?: readonly Payload[];
    }
  /** Items from within a step. */
  | {
      readonly type: "append";
      readonly run: RunId;
      readonly attempt: number;
      readonly stream: string;
      readonly items: readonly Payload[];
      readonly writer: string;
    }
  | {
      readonly type: "propose";
      readonly run: RunId;
      readonly attempt: number;
      readonly id: number;
      readonly result: Result;
    }
  | {
      readonly type: "retrying";
      readonly run: RunId;
      readonly attempt: number;
      readonly id: number;
      readonly tries: number;
      readonly failure: Failure;
      readonly retryAt: Instant;
    }
  | { readonly type: "end"; readonly run: RunId; readonly attempt: number; readonly result: Result }
  | {
      readonly type: "suspend";
      readonly run: RunId;
      readonly attempt: number;
      readonly awaiting: readonly Awaiting[];
      readonly entriesSeen: number;
    }
  | { readonly type: "error"; readonly run: RunId; readonly attempt: number; readonly failure: AttemptFailure }
  | { readonly type: "image"; readonly run: RunId; readonly attempt: number; readonly image: CapturedImage }
  | { readonly type: "imageUnusable"; readonly run: RunId; readonly attempt: number; readonly failure: Failure };

export type LoopEvent =
  /** There is room for an attempt: give it to a run that waits for one. */
  | { readonly type: "begin"; readonly run: RunId }
  /** The store found that the bytes of these images are damaged. */
  | { readonly type: "forgetImages"; readonly run: RunId; readonly entries: readonly number[] }
  | { readonly type: "timers" }
  /** Look at a page of finished runs for those whose retention is over. */
  | { readonly type: "retention"; readonly afterSeq: number };

export type Event = Submit | RunEvent | EditState | AttemptEvent | LoopEvent;

export type Reply =
  | { readonly type: "accepted"; readonly run: RunId; readonly existing: boolean; readonly status: RunStatus }
  | { readonly type: "finished"; readonly run: RunId; readonly existing: boolean; readonly result: Result }
  | { readonly type: "done"; readonly status: RunStatus | null }
  | { readonly type: "refused"; readonly reason: Refusal; readonly message: string };

export type Refusal = "not_found" | "unknown_target" | "conflict" | "overloaded";
