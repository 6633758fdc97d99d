// Deciding on times: what a tick does to its schedule
// ===================================================
//   plan ─▶ arm the next tick ─▶ start what is due, each under the schedule's overlap
//
// D1. At most one tick is on its way; the record names its run, and a tick that the record does not name does nothing.
// D2. The next tick is armed before anything is started: whatever becomes of the starts, the schedule goes on.

import type { ObjectContext, ObjectSharedContext, Sends } from "@perdure/sdk";
import { begin, orderOf } from "./begin.ts";
import { CATCH_UP_MAX, plan, type Missed, type Plan } from "./plan.ts";
import { statusOf } from "./run-status.ts";
import type { ScheduleHandlers } from "./schedules.ts";
import {
  SCHEDULES,
  type CatchUp,
  type Occurrence,
  type ScheduleRecord,
  type ScheduleStart,
  type Timing,
} from "./types.ts";

const HISTORY_MAX = 20;

/**
 * Starts what is due, and arms the tick after it.
 * @param replaced the timing that held until now, where it changes.
 */
export async function advance(
  ctx: ObjectContext,
  record: ScheduleRecord,
  now: number,
  replaced?: Timing,
): Promise<void> {
  const { timing, jitterMs, catchUp } = record.spec;
  const { decidedUntil } = record;
  const question = { name: ctx.key, timing, jitterMs, catchUp, decidedUntil, now };
  // A step: the time zone data may be others when this is replayed.
  const todo = await ctx.step("plan", (): Plan => plan(replaced === undefined ? question : { ...question, replaced }));
  let current: ScheduleRecord = { ...record, decidedUntil: todo.decidedUntil, next: await arm(ctx, record, todo.next) };
  ctx.set("schedule", current);
  const begun: ScheduleStart[] = todo.missed === null ? [] : [noteOf(todo.missed, catchUp, now)];
  for (const scheduledFor of todo.start) {
    const { entry, ...rest } = await begin(ctx, current, orderOf(ctx, record, timeId(scheduledFor), scheduledFor), now);
    current = { ...current, ...rest };
    begun.push(entry);
  }
  if (begun.length === 0) return;
  ctx.set("schedule", current);
  await remember(ctx, begun);
}

/** Puts the tick after this one on its way, and takes back the one that was, if it is another. */
async function arm(
  ctx: ObjectContext,
  record: ScheduleRecord,
  next: Occurrence | null,
): Promise<ScheduleRecord["next"]> {
  disarm(ctx, record);
  if (next === null) return null;
  const ticks: Sends<ScheduleHandlers> = ctx.send(SCHEDULES, ctx.key, { at: next.at });
  return { ...next, tick: (await ticks.tick()).id };
}

/** A tick that has not begun ends at once, without a word. */
export function disarm(ctx: ObjectContext, record: ScheduleRecord): void {
  const { next } = record;
  if (next !== null && next.tick !== ctx.runId) ctx.run(next.tick).cancel();
}

/** Is the tick that the record names still to come? It is not where somebody killed or cancelled it. */
export async function isArmed(ctx: ObjectSharedContext, record: ScheduleRecord): Promise<boolean> {
  return record.next === null || (await statusOf(ctx, record.next.tick)) === "going";
}

function timeId(time: number): string {
  return new Date(time).toISOString();
}

function noteOf(missed: Missed, catchUp: CatchUp, now: number): ScheduleStart {
  const { scheduledFor, count, more } = missed;
  const times = `${more ? "at least " : ""}${count} time${count === 1 ? "" : "s"}`;
  const why = catchUp === "all" ? `at most ${CATCH_UP_MAX} are made up for` : `catchUp is "${catchUp}"`;
  const outcome = `skipped: ${times} passed while nothing ran (${why})`;
  return { id: `missed/${timeId(scheduledFor)}`, scheduledFor, at: now, run: null, outcome };
}

/** @param begun in order of time; the history is newest first. */
export async function remember(ctx: ObjectContext, begun: readonly ScheduleStart[]): Promise<void> {
  const before = (await ctx.get<readonly ScheduleStart[]>("history")) ?? [];
  ctx.set("history", [...begun.toReversed(), ...before].slice(0, HISTORY_MAX));
}
