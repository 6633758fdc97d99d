// Starting the run of a time, under the schedule's overlap.

import { unreachable } from "@perdure/protocol";
import type { ObjectContext } from "@perdure/sdk";
import { scheduleLanes } from "./lanes.ts";
import { statusOf } from "./run-status.ts";
import { startTarget, type StartOrder } from "./start.ts";
import type { ScheduleRecord, ScheduleStart } from "./types.ts";

/** A queue that is longer is not catching up any more. */
const QUEUE_MAX = 100;

export function orderOf(ctx: ObjectContext, record: ScheduleRecord, id: string, scheduledFor: number): StartOrder {
  const { target, input } = record.spec;
  const order = { schedule: ctx.key, id, scheduledFor, target };
  return input === undefined ? order : { ...order, input };
}

type Begun = Partial<Pick<ScheduleRecord, "last" | "waiting">> & { readonly entry: ScheduleStart };

/** Starts one run, or says why not. */
export async function begin(
  ctx: ObjectContext,
  record: ScheduleRecord,
  order: StartOrder,
  now: number,
): Promise<Begun> {
  const { overlap } = record.spec;
  const entry = { id: order.id, scheduledFor: order.scheduledFor, at: now, run: null };
  switch (overlap) {
    case "queue":
      return enqueue(ctx, record, order, entry);
    case "skip":
      if (record.last !== null && (await statusOf(ctx, record.last)) === "going")
        return { entry: { ...entry, outcome: `skipped: ${record.last} has not ended` } };
      break;
    case "cancel":
      if (record.last !== null) ctx.run(record.last).cancel();
      break;
    case "parallel":
      break;
    default:
      unreachable(overlap);
  }
  const started = await startTarget(ctx, order);
  if ("failed" in started) return { entry: { ...entry, outcome: `failed: ${started.failed}` } };
  return { last: started.run.id, entry: { ...entry, run: started.run.id, outcome: "started" } };
}

async function enqueue(
  ctx: ObjectContext,
  record: ScheduleRecord,
  order: StartOrder,
  entry: Omit<ScheduleStart, "outcome">,
): Promise<Begun> {
  let { waiting } = record;
  if (waiting.length >= QUEUE_MAX) waiting = await stillWaiting(ctx, waiting);
  if (waiting.length >= QUEUE_MAX) return { entry: { ...entry, outcome: `skipped: ${QUEUE_MAX} starts wait already` } };
  const lane = await ctx.send(scheduleLanes, ctx.key).start(order);
  return { waiting: [...waiting, { id: order.id, lane: lane.id }], entry: { ...entry, outcome: "queued" } };
}

/** Without those that somebody cancelled in the queue: they never report. */
async function stillWaiting(
  ctx: ObjectContext,
  waiting: ScheduleRecord["waiting"],
): Promise<ScheduleRecord["waiting"]> {
  const statuses = await Promise.all(waiting.map(({ lane }) => statusOf(ctx, lane)));
  return waiting.filter((_, at) => statuses[at] === "going");
}
