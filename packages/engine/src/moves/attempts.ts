// Beginning and ending attempts. A run in status `running` has an attempt or waits for room (E8: the loop begins the
// waiting ones as others end). E4: a run has at most one attempt, and what a former one says carries an old token.

import { assert } from "@perdure/protocol";
import type { Batch } from "../batch.ts";
import type { HotRun, LiveAttempt } from "../view.ts";
import { setStatus } from "./status.ts";

/** Gives the running run an attempt, or lets it wait for room. */
export function launch(batch: Batch, run: HotRun): void {
  assert(run.record.status === "running" && run.attempt === null, "E4: only a running run without an attempt gets one");
  const { counters } = batch;
  if (counters.live >= batch.limits.attemptsLiveMax) {
    batch.actions.push({ type: "ready", run: run.record.id });
    return;
  }
  counters.live += 1;
  counters.attempt += 1;
  const token = counters.attempt;
  run.attempt = {
    token,
    held: [],
    open: new Set(),
    safePoint: 0,
    streams: null,
    commands: run.commands,
    given: run.entries,
    told: run.entries,
    asked: run.entries,
    image: null,
    imaged: 0,
  };
  if (run.record.deployment === null) pin(batch, run);
  batch.actions.push({ type: "launch", run: { ...run.record }, attempt: token, fresh: run.fresh && run.entries === 0 });
}

/** From its first start on a run keeps the code that it started on. */
function pin(batch: Batch, run: HotRun): void {
  const { service, handler, key } = run.record;
  const deployment = batch.environment.deployment(key === null ? { service, handler } : { service, handler, key });
  if (deployment !== null) batch.change(run).deployment = deployment;
}

/** The attempt is over by its own word: it needs no abort. */
export function release(batch: Batch, run: HotRun): void {
  detach(batch, run);
  batch.actions.push({ type: "release", run: run.record.id });
}

function detach(batch: Batch, run: HotRun): void {
  assert(run.attempt !== null, "only a live attempt is released");
  if (run.attempt.streams !== null) batch.view.releaseStreams(run.attempt);
  run.attempt = null;
  batch.view.touched.add(run);
  batch.counters.live -= 1;
}

/** Ends the attempt from outside, if there is one. What it still says is stale. */
export function abort(batch: Batch, run: HotRun, reason: string): void {
  if (run.attempt === null) return;
  batch.aborted.add(run.attempt.token);
  detach(batch, run);
  batch.actions.push({ type: "abort", run: run.record.id, reason });
}

/** The attempt that an event comes from, or null where it is stale (E4). */
export function liveAttempt(run: HotRun | undefined, token: number): LiveAttempt | null {
  return run?.attempt?.token === token ? run.attempt : null;
}

/** Moves a waiting run on to `running` and gives it an attempt. */
export function wake(batch: Batch, run: HotRun): void {
  setStatus(batch, run, "running");
  launch(batch, run);
}
