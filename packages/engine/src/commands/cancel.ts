// Cancel and kill. Both take the whole tree of awaited children in one commit, so that a crash finds it all or nothing.
//
// E7: a cancel goes to the children first; the parent's own code is told when they have ended, and may then compensate.
// What has finished is spared, one-way sends are on their own. A kill ends parent and children at once, without a word.

import { CancelledError, KilledError, failureResult, isFinished, type RunId } from "@perdure/protocol";
import type { Batch } from "../batch.ts";
import type { RunEvent } from "../events.ts";
import { deliverCancel, finish } from "../moves/finish.ts";
import { nextUnknown } from "../moves/key-queue.ts";
import type { HotRun } from "../view.ts";

export function cancel(batch: Batch, event: Extract<RunEvent, { type: "cancel" }>): void {
  const run = batch.view.run(event.run);
  if (run === undefined) {
    batch.refuse(event.ticket, "not_found", `there is no run ${event.run}: it never was, or its retention is over`);
    return;
  }
  cancelTree(batch, run);
  batch.reply(event.ticket, { type: "done", status: run.record.status });
}

export function cancelTree(batch: Batch, run: HotRun): void {
  const { status } = run.record;
  if (isFinished(status) || run.record.cancelling !== null) return;
  if (status === "scheduled" || status === "queued") {
    finish(batch, run, failureResult(new CancelledError("the run was cancelled before it began").toFailure()));
    return;
  }
  const waitingFor: RunId[] = [];
  const children: HotRun[] = [];
  for (const id of openChildren(batch, run)) {
    waitingFor.push(id.record.id);
    children.push(id);
  }
  if (children.length === 0) {
    deliverCancel(batch, run);
    return;
  }
  // Set first: children that end at once (they had not begun) are then counted off by their own end.
  batch.change(run).cancelling = { waitingFor, held: [] };
  for (const child of children) cancelTree(batch, child);
}

/** Children that are awaited and have not ended. */
export function openChildren(batch: Batch, run: HotRun): HotRun[] {
  const open: HotRun[] = [];
  for (const id of batch.view.childrenOf(run.record.id)) {
    const child = batch.view.run(id);
    if (child !== undefined && !isFinished(child.record.status)) open.push(child);
  }
  return open;
}

export function kill(batch: Batch, event: Extract<RunEvent, { type: "kill" }>): void {
  const run = batch.view.run(event.run);
  if (run === undefined) {
    batch.refuse(event.ticket, "not_found", `there is no run ${event.run}: it never was, or its retention is over`);
    return;
  }
  if (!isFinished(run.record.status) && !killsWhole(batch, run)) {
    batch.deferred.push(event);
    return;
  }
  killTree(batch, run);
  batch.reply(event.ticket, { type: "done", status: run.record.status });
}

/**
 * False where the turn of a key would go from the tree to a run that is not loaded. Then the members that wait for that
 * turn are killed first; the next batch sees more of the queue, and goes on. The root is killed last.
 */
function killsWhole(batch: Batch, run: HotRun): boolean {
  const members = tree(batch, run);
  const ids = new Set(members.map((member) => member.record.id));
  if (!members.some((member) => nextUnknown(batch, member, ids))) return true;
  for (const member of members)
    if (member.record.status === "queued") finish(batch, member, failureResult(new KilledError().toFailure()));
  return false;
}

function killTree(batch: Batch, run: HotRun): void {
  if (isFinished(run.record.status)) return;
  const children = openChildren(batch, run);
  finish(batch, run, failureResult(new KilledError().toFailure()));
  for (const child of children) killTree(batch, child);
}

function tree(batch: Batch, run: HotRun): HotRun[] {
  return [run, ...openChildren(batch, run).flatMap((child) => tree(batch, child))];
}
