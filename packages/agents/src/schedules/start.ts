// Starting the run of one time. Once, whatever crashes: the run is named by the schedule and the time.

import { isPerdureError, UnknownTargetError } from "@perdure/protocol";
import type { Context, RunHandle, UntypedSends } from "@perdure/sdk";
import { SCHEDULE_HEADER, SCHEDULED_FOR_HEADER, SCHEDULES, type ScheduleTarget } from "./types.ts";

/** What is to be started, as the schedule was when the time came. */
export interface StartOrder {
  readonly schedule: string;
  /** Unique in its schedule. */
  readonly id: string;
  readonly scheduledFor: number;
  readonly target: ScheduleTarget;
  readonly input?: unknown;
}

export type Started = { readonly run: RunHandle } | { readonly failed: string };

/** A target that is not served is an answer: the schedule goes on, and its history says so. */
export async function startTarget(ctx: Context, order: StartOrder): Promise<Started> {
  const { schedule, id, target } = order;
  const key = target.keyPerStart === true ? `${schedule}/${id}` : target.key;
  const options = {
    idempotencyKey: `${SCHEDULES}/${schedule}/${id}`,
    headers: { [SCHEDULE_HEADER]: schedule, [SCHEDULED_FOR_HEADER]: new Date(order.scheduledFor).toISOString() },
  };
  const sends: UntypedSends =
    key === undefined ? ctx.send(target.service, options) : ctx.send(target.service, key, options);
  try {
    return { run: (await sends[target.handler](order.input)) as RunHandle };
  } catch (error) {
    if (isPerdureError(error) && error.code === UnknownTargetError.code) return { failed: error.message };
    throw error;
  }
}
