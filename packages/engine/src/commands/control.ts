// What a person does to a run: pause, resume, restart from an entry, settle an unknown effect, purge.

import { isFinished, type Entry, type NotificationEntry } from "@perdure/protocol";
import type { Batch } from "../batch.ts";
import type { RunEvent, SettleEffect } from "../events.ts";
import { abort, launch, wake } from "../moves/attempts.ts";
import { shortened } from "../moves/copy-run.ts";
import { dropAllImages, forgetImagesFrom } from "../moves/images.ts";
import { complete, recordCompletion, writeHeld } from "../moves/journal.ts";
import { arrive, isExclusive } from "../moves/key-queue.ts";
import { codeAsOf } from "../moves/safe-point.ts";
import { revive, setStatus } from "../moves/status.ts";
import { keep } from "../moves/streams.ts";
import { commandText, completes, type HotRun } from "../view.ts";
import { cancelTree } from "./cancel.ts";

type Of<T extends RunEvent["type"]> = Extract<RunEvent, { type: T }>;

function find(batch: Batch, event: RunEvent): HotRun | undefined {
  const run = batch.view.run(event.run);
  if (run === undefined)
    batch.refuse(event.ticket, "not_found", `there is no run ${event.run}: it never was, or its retention is over`);
  return run;
}

export function pause(batch: Batch, event: Of<"pause">): void {
  const run = find(batch, event);
  if (run === undefined) return;
  const { status } = run.record;
  if (status !== "running" && status !== "suspended" && status !== "retrying") {
    if (status === "paused") batch.reply(event.ticket, { type: "done", status });
    else
      batch.refuse(
        event.ticket,
        "conflict",
        `the run is ${status}: only running, suspended and retrying runs can be paused`,
      );
    return;
  }
  if (run.attempt !== null) writeHeld(batch, run, run.attempt, Number.POSITIVE_INFINITY);
  abort(batch, run, "paused");
  setStatus(batch, run, "paused");
  batch.change(run).pausedBy = { code: 409, message: "paused by request" };
  batch.reply(event.ticket, { type: "done", status: "paused" });
}

export function resume(batch: Batch, event: Of<"resume">): void {
  const run = find(batch, event);
  if (run === undefined) return;
  const { status } = run.record;
  const waitsForRetry = status === "suspended" && (run.record.awaiting ?? []).some((item) => item.kind === "time");
  if (status === "paused" || waitsForRetry) {
    goOn(batch, run); // A step that waits for its next try is tried now, with fresh counters.
  } else if (status === "retrying" || status === "suspended") {
    wake(batch, run); // Do not wait any longer: a retry is made now, a suspended run looks again.
  } else if (status !== "running") {
    batch.refuse(
      event.ticket,
      "conflict",
      `the run is ${status}: only paused, retrying and suspended runs can be resumed`,
    );
    return;
  }
  batch.reply(event.ticket, { type: "done", status: run.record.status });
}

/** The paused run goes on with fresh retry counters. */
function goOn(batch: Batch, run: HotRun, forget?: number): void {
  batch.change(run).retry = null;
  const entry = { kind: "resumed", index: run.entries + 1, at: batch.now } as const;
  batch.append(run, forget === undefined ? entry : { ...entry, forget });
  wake(batch, run);
}

export function settleEffect(batch: Batch, event: SettleEffect): void {
  const run = find(batch, event);
  if (run === undefined) return;
  const known = batch.view.commands.get(commandText(run.record.seq, event.command));
  if (known?.entry?.command.type !== "step" || known.complete || event.command > run.commands) {
    const why =
      known?.entry == null
        ? "no such command"
        : known.complete
          ? "it is complete"
          : `it is a ${known.entry.command.type}`;
    batch.refuse(event.ticket, "conflict", `command ${event.command} is not a step with an unknown outcome: ${why}`);
    return;
  }
  if (run.record.status !== "paused") {
    batch.refuse(
      event.ticket,
      "conflict",
      `the run is ${run.record.status}: an outcome is settled while the run is paused`,
    );
    return;
  }
  if (event.result === undefined) goOn(batch, run, event.command);
  else {
    const { into } = known.entry.command;
    const isKept = into !== undefined && event.result.kind === "value";
    complete(batch, run, event.command, event.result, isKept ? keep(batch, run, into, event.result.value) : undefined);
    goOn(batch, run);
  }
  batch.reply(event.ticket, { type: "done", status: run.record.status });
}

/**
 * The journal is cut before entry `from`, and the run goes on from there, in place and under its id. Results that belong
 * to commands before the cut are kept, wherever they stand, and so are signals: neither is asked for again. Calls after the
 * cut are let go and cancelled, since the code will make them anew.
 */
export function restart(batch: Batch, event: Of<"restart">): void {
  const run = find(batch, event);
  if (run === undefined) return;
  const { status } = run.record;
  if (status === "scheduled" || status === "queued") {
    batch.refuse(event.ticket, "conflict", `the run is ${status}: it has not begun, there is nothing to restart`);
    return;
  }
  if (event.from < 1 || event.from > run.entries + 1) {
    batch.refuse(
      event.ticket,
      "conflict",
      `the journal has entries 1 to ${run.entries}; entry ${event.from} is not among them`,
    );
    return;
  }
  const tail = tailFrom(batch, run, event.from);
  if (tail === null) {
    batch.deferred.push(event);
    return;
  }
  restartFrom(batch, run, event.from, tail, "state left");
  batch.reply(event.ticket, { type: "done", status: run.record.status });
}

/** `state`: what became of the key's, where it has been written after the cut. */
export function restartFrom(
  batch: Batch,
  run: HotRun,
  from: number,
  tail: readonly Entry[],
  state: "state left" | "state restored",
): void {
  const { status } = run.record;
  abort(batch, run, "restarted");
  cut(batch, run, from, tail);
  if (isExclusive(run) && (isFinished(status) || (state === "state left" && tail.some(isStateWrite))))
    dropAllImages(batch, run); // They have the state as it was; code that starts from the journal reads what it is.
  const record = batch.change(run);
  record.generation += 1;
  record.retry = null;
  record.cancelling = null;
  // Whoever awaited a run that had ended has its result already: it is not told twice (J2).
  if (isFinished(status) && record.parent !== null) record.parent = { ...record.parent, awaited: false };
  if (!isFinished(status)) {
    if (status !== "running") setStatus(batch, run, "running");
    launch(batch, run);
  } else if (isExclusive(run)) {
    revive(batch, run, "queued");
    if (arrive(batch, run) === "turn") {
      setStatus(batch, run, "running");
      launch(batch, run);
    }
  } else {
    revive(batch, run, "running");
    launch(batch, run);
  }
}

function isStateWrite(entry: Entry): boolean {
  if (entry.kind !== "command") return false;
  const { type } = entry.command;
  return type === "setState" || type === "clearState" || type === "clearAllState";
}

/** The entries from `from` on; null where the journal has grown in this batch since they were loaded. */
function tailFrom(batch: Batch, run: HotRun, from: number): readonly Entry[] | null {
  const loaded = batch.view.tails.get(run.record.seq);
  batch.view.tails.delete(run.record.seq); // Used once: after the cut it is out of date.
  const tail = loaded?.filter((entry) => entry.index >= from); // Another restart in the batch may go further back.
  return tail?.length === run.entries - from + 1 ? tail : null;
}

function cut(batch: Batch, run: HotRun, from: number, tail: readonly Entry[]): void {
  const dropped = tail.filter((entry) => entry.kind === "command").length;
  const commands = run.commands - dropped;
  const { seq, id } = run.record;
  batch.mutations.push({ type: "truncate", run: seq, id, from, commands });
  if (run.record.migrated !== null) Object.assign(batch.change(run), codeAsOf(run.record, tail, from - 1));
  forgetImagesFrom(run, from);
  run.entries = from - 1;
  const { forkedFrom } = run.record;
  if (forkedFrom !== null && forkedFrom.entry >= from) batch.change(run).forkedFrom = shortened(forkedFrom, from - 1);
  run.commands = commands;
  for (const entry of tail) {
    if (entry.kind === "command" || entry.kind === "retry" || entry.kind === "resumed") continue;
    const kept: NotificationEntry = { ...entry, index: run.entries + 1 };
    const of = completes(entry);
    if (of === undefined ? entry.kind === "signal" && entry.signal !== 1 : of <= commands) batch.append(run, kept);
  }
  for (const { command, result } of run.record.cancelling?.held ?? [])
    if (command <= commands) recordCompletion(batch, run, command, result);
  const { trims } = run.record;
  if (trims !== null) batch.change(run).trims = trims.filter(({ command }) => command <= commands);
  letGo(batch, run);
}

/** Children of calls that were cut off: nobody awaits them any more. */
function letGo(batch: Batch, run: HotRun): void {
  const children = batch.view.childrenOf(run.record.id);
  for (const childId of children.splice(0)) {
    const child = batch.view.run(childId);
    const parent = child?.record.parent ?? null;
    if (child === undefined || parent === null) continue;
    if (parent.command <= run.commands) {
      children.push(childId);
      continue;
    }
    batch.change(child).parent = { ...parent, awaited: false };
    cancelTree(batch, child);
  }
}

export function purge(batch: Batch, event: Of<"purge">): void {
  const run = find(batch, event);
  if (run === undefined) return;
  if (!isFinished(run.record.status)) {
    batch.refuse(
      event.ticket,
      "conflict",
      `the run is ${run.record.status}: only finished runs can be purged; cancel or kill it first`,
    );
    return;
  }
  remove(batch, run);
  batch.reply(event.ticket, { type: "done", status: null });
}

/** Deletes a finished run with all that belongs to it. */
export function remove(batch: Batch, run: HotRun): void {
  const { seq, id, mode, service, key } = run.record;
  batch.mutations.push({ type: "deleteRun", run: seq, id });
  // What a workflow was before it was rewound has its key, but not its promises.
  if (mode === "workflow" && key !== null && batch.environment.workflowId(service, key) === id)
    batch.mutations.push({ type: "clearPromises", key: { service, key } });
  run.deleted = true;
}
