// A run as it is stored and shown.
//
//   scheduled ──▶ queued ──▶ running ◀──▶ suspended
//       │            │         │  ▲  ◀──▶ retrying
//       │            │         │  └─────▶ paused
//       └────────────┴─────────┴─▶ succeeded | failed | cancelled | killed
//
// scheduled: waits for its start time.        queued: waits for its key's exclusive turn.
// running:   is executed, or will be as soon as there is room (also after a crash).
// suspended: costs disk only, until what it awaits is there.
// retrying:  an attempt failed, and the next one has a time.   paused: waits for a person.

import type { RunId } from "./ids.ts";
import type { Awaiting, Headers } from "./journal.ts";
import type { Migrated } from "./migration.ts";
import type { Failure, Payload, Result } from "./payload.ts";
import type { Instant } from "./time.ts";

export const RUN_STATUSES = [
  "scheduled",
  "queued",
  "running",
  "suspended",
  "retrying",
  "paused",
  "succeeded",
  "failed",
  "cancelled",
  "killed",
] as const;

export type RunStatus = (typeof RUN_STATUSES)[number];

export function isFinished(status: RunStatus): boolean {
  return status === "succeeded" || status === "failed" || status === "cancelled" || status === "killed";
}

/** Services whose names begin so are the runtime's own (approvals, budgets, …): they come along with a user's. */
export const BUILT_IN_PREFIX = "perdure.";

/** `exclusive`: one at a time per key, in order of arrival. `workflow`: exclusive, and once per key. */
export type HandlerMode = "exclusive" | "shared" | "workflow" | "service";

export interface RetryState {
  /** Failed tries since the last progress. */
  readonly tries: number;
  readonly failure: Failure;
  readonly at?: Instant;
}

/** Items of a stream of the run's owner that go when the run has ended. */
export interface StreamTrim {
  /** The command that asked for it. */
  readonly command: number;
  readonly stream: string;
  readonly before: number;
}

export interface CancelState {
  /** Children that still have to end before the run itself is told. */
  readonly waitingFor: readonly RunId[];
  /** Their results, held back so that the code learns of its own cancel first. */
  readonly held: readonly { readonly command: number; readonly result: Result }[];
}

/** What the first entries of a run were made by. */
export interface ForkOrigin {
  /** The entries up to `entry` are those of that run: its code asked for them, under its id and its key. */
  readonly run: RunId;
  readonly key: string | null;
  readonly entry: number;
  /** As the code has known them from its begin: when it began, and the key that it was submitted with. */
  readonly createdAt: Instant;
  readonly idempotencyKey: string | null;
  /** Of the entries, those up to an earlier one were another's already. */
  readonly origin: ForkOrigin | null;
}

export interface Run {
  readonly id: RunId;
  /** Number of the run in its store, in order of submission. */
  readonly seq: number;
  readonly service: string;
  readonly handler: string;
  readonly key: string | null;
  readonly mode: HandlerMode;
  readonly status: RunStatus;
  readonly input: Payload | null;
  readonly headers: Headers | null;
  readonly idempotencyKey: string | null;
  /** The call that started this run, and awaits it unless `awaited` is false. */
  readonly parent: { readonly run: RunId; readonly command: number; readonly awaited: boolean } | null;
  /** The run is a fork, or what a run was before it was rewound. */
  readonly forkedFrom: ForkOrigin | null;
  /** The deployment whose code runs it; pinned when the run first starts. */
  readonly deployment: string | null;
  /** Where its code begins since it went over to that deployment; null: at the beginning. */
  readonly migrated: Migrated | null;
  /** It goes over to that deployment at its next safe point. */
  readonly migrating: { readonly to: string | null } | null;
  readonly createdAt: Instant;
  /** Last change of status. */
  readonly changedAt: Instant;
  readonly scheduledAt: Instant | null;
  readonly finishedAt: Instant | null;
  /** Place in the key's queue: grows with arrival. */
  readonly arrival: number;
  /** How often the run was restarted from an entry. */
  readonly generation: number;
  readonly retry: RetryState | null;
  readonly awaiting: readonly Awaiting[] | null;
  /** Why a person is needed (status `paused`). */
  readonly pausedBy: Failure | null;
  /** A cancel was accepted and first goes to the children; the own code is told when they are done (E7). */
  readonly cancelling: CancelState | null;
  /** What its end drops of streams. */
  readonly trims: readonly StreamTrim[] | null;
  /** Other runs wait for the end of this one (`Waiter`s with this run as their target). */
  readonly watched: boolean;
  /** The output or the final failure, once finished. */
  readonly result: Result | null;
}
