// What an attempt says besides commands: step results, failed tries, and its own end.

import {
  assert,
  failureResult,
  isFinished,
  RetriesExhaustedError,
  unreachable,
  type Failure,
  type Instant,
  type Kept,
  type Result,
} from "@perdure/protocol";
import type { Batch } from "../batch.ts";
import type { AttemptEvent, Event } from "../events.ts";
import { launch, liveAttempt, release } from "../moves/attempts.ts";
import { backoffMs } from "../moves/backoff.ts";
import { finish, isCancelled } from "../moves/finish.ts";
import { appendCommand, complete, give, writeHeld } from "../moves/journal.ts";
import { queueUnknown } from "../moves/key-queue.ts";
import { cancelTree, openChildren } from "./cancel.ts";
import { setStatus } from "../moves/status.ts";
import { keep } from "../moves/streams.ts";
import { commandText, type HotRun, type LiveAttempt, streamsOf } from "../view.ts";

type Of<T extends AttemptEvent["type"]> = Extract<AttemptEvent, { type: T }>;

/** A step has its result. Where nothing was written since it began, command and result are one row. */
export function propose(batch: Batch, event: Of<"propose">): void {
  const run = batch.view.run(event.run);
  const attempt = liveAttempt(run, event.attempt);
  if (run === undefined || attempt === null) return; // E4: stale.
  const { id, result } = event;
  if (id === attempt.safePoint && run.record.migrating !== null)
    batch.actions.push({ type: "mayMigrate", run: run.record.id });
  const first = attempt.held[0];
  if (first?.id === id) {
    attempt.held.shift();
    give(batch, run, appendCommand(batch, run, id, first.command, outcome(batch, run, attempt, id, result)));
    return;
  }
  const step = attempt.held.find((held) => held.id === id);
  if (step !== undefined) {
    writeHeld(batch, run, attempt, id - 1);
    attempt.held.shift();
    give(batch, run, appendCommand(batch, run, id, step.command, outcome(batch, run, attempt, id, result)));
  } else if (attempt.open.delete(id) || isOpenInImage(batch, run, attempt, id)) {
    const { kept } = outcome(batch, run, attempt, id, result);
    complete(batch, run, id, result, kept);
  }
  // Otherwise the step is complete already: the first result is the only one (E2).
}

/** A step that was begun before the image that the attempt started from: the journal says whether it has a result (E2). */
function isOpenInImage(batch: Batch, run: HotRun, attempt: LiveAttempt, id: number): boolean {
  if (id > attempt.imaged) return false;
  const known = batch.view.commands.get(commandText(run.record.seq, id));
  const command = known?.entry?.command;
  if (known === undefined || known.complete || command?.type !== "step") return false;
  if (command.into !== undefined) streamsOf(attempt).into.set(id, command.into);
  return true;
}

/** The result of a step as its entry has it: what goes into a stream is appended there. */
function outcome(
  batch: Batch,
  run: HotRun,
  { streams }: LiveAttempt,
  id: number,
  result: Result,
): { result: Result; kept?: Kept } {
  const into = streams?.into.get(id);
  if (into === undefined) return { result };
  streams?.into.delete(id);
  return result.kind === "value" ? { result, kept: keep(batch, run, into, result.value) } : { result };
}

/** A try of a step failed; its count and next time are journaled, so that they survive the attempt. */
export function retrying(batch: Batch, event: Of<"retrying">): void {
  const run = batch.view.run(event.run);
  const attempt = liveAttempt(run, event.attempt);
  if (run === undefined || attempt === null) return; // E4: stale.
  const { id, tries, failure, retryAt } = event;
  if (attempt.held.length > 0) writeHeld(batch, run, attempt, id);
  const entry = { kind: "retry", index: run.entries + 1, at: batch.now, id, tries, failure, retryAt } as const;
  batch.append(run, entry);
  attempt.told = entry.index;
  // Told like any other entry (C2): before an at-most-once effect is tried again, its new intent has to be durable. But
  // it is no news to the attempt, so a suspend that crosses it has missed nothing.
  batch.actions.push({ type: "notify", run: run.record.id, attempt: attempt.token, entry });
}

export function end(batch: Batch, event: Of<"end">): void {
  const run = batch.view.run(event.run);
  if (run === undefined || liveAttempt(run, event.attempt) === null) return; // E4: stale.
  if (deferred(batch, run, event)) return;
  flushHeld(batch, run);
  release(batch, run);
  // Calls that the code made before it learned of its cancel, and that were written after it: nobody awaits them any more.
  if (isCancelled(event.result)) for (const child of openChildren(batch, run)) cancelTree(batch, child);
  finish(batch, run, event.result);
}

export function suspend(batch: Batch, event: Of<"suspend">): void {
  const run = batch.view.run(event.run);
  const attempt = liveAttempt(run, event.attempt);
  if (run === undefined || attempt === null) return; // E4: stale.
  flushHeld(batch, run);
  const missed = attempt.given > event.entriesSeen;
  release(batch, run);
  if (missed) {
    launch(batch, run); // E5: something arrived while the attempt was suspending.
    return;
  }
  setStatus(batch, run, "suspended");
  const record = batch.change(run);
  if (record.migrating !== null) batch.actions.push({ type: "mayMigrate", run: record.id });
  record.awaiting = event.awaiting;
  let soonest: Instant | null = null;
  for (const item of event.awaiting)
    if (item.kind === "time" && (soonest === null || item.at < soonest)) soonest = item.at;
  if (soonest !== null) arm(batch, run, "wake", soonest);
}

export function attemptError(batch: Batch, event: Of<"error">): void {
  const run = batch.view.run(event.run);
  if (run === undefined || liveAttempt(run, event.attempt) === null) return; // E4: stale.
  if (event.failure.behavior !== "pause" && deferred(batch, run, event)) return; // A paused run keeps its turn.
  flushHeld(batch, run);
  release(batch, run);
  const { behavior, failure } = event.failure;
  switch (behavior) {
    case "fail":
      finish(batch, run, failureResult(failure));
      return;
    case "pause":
      noteRetry(batch, run, event.failure.command ?? 0, (run.record.retry?.tries ?? 0) + 1, failure, null);
      pauseFor(batch, run, failure);
      return;
    case "retry":
      retryLater(batch, run, failure, event.failure.delayMs ?? null);
      return;
    default:
      unreachable(behavior);
  }
}

export function retryLater(batch: Batch, run: HotRun, failure: Failure, delayMs: number | null): void {
  const { service, handler, key } = run.record;
  const policy = batch.environment.retryPolicy(key === null ? { service, handler } : { service, handler, key });
  // Progress since the last failure starts the count anew: only a run that is stuck uses up its policy.
  const tries = (run.record.retry?.tries ?? 0) + 1;
  if (tries >= policy.maxAttempts) {
    noteRetry(batch, run, 0, tries, failure, null);
    if (policy.onExhausted === "throw") finish(batch, run, failureResult(failure));
    else {
      const message = `handler ${service}/${handler} failed ${tries} times; last: ${failure.message}`;
      pauseFor(batch, run, { ...failure, message, errorCode: RetriesExhaustedError.code });
    }
    return;
  }
  const retryAt = batch.now + (delayMs ?? backoffMs(policy, tries, run.record.seq));
  noteRetry(batch, run, 0, tries, failure, retryAt);
  setStatus(batch, run, "retrying");
  batch.change(run).retry = { tries, failure, at: retryAt };
  arm(batch, run, "retry", retryAt);
}

function noteRetry(
  batch: Batch,
  run: HotRun,
  id: number,
  tries: number,
  failure: Failure,
  retryAt: Instant | null,
): void {
  const entry = { kind: "retry", index: run.entries + 1, at: batch.now, id, tries, failure } as const;
  batch.append(run, retryAt === null ? entry : { ...entry, retryAt });
}

function pauseFor(batch: Batch, run: HotRun, failure: Failure): void {
  setStatus(batch, run, "paused");
  batch.change(run).pausedBy = failure;
}

function arm(batch: Batch, run: HotRun, kind: "wake" | "retry", at: Instant): void {
  batch.mutations.push({ type: "addTimer", timer: { at, run: run.record.seq, kind, id: 0 } });
  batch.actions.push({ type: "arm", at });
}

/** Steps without a result are written when the attempt ends, so that a later one finds the commands in order (J1). */
function flushHeld(batch: Batch, run: HotRun): void {
  assert(run.attempt !== null, "a live attempt ends");
  if (run.attempt.held.length > 0) writeHeld(batch, run, run.attempt, Number.POSITIVE_INFINITY);
}

function deferred(batch: Batch, run: HotRun, event: Event): boolean {
  if (isFinished(run.record.status) || !queueUnknown(batch, run)) return false;
  batch.deferred.push(event);
  return true;
}
