// migrate: a run goes over to other code, from the safe point that it is at.
//
// Whoever asks has read the journal, and has turned the state into the other code's. That holds as long as the journal is what
// was read and the code has asked for nothing since: else the asker is told, and looks again.
//
// It begins at once, also where it is paused since the old code failed; one that a person has paused stays so.

import type { ResumedEntry } from "@perdure/protocol";
import type { Batch } from "../batch.ts";
import type { Migrate, RunEvent } from "../events.ts";
import { abort, launch, wake } from "../moves/attempts.ts";
import { dropAllImages } from "../moves/images.ts";
import type { HotRun } from "../view.ts";

export function migrate(batch: Batch, event: Migrate): void {
  const run = find(batch, event);
  if (run === undefined) return;
  if (hasMoved(run, event)) {
    batch.refuse(event.ticket, "conflict", "the run went on meanwhile");
    return;
  }
  const isLive = run.attempt !== null;
  abort(batch, run, "the run goes over to other code");
  dropAllImages(batch, run); // They hold the old code.
  tell(batch, run, event);
  const { status, pausedBy } = run.record;
  const failed = status === "paused" && pausedBy?.errorCode !== undefined;
  if (status === "suspended" || status === "retrying" || failed) wake(batch, run);
  else if (status === "running" && isLive) launch(batch, run); // Else it waits for room, and gets it.
  batch.reply(event.ticket, { type: "done", status: run.record.status });
}

/** Also where the code has asked for something that is not written yet. */
function hasMoved({ record, entries, commands, attempt }: HotRun, { safePoint }: Migrate): boolean {
  if (entries !== safePoint.entries || commands !== safePoint.commands || record.cancelling !== null) return true;
  if (attempt !== null && attempt.commands !== commands) return true;
  return !["running", "suspended", "retrying", "paused"].includes(record.status);
}

function tell(batch: Batch, run: HotRun, { to, safePoint, state }: Migrate): void {
  const { entry, commands, point, kept, awakeables } = safePoint;
  const { deployment: from, migrated: before } = run.record;
  const told: ResumedEntry = {
    kind: "resumed",
    index: run.entries + 1,
    at: batch.now,
    migrated: { point, from, to, state, before },
  };
  batch.append(run, told);
  const record = batch.change(run);
  record.deployment = to;
  record.migrated = { entry, commands, point, kept, awakeables, told: told.index, at: batch.now };
  record.migrating = null;
  record.retry = null; // Failures of the old code.
}

export function planMigration(batch: Batch, event: Extract<RunEvent, { type: "planMigration" }>): void {
  const run = find(batch, event);
  if (run === undefined) return;
  batch.change(run).migrating = event.plan;
  batch.reply(event.ticket, { type: "done", status: run.record.status });
}

function find(batch: Batch, event: RunEvent): HotRun | undefined {
  const run = batch.view.run(event.run);
  if (run === undefined)
    batch.refuse(event.ticket, "not_found", `there is no run ${event.run}: it never was, or its retention is over`);
  return run;
}
