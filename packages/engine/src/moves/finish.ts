// The end of a run, whatever ended it: its result is written, its key goes to the next in the queue, and whoever waits
// for it is told: the parent's call, other runs' attaches, callers outside. A run that waited and has ended itself gets
// the completion into its journal too: should it be restarted, nobody would complete the command any more (E8).

import { CancelledError, KilledError, type Result, type RunId, type RunStatus } from "@perdure/protocol";
import type { Batch } from "../batch.ts";
import type { Waiter } from "../store.ts";
import type { HotRun } from "../view.ts";
import { abort, launch } from "./attempts.ts";
import { dropSuperseded } from "./images.ts";
import { complete, signal } from "./journal.ts";
import { isExclusive, leave } from "./key-queue.ts";
import { setStatus } from "./status.ts";
import { trimStreams } from "./streams.ts";
import { CANCEL_SIGNAL, VOID } from "@perdure/protocol";

/** The code let its own cancel end it. */
export function isCancelled(result: Result): boolean {
  return result.kind === "failure" && result.failure.errorCode === CancelledError.code;
}

function statusOf(result: Result): RunStatus {
  if (result.kind !== "failure") return "succeeded";
  if (isCancelled(result)) return "cancelled";
  return result.failure.errorCode === KilledError.code ? "killed" : "failed";
}

export function finish(batch: Batch, run: HotRun, result: Result): void {
  abort(batch, run, "the run has ended");
  setStatus(batch, run, statusOf(result));
  const record = batch.change(run);
  // Held ends of children go into the journal all the same: a restart must find them.
  for (const held of record.cancelling?.held ?? []) complete(batch, run, held.command, held.result);
  record.result = result;
  record.retry = null;
  record.cancelling = null;
  if (record.trims !== null) trimStreams(batch, run);
  if (run.images !== null) dropSuperseded(batch, run); // Not known where it never began.
  if (isExclusive(run)) leave(batch, run);
  // Watchers first: the parent may be among them by a second, idempotent call, and its cancel may be due after this.
  if (record.watched) tellWatchers(batch, run, result);
  if (record.parent !== null && record.parent.awaited) tellParent(batch, run, record.parent, result);
  batch.actions.push({ type: "finished", run: record.id, result });
}

function tellParent(
  batch: Batch,
  child: HotRun,
  call: { readonly run: HotRun["record"]["id"]; readonly command: number },
  result: Result,
): void {
  const parent = batch.view.run(call.run);
  if (parent === undefined) return; // Nobody is left who waits for it.
  if (parent.record.seq > child.record.seq) return; // The parent was deleted, and its id is borne by a younger run.
  if (parent.commands < call.command) return; // The parent was restarted from before the call.
  const { cancelling } = parent.record;
  if (cancelling === null || !cancelling.waitingFor.includes(child.record.id)) {
    complete(batch, parent, call.command, result);
    return;
  }
  const waitingFor = cancelling.waitingFor.filter((id) => id !== child.record.id);
  const held = [...cancelling.held, { command: call.command, result }];
  batch.change(parent).cancelling = { waitingFor, held };
  if (waitingFor.length === 0) deliverCancel(batch, parent);
}

/** E7: the children are done. The code first learns of its own cancel, then of their results. */
export function deliverCancel(batch: Batch, run: HotRun): void {
  const held = run.record.cancelling?.held ?? [];
  batch.change(run).cancelling = null;
  signal(batch, run, CANCEL_SIGNAL, VOID);
  for (const { command, result } of held) complete(batch, run, command, result);
  // A cancel wakes every run, whatever it awaits: its code must get the chance to compensate.
  const { status } = run.record;
  if (run.attempt !== null || status === "running") return;
  setStatus(batch, run, "running");
  batch.change(run).retry = null;
  launch(batch, run);
}

function tellWatchers(batch: Batch, run: HotRun, result: Result): void {
  const target = { kind: "run", run: run.record.id } as const;
  const waiters = batch.view.waitersOf(target);
  if (waiters.length === 0) return;
  completeWaiters(batch, waiters.splice(0), result, run.record.id);
  batch.mutations.push({ type: "removeWaiters", target });
}

/** Waits that a restart in this very batch has cut off are passed over. `ended`: the run whose end this is. */
export function completeWaiters(batch: Batch, waiters: readonly Waiter[], result: Result, ended?: RunId): void {
  for (const { run, command } of waiters) {
    const waiting = batch.view.run(run);
    if (waiting === undefined || command > waiting.commands) continue;
    const { cancelling } = waiting.record;
    // E7: whatever way a child's end takes, the code learns of its own cancel first.
    if (cancelling !== null && ended !== undefined && cancelling.waitingFor.includes(ended))
      batch.change(waiting).cancelling = { ...cancelling, held: [...cancelling.held, { command, result }] };
    else complete(batch, waiting, command, result);
  }
}
