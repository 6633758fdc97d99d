// What to do at a moment: which times are started now, which are left out, and when to look again. Pure.
//
// L1. A time is decided on once: the plan moves `decidedUntil` over every time that it starts or leaves out.
// L2. Times are started in their order, and never before their jitter is over.
// L3. What a plan starts is bounded, however long nothing ran.

import type { CatchUp, Occurrence, Timing } from "./types.ts";
import { timesAfter, timesBetween, withJitter } from "./times.ts";

/** More missed times than this are not made up for, whatever `catchUp` says. */
export const CATCH_UP_MAX = 100;
/** With `catchUp: "none"`: what would start later than this is missed rather than late. */
const LATE_MS_MAX = 60_000;

export interface PlanQuestion {
  readonly name: string;
  readonly timing: Timing;
  /** The timing until now, where it changes: what it owes is settled, without waiting for its jitter. */
  readonly replaced?: Timing;
  readonly jitterMs: number;
  readonly catchUp: CatchUp;
  readonly decidedUntil: number;
  readonly now: number;
}

export interface Plan {
  /** Times to start now, in order. */
  readonly start: readonly number[];
  readonly missed: Missed | null;
  readonly decidedUntil: number;
  readonly next: Occurrence | null;
}

/** Times that are left out. */
export interface Missed {
  /** The last of them. */
  readonly scheduledFor: number;
  readonly count: number;
  /** There were others before those that were counted. */
  readonly more: boolean;
}

export function plan(question: PlanQuestion): Plan {
  const { name, timing, replaced, jitterMs, catchUp, now } = question;
  const owed = timesBetween(replaced ?? timing, question.decidedUntil, now, CATCH_UP_MAX + 1); // One may have to wait.
  const all = replaced === undefined ? withoutWaiting(name, timing, owed.times, jitterMs, now) : owed.times;
  const due = all.slice(-CATCH_UP_MAX);
  const start = chosen(due, catchUp, now - jitterMs);
  const left = due.slice(0, due.length - start.length);
  const decidedUntil =
    replaced === undefined ? (due.at(-1) ?? question.decidedUntil) : Math.max(question.decidedUntil, now);
  const [next] = timesAfter(timing, decidedUntil, 1);
  return {
    start,
    missed: missedOf(left, all.at(-CATCH_UP_MAX - 1) ?? owed.earlier),
    decidedUntil,
    next: next === undefined ? null : withJitter(name, timing, next, jitterMs),
  };
}

/** Jitter never reaches the time after it, so only the last one may have to wait. */
function withoutWaiting(
  name: string,
  timing: Timing,
  times: readonly number[],
  jitterMs: number,
  now: number,
): readonly number[] {
  const last = times.at(-1);
  const waits = last !== undefined && withJitter(name, timing, last, jitterMs).at > now;
  return waits ? times.slice(0, -1) : times;
}

/** The end of `due` that is started. */
function chosen(due: readonly number[], catchUp: CatchUp, now: number): readonly number[] {
  switch (catchUp) {
    case "all":
      return due;
    case "latest":
      return due.slice(-1);
    case "none":
      return due.slice(-1).filter((time) => now - time <= LATE_MS_MAX);
  }
}

function missedOf(left: readonly number[], earlier: number | null): Missed | null {
  const scheduledFor = left.at(-1) ?? earlier;
  if (scheduledFor === null) return null;
  return { scheduledFor, count: left.length + (earlier === null ? 0 : 1), more: earlier !== null };
}
