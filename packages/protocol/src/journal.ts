// The journal: what a run asked for and what came back
// ====================================================
// A journal is an append-only list of entries with indexes from 1. (The input is entry 0; it stands in the run itself,
// as does the output.) An entry is a *command*, what the code asked for, or a *notification*, what came back.
//
// Command ids count from 1 in the order in which the code asks. A notification names the command that it completes.
// A command whose result was there when it was written carries it (`result`): one row for a whole step.
//
// J1. Commands stand in the journal in the order of their ids, without gaps.
// J2. A command is completed at most once; the first completion wins.
// J3. Code sees notifications (fused results included) in the order of the journal, one at a time, and runs until it
//     waits before it sees the next. With J1 this makes ordinary promise combinators deterministic.
//
// The vocabulary is that of the Restate service protocol V5/V6, so that an executor that speaks it is a codec: the
// codec writes a fused entry as a command and its notification, and the run's input and output as the first and last.

import type { RunId } from "./ids.ts";
import type { MigrationTold, SafePointMark } from "./migration.ts";
import type { Failure, Payload, Result } from "./payload.ts";
import type { Kept } from "./streams.ts";
import type { Instant } from "./time.ts";

export type Headers = Readonly<Record<string, string>>;

export interface Target {
  readonly service: string;
  readonly handler: string;
  /** Key of an object or workflow; absent for a service. */
  readonly key?: string;
}

/** Which run an attach or output command means. */
export type RunRef =
  | { readonly run: RunId }
  | { readonly target: Target; readonly idempotencyKey: string }
  | { readonly workflow: string; readonly key: string };

/** A signal's name, or its index (1 is cancel, awakeables from 17). */
export type SignalName = string | number;

export type Command =
  | StepCommand
  | { readonly type: "sleep"; readonly name?: string; readonly wakeAt: Instant }
  | CallCommand
  | SendCommand
  /** What queues for the key behind this run, for the same handler; completed with a `QueueListing` as JSON. */
  | { readonly type: "getQueue" }
  | { readonly type: "getState"; readonly key: string }
  | { readonly type: "getStateKeys" }
  | { readonly type: "setState"; readonly key: string; readonly value: Payload }
  | { readonly type: "clearState"; readonly key: string }
  | { readonly type: "clearAllState" }
  | { readonly type: "getPromise"; readonly key: string }
  | { readonly type: "peekPromise"; readonly key: string }
  | { readonly type: "completePromise"; readonly key: string; readonly completion: Result }
  | { readonly type: "sendSignal"; readonly run: RunId; readonly signal: SignalName; readonly payload: Result }
  | { readonly type: "attach"; readonly ref: RunRef }
  | { readonly type: "output"; readonly ref: RunRef }
  | { readonly type: "completeAwakeable"; readonly awakeable: string; readonly completion: Result }
  | StreamCommand;

export interface StepCommand {
  readonly type: "step";
  readonly name: string;
  readonly atMostOnce?: true;
  /** The stream that its result is appended to. */
  readonly into?: string;
  /** The code can begin anew from here, given its result: other code too (migration.ts). */
  readonly safePoint?: SafePointMark;
}

/** Streams are named within the run's owner (streams.ts). */
export type StreamCommand =
  /** The items travel beside it and stand in the stream. Its result is the offset of the first one. */
  | { readonly type: "append"; readonly stream: string; readonly count: number }
  /** The items from offset `from` on, as a list. */
  | { readonly type: "readStream"; readonly stream: string; readonly from: number }
  /** The offset that the next item gets. */
  | { readonly type: "streamLength"; readonly stream: string }
  /** Items before that offset go when the run has ended: until then it may be replayed, and needs what it has seen. */
  | { readonly type: "trimStream"; readonly stream: string; readonly before: number };

export interface CallCommand {
  readonly type: "call";
  readonly name?: string;
  readonly target: Target;
  readonly input: Payload | null;
  readonly headers?: Headers;
  readonly idempotencyKey?: string;
}

export interface SendCommand {
  readonly type: "send";
  readonly name?: string;
  readonly target: Target;
  readonly input: Payload | null;
  readonly headers?: Headers;
  readonly idempotencyKey?: string;
  /** Absent: at once. */
  readonly invokeAt?: Instant;
}

/**
 * A run that waits for its key's turn, as the holder of the turn is told of it: by `getQueue`, and by the signal
 * `perdure.arrival` as it arrives, where the handler listens. A hint: the queued run gets its turn whatever becomes of it.
 */
export interface QueuedMessage {
  readonly run: RunId;
  /** Parsed; null where there is none or where it is bytes. */
  readonly input: unknown;
  readonly headers: Headers;
}

/** What `getQueue` answers: the first of the queue, in order of arrival. */
export interface QueueListing {
  readonly messages: readonly QueuedMessage[];
  /** Others queue behind these; they are not named. */
  readonly more: boolean;
}

/** The signal of an arrival. Names that begin with `perdure.` are the runtime's own. */
export const ARRIVAL_SIGNAL = "perdure.arrival";

/** The signal that brings a fork the note it was made with. */
export const FORK_SIGNAL = "perdure.fork";

/** So many queued runs are named by one `getQueue`; later ones are named to the holders after. */
export const QUEUE_LISTED_MAX = 64;

export type CommandType = Command["type"];

/** Commands that something later completes; the rest is done when it is written. */
export const COMPLETABLE: ReadonlySet<CommandType> = new Set<CommandType>([
  "step",
  "sleep",
  "call",
  "getQueue",
  "getState",
  "getStateKeys",
  "getPromise",
  "peekPromise",
  "completePromise",
  "attach",
  "output",
  "readStream",
  "streamLength",
]);

export interface CommandEntry {
  readonly kind: "command";
  /** Position in the journal, from 1. */
  readonly index: number;
  readonly at: Instant;
  /** Command id, from 1. */
  readonly id: number;
  readonly command: Command;
  /** The child's run id, for `call` and `send`: known as soon as the command is journaled. */
  readonly child?: RunId;
  /** Present where the command was complete when it was written. */
  readonly result?: Result;
  /** The result stands in a stream. It is whole here; stores leave it out and put it together again. */
  readonly kept?: Kept;
}

/** Completes the command `id`. */
export interface CompletionEntry {
  readonly kind: "completion";
  readonly index: number;
  readonly at: Instant;
  readonly id: number;
  readonly result: Result;
  readonly kept?: Kept;
}

/** A message from outside, or the built-in cancel. */
export interface SignalEntry {
  readonly kind: "signal";
  readonly index: number;
  readonly at: Instant;
  readonly signal: SignalName;
  readonly payload: Result;
}

/** A try of step `id` (or of the handler itself: 0) that failed and will be tried again. */
export interface RetryEntry {
  readonly kind: "retry";
  readonly index: number;
  readonly at: Instant;
  readonly id: number;
  /** Tries so far, from 1. */
  readonly tries: number;
  readonly failure: Failure;
  /** When it is tried again; absent where a person has to decide. */
  readonly retryAt?: Instant;
}

/**
 * The run goes on because somebody said so: retry counters start again. `forget` names an unknown effect that may run again.
 * `migrated`: it goes on with other code, from its safe point.
 */
export interface ResumedEntry {
  readonly kind: "resumed";
  readonly index: number;
  readonly at: Instant;
  readonly forget?: number;
  readonly migrated?: MigrationTold;
}

export type NotificationEntry = CompletionEntry | SignalEntry | RetryEntry | ResumedEntry;
export type Entry = CommandEntry | NotificationEntry;

/** What a suspended run waits for; any of them wakes it. */
export type Awaiting =
  | { readonly kind: "completion"; readonly id: number }
  | { readonly kind: "signal"; readonly signal: SignalName }
  | { readonly kind: "time"; readonly at: Instant };
