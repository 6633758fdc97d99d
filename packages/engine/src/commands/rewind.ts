// rewind: a run goes back to what it was after an entry, in place and under its id. What it is now is kept, as a run of its own
// that has ended: a branch that can be looked at, and forked from.

import { CancelledError, type Entry, failureResult, isFinished } from "@perdure/protocol";
import type { Batch } from "../batch.ts";
import type { Rewind } from "../events.ts";
import { stateAsOf } from "../moves/as-of.ts";
import { copyEntries, copyImages, copyRecord, copyStreams, wholeJournal } from "../moves/copy-run.ts";
import { isExclusive } from "../moves/key-queue.ts";
import { type HotRun, keyText } from "../view.ts";
import { restartFrom } from "./control.ts";
import { takeUp } from "./take-up.ts";

export function rewind(batch: Batch, event: Rewind): void {
  const run = batch.view.run(event.run);
  if (run === undefined) {
    batch.refuse(event.ticket, "not_found", `there is no run ${event.run}: it never was, or its retention is over`);
    return;
  }
  const refusal = refusalOf(batch, run, event);
  if (refusal !== null) {
    batch.refuse(event.ticket, "conflict", refusal);
    return;
  }
  const journal = wholeJournal(batch, run);
  if (journal === null) {
    batch.deferred.push(event);
    return;
  }
  keepBranch(batch, run, event, journal);
  // An exclusive run that has not ended still has the turn of its key: nobody else has written there since.
  const isHolder = isExclusive(run) && !isFinished(run.record.status);
  const state = isHolder && restoreState(batch, run, journal, event.at) ? "state restored" : "state left";
  batch.view.tails.delete(run.record.seq); // After the cut they are out of date.
  restartFrom(batch, run, event.at + 1, journal.slice(event.at), state);
  batch.reply(event.ticket, { type: "done", status: run.record.status });
}

function refusalOf(batch: Batch, run: HotRun, { at, branch }: Rewind): string | null {
  const { status } = run.record;
  if (status === "scheduled" || status === "queued")
    return `the run is ${status}: it has not begun, there is nothing to go back to`;
  if (at < 0 || at > run.entries)
    return `the journal has entries 1 to ${run.entries}; entry ${at} is not among them. Rewind to one of them, or to 0 to begin anew`;
  return batch.view.run(branch) === undefined
    ? null
    : `there is a run ${branch} already, so no branch can have that id`;
}

/** What the run is now: one that had not ended is cancelled, for a reason that says where it went on. */
function keepBranch(batch: Batch, run: HotRun, event: Rewind, journal: readonly Entry[]): void {
  const { status, result, finishedAt, changedAt } = run.record;
  const record = copyRecord(batch, run, journal, {
    id: event.branch,
    key: run.record.key,
    at: run.entries,
  });
  if (isFinished(status)) Object.assign(record, { status, result, finishedAt, changedAt });
  else {
    const failure = new CancelledError(
      `run ${event.run} was rewound to entry ${event.at} and goes on from there; this is what it was before`,
    ).toFailure();
    Object.assign(record, { status: "cancelled", result: failureResult(failure), finishedAt: batch.now });
  }
  const branch = batch.view.addFresh(record);
  batch.insert(branch);
  if (record.key === null) copyStreams(batch, run, branch, journal, run.entries); // Those of a key stay the key's.
  copyEntries(batch, branch, journal);
  copyImages(batch, run, branch, "with names");
  takeUp(batch, branch, journal, []); // It may be restarted, as any run that has ended.
}

/** False: not all of it is known. */
function restoreState(batch: Batch, run: HotRun, journal: readonly Entry[], at: number): boolean {
  const { service, key: name } = run.record;
  const key = { service, key: name ?? "" };
  const text = keyText(service, key.key);
  const present = batch.view.states.get(text) ?? new Map();
  const { state, certain } = stateAsOf(journal, at, present);
  for (const [other] of present) if (!state.has(other)) batch.mutations.push({ type: "clearState", key, name: other });
  for (const [set, value] of state)
    if (present.get(set) !== value) batch.mutations.push({ type: "setState", key, name: set, value });
  batch.view.states.set(text, new Map(state));
  return certain;
}
