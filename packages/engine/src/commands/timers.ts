// Timers that are due, and runs that got room for an attempt.
//
// E6: a timer fires when the clock has reached it, never before; the ones that came due while nothing ran fire at the start.

import { assert, unreachable, VOID } from "@perdure/protocol";
import type { Batch } from "../batch.ts";
import type { LoopEvent } from "../events.ts";
import { launch, wake } from "../moves/attempts.ts";
import { tellHolder } from "../moves/arrival.ts";
import { complete } from "../moves/journal.ts";
import { arrive, isExclusive } from "../moves/key-queue.ts";
import { setStatus } from "../moves/status.ts";
import type { Timer } from "../store.ts";
import type { HotRun } from "../view.ts";

export function fireTimers(batch: Batch): void {
  const due = batch.view.timers ?? [];
  batch.view.timers = []; // A second `timers` event of the same batch finds them fired (J2).
  for (const timer of due) {
    assert(timer.at <= batch.now, "E6: only timers that are due are loaded");
    batch.mutations.push({ type: "removeTimer", timer });
    const run = batch.view.runBySeq(timer.run);
    if (run !== undefined) fire(batch, run, timer);
  }
}

function fire(batch: Batch, run: HotRun, timer: Timer): void {
  const { status } = run.record;
  switch (timer.kind) {
    case "sleep":
      // Also where the run has ended, as it may be restarted. But it may have been cut off by a restart in this very batch.
      if (timer.id <= run.commands) complete(batch, run, timer.id, VOID);
      return;
    case "start":
      if (status === "scheduled") begin(batch, run);
      return;
    case "wake":
      if (status === "suspended" && isDue(run, batch.now)) wake(batch, run);
      return;
    case "retry":
      // An older timer than the one that the run waits for now is left over from a try that a person had brought forward.
      if (status === "retrying" && (run.record.retry?.at ?? 0) <= batch.now) wake(batch, run);
      return;
    default:
      unreachable(timer.kind);
  }
}

function isDue(run: HotRun, now: number): boolean {
  return (run.record.awaiting ?? []).some((item) => item.kind === "time" && item.at <= now);
}

function begin(batch: Batch, run: HotRun): void {
  if (isExclusive(run) && arrive(batch, run) === "queued") {
    setStatus(batch, run, "queued");
    tellHolder(batch, run);
    return;
  }
  setStatus(batch, run, "running");
  launch(batch, run);
}

/** There is room: the run gets its attempt, unless something else became of it meanwhile. */
export function beginWaiting(batch: Batch, event: Extract<LoopEvent, { type: "begin" }>): void {
  const run = batch.view.run(event.run);
  if (run?.record.status === "running" && run.attempt === null) launch(batch, run);
}
