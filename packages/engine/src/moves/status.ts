// The one setter of a run's status. It asserts where a status may come from; see protocol/run.ts for the picture.

import { assert, isFinished, type RunStatus } from "@perdure/protocol";
import type { Batch } from "../batch.ts";
import type { HotRun } from "../view.ts";

const FROM: Readonly<Record<RunStatus, readonly RunStatus[]>> = {
  scheduled: [],
  queued: ["scheduled"],
  running: ["scheduled", "queued", "suspended", "retrying", "paused"],
  suspended: ["running"],
  retrying: ["running"],
  paused: ["running", "suspended", "retrying"],
  succeeded: ["running"],
  failed: ["running", "suspended", "retrying", "paused"],
  cancelled: ["scheduled", "queued", "running", "suspended", "retrying", "paused"],
  killed: ["scheduled", "queued", "running", "suspended", "retrying", "paused"],
};

export function setStatus(batch: Batch, run: HotRun, status: RunStatus): void {
  const record = batch.change(run);
  assert(FROM[status].includes(record.status), `a run does not go from ${record.status} to ${status}`);
  record.status = status;
  record.changedAt = batch.now;
  if (status !== "suspended") record.awaiting = null;
  if (status !== "paused") record.pausedBy = null;
  if (isFinished(status)) record.finishedAt = batch.now;
}

/** A finished run comes back to life by a restart; the only way out of a final status. */
export function revive(batch: Batch, run: HotRun, status: "running" | "queued"): void {
  const record = batch.change(run);
  assert(isFinished(record.status), "only finished runs are revived");
  record.status = status;
  record.changedAt = batch.now;
  record.finishedAt = null;
  record.result = null;
}
