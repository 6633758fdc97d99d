// A schedule: what it starts, when, and what has become of it. All of it is data.

import type { DurationLike, RunId } from "@perdure/protocol";

/** The object that keeps schedules; its keys are their names. */
export const SCHEDULES = "perdure.schedules";
/** The object whose lanes are the queues of `overlap: "queue"`. */
export const SCHEDULE_LANES = "perdure.schedules.lanes";

/** Headers of every run that a schedule starts. */
export const SCHEDULE_HEADER = "perdure-schedule";
/** The time that the run was due at, in ISO 8601. */
export const SCHEDULED_FOR_HEADER = "perdure-scheduled-for";

/**
 * What happens when the run before has not ended.
 *
 * - `skip`: this time is left out, and noted
 * - `queue`: it starts when the one before has ended
 * - `parallel`: it starts beside it
 * - `cancel`: the one before is cancelled, and it starts
 */
export type Overlap = "skip" | "queue" | "parallel" | "cancel";

/**
 * What becomes of times that passed while nothing ran (downtime, a pause).
 *
 * - `none`: they are left out; a time is missed when a minute has gone by
 * - `latest`: one start makes up for all of them
 * - `all`: each is started, the latest hundred at most
 */
export type CatchUp = "none" | "latest" | "all";

export interface ScheduleTarget {
  readonly service: string;
  readonly handler: string;
  readonly key?: string | undefined;
  /** A key of its own for every start, as workflows need it: `<schedule>/<time>`. */
  readonly keyPerStart?: boolean | undefined;
}

/** What `schedules` is told: a schedule as plain data. Either `cron` or `every`. */
export interface ScheduleSpec {
  /** Five fields, or six with seconds first; or `@daily` and the like. */
  readonly cron?: string | undefined;
  /** For `cron`: an IANA name. Default: UTC, wherever the runtime stands. */
  readonly timeZone?: string | undefined;
  /** Counted from 1970-01-01T00:00Z, so that it does not drift: `15m` is at :00, :15, :30 and :45. At least a second. */
  readonly every?: DurationLike | undefined;
  readonly target: ScheduleTarget;
  readonly input?: unknown;
  /** Default: `skip`; with `catchUp: "all"`, `queue`. */
  readonly overlap?: Overlap | undefined;
  /** Default: `latest`. */
  readonly catchUp?: CatchUp | undefined;
  /** Start up to that much later; how much is fixed for each time, and never reaches the time after it. */
  readonly jitter?: DurationLike | undefined;
  /** Begin paused. Where a spec is changed, only a change of this field pauses or resumes. */
  readonly paused?: boolean | undefined;
  /** A module exports it: a runtime reports it once no module does any more. */
  readonly exported?: boolean | undefined;
}

export type Timing =
  | { readonly kind: "cron"; readonly cron: string; readonly timeZone: string }
  | { readonly kind: "every"; readonly everyMs: number };

/** A spec with everything decided: two that mean the same are equal as JSON. */
export interface StoredSpec {
  readonly timing: Timing;
  readonly target: ScheduleTarget;
  readonly input?: unknown;
  readonly overlap: Overlap;
  readonly catchUp: CatchUp;
  readonly jitterMs: number;
  readonly paused: boolean;
  readonly exported: boolean;
}

/** A time at which a run is due. */
export interface Occurrence {
  /** As the schedule says it. Milliseconds since the epoch, as everywhere here. */
  readonly scheduledFor: number;
  /** With its jitter. */
  readonly at: number;
}

/** What is kept of a schedule, under the state `schedule` of its key. */
export interface ScheduleRecord {
  readonly spec: StoredSpec;
  readonly paused: boolean;
  /** Every time up to this one was decided on: started, or left out. */
  readonly decidedUntil: number;
  /** The one tick that is on its way, or null: paused, or there is no further time. */
  readonly next: (Occurrence & { readonly tick: RunId }) | null;
  /** The run that was started last. */
  readonly last: RunId | null;
  /** Starts in the queue, oldest first. */
  readonly waiting: readonly { readonly id: string; readonly lane: RunId }[];
}

/** What became of a time. Kept under the state `history`, newest first, twenty of them. */
export interface ScheduleStart {
  /** Unique in its schedule: the time, or `trigger/<run>`. */
  readonly id: string;
  readonly scheduledFor: number;
  /** When it was decided. */
  readonly at: number;
  readonly run: RunId | null;
  /** `started`, `queued`, `withdrawn: …`, `skipped: …`, `failed: …`. */
  readonly outcome: string;
}

export type StartedRunStatus = "going" | "succeeded" | "failed" | "cancelled" | "gone";

export interface ScheduleView {
  readonly name: string;
  readonly paused: boolean;
  readonly spec: StoredSpec;
  /** The next times; none while it is paused. */
  readonly next: readonly Occurrence[];
  /** Newest first. `status` is null where no run was started. */
  readonly history: readonly (ScheduleStart & { readonly status: StartedRunStatus | null })[];
}

/** What `put`, `pause` and `resume` answer. */
export interface ScheduleState {
  readonly name: string;
  readonly paused: boolean;
  /** The next time of a start, jitter included. */
  readonly next: number | null;
}
