// E3: at most one exclusive run per key has its turn, and turns are given in order of arrival. The holder of a key is the
// exclusive run that is neither scheduled, queued nor finished; the store derives it, nothing else is written.

import { assert, isFinished, type RunId } from "@perdure/protocol";
import type { Batch } from "../batch.ts";
import type { HotKey, HotRun } from "../view.ts";
import { launch } from "./attempts.ts";
import { setStatus } from "./status.ts";

export function isExclusive(run: HotRun): boolean {
  return (run.record.mode === "exclusive" || run.record.mode === "workflow") && run.record.key !== null;
}

function keyOf(batch: Batch, run: HotRun): HotKey {
  const { service, key } = run.record;
  assert(key !== null, "only keyed runs queue");
  return batch.view.key(service, key);
}

/** True where the next in the queue is not known yet: the event has to wait for another load. */
export function queueUnknown(batch: Batch, run: HotRun): boolean {
  return nextUnknown(batch, run, NOBODY);
}

const NOBODY: ReadonlySet<RunId> = new Set();

/** The same, where the runs in `leaving` leave the queue as well. */
export function nextUnknown(batch: Batch, run: HotRun, leaving: ReadonlySet<RunId>): boolean {
  if (!isExclusive(run)) return false;
  const key = keyOf(batch, run);
  return key.more && key.holder === run.record.id && key.queue.every((id) => leaving.has(id));
}

/** A run arrives at its key: it gets the turn or a place in the queue. Its status must allow both. */
export function arrive(batch: Batch, run: HotRun): "turn" | "queued" {
  const key = keyOf(batch, run);
  batch.change(run).arrival = ++batch.counters.arrival;
  if (key.holder === null) {
    assert(key.queue.length === 0 && !key.more, "E3: a free key has no queue");
    key.holder = run.record.id;
    return "turn";
  }
  if (!key.more) key.queue.push(run.record.id);
  return "queued";
}

/** The run leaves its key; where it had the turn, the next one gets it. Called after its status is final. */
export function leave(batch: Batch, run: HotRun): void {
  const key = keyOf(batch, run);
  if (key.holder !== run.record.id) {
    const place = key.queue.indexOf(run.record.id);
    if (place >= 0) key.queue.splice(place, 1);
    return;
  }
  assert(isFinished(run.record.status), "E3: a holder leaves when it has ended");
  const next = key.queue.shift();
  key.holder = next ?? null;
  if (next === undefined) {
    assert(!key.more, "the queue was to be loaded before its holder leaves");
    return;
  }
  promote(batch, next);
}

function promote(batch: Batch, id: HotRun["record"]["id"]): void {
  const hot = batch.view.run(id);
  if (hot === undefined) {
    batch.mutations.push({ type: "promoteRun", id, at: batch.now });
    batch.actions.push({ type: "ready", run: id });
    return;
  }
  setStatus(batch, hot, "running");
  launch(batch, hot);
}
