// The code of a run asked for something. C3: ids have no gaps. The entry is written in the same commit as what the command
// sets in motion (a child run, a timer, a signal to another run), so neither is there without the other.

import {
  assert,
  CANCEL_SIGNAL,
  ConflictError,
  NotReadyError,
  RunNotFoundError,
  UnknownTargetError,
  VOID,
  failureResult,
  isFinished,
  parseAwakeableId,
  unreachable,
  valueResult,
  type CallCommand,
  type Command,
  type Result,
  type RunId,
  type RunRef,
  type SendCommand,
  type SignalName,
} from "@perdure/protocol";
import type { Batch } from "../batch.ts";
import { derivedId, incarnation } from "../environment.ts";
import type { AttemptEvent } from "../events.ts";
import { liveAttempt } from "../moves/attempts.ts";
import { queueBehind } from "../moves/arrival.ts";
import { completeWaiters } from "../moves/finish.ts";
import { appendCommand, complete, give, signal as sendSignal, writeHeld } from "../moves/journal.ts";
import { streamOf } from "../moves/streams.ts";
import { keyText, promiseText, streamsOf, type HotRun, type LiveAttempt } from "../view.ts";
import { cancelTree } from "./cancel.ts";
import { streamCommand } from "./streams.ts";
import { createRun } from "./submit.ts";

type CommandEvent = Extract<AttemptEvent, { type: "command" }>;

export function attemptCommand(batch: Batch, event: CommandEvent): void {
  const run = batch.view.run(event.run);
  const attempt = liveAttempt(run, event.attempt);
  if (run === undefined || attempt === null) return; // E4: stale.
  assert(event.id === attempt.commands + 1, `C3: command ${event.id} after ${attempt.commands}`);
  attempt.commands = event.id;
  if (run.record.retry !== null) batch.change(run).retry = null; // Progress: a policy counts failures in a row.
  const { command } = event;
  if (command.type === "step" && command.safePoint !== undefined) attempt.safePoint = event.id;
  if (command.type === "step" && command.into !== undefined) {
    streamOf(batch, run, command.into); // Hot from now on: its result finds the end of it known.
    streamsOf(attempt).into.set(event.id, command.into);
  }
  if (command.type === "step" && command.atMostOnce !== true) {
    attempt.held.push({ id: event.id, command });
    return;
  }
  if (attempt.held.length > 0) writeHeld(batch, run, attempt, event.id);
  write(batch, run, attempt, event);
}

function write(batch: Batch, run: HotRun, attempt: LiveAttempt, event: CommandEvent): void {
  const { id, command, result: given } = event;
  switch (command.type) {
    case "step":
      attempt.open.add(id);
      give(batch, run, appendCommand(batch, run, id, command)); // At most once: the closure waits for this.
      return;
    case "sleep":
      appendCommand(batch, run, id, command);
      batch.mutations.push({ type: "addTimer", timer: { at: command.wakeAt, run: run.record.seq, kind: "sleep", id } });
      batch.actions.push({ type: "arm", at: command.wakeAt });
      return;
    case "call":
    case "send":
      startChild(batch, run, id, command);
      return;
    case "getQueue":
      give(batch, run, appendCommand(batch, run, id, command, { result: queueBehind(batch, run) }));
      return;
    case "getState":
    case "getStateKeys":
      if (given !== undefined) appendCommand(batch, run, id, command, { result: given });
      else give(batch, run, appendCommand(batch, run, id, command, { result: readState(batch, run, command) }));
      return;
    case "setState":
    case "clearState":
    case "clearAllState":
      appendCommand(batch, run, id, command);
      writeState(batch, run, command);
      return;
    case "getPromise":
    case "peekPromise":
    case "completePromise":
      promiseCommand(batch, run, id, command);
      return;
    case "sendSignal":
      appendCommand(batch, run, id, command);
      signalRun(batch, command.run, command.signal, command.payload);
      return;
    case "completeAwakeable": {
      appendCommand(batch, run, id, command);
      const ref = parseAwakeableId(command.awakeable);
      if (ref !== undefined) signalRun(batch, ref.run, ref.signal, command.completion);
      return;
    }
    case "attach":
    case "output":
      attachCommand(batch, run, id, command);
      return;
    case "append":
    case "readStream":
    case "streamLength":
    case "trimStream":
      streamCommand(batch, run, id, command, event.items);
      return;
    default:
      unreachable(command);
  }
}

function startChild(batch: Batch, run: HotRun, id: number, command: CallCommand | SendCommand): void {
  const { target } = command;
  const awaited = command.type === "call";
  const mode = batch.environment.mode(target);
  if (mode === null) {
    const failure = batch.environment.unknownTarget(target);
    assert(failure.errorCode === UnknownTargetError.code, "an unknown target has its own code");
    give(batch, run, appendCommand(batch, run, id, command, { result: failureResult(failure) }));
    return;
  }
  const child = childIdOf(batch, run, id, command);
  const existing = batch.view.run(child);
  const entry = appendCommand(batch, run, id, command, { child });
  give(batch, run, entry);
  if (existing !== undefined) {
    if (awaited) waitFor(batch, run, id, existing); // E9: an idempotent call attaches to the run that is there.
    return;
  }
  const created = createRun(batch, {
    id: child,
    target,
    mode,
    input: command.input,
    headers: command.headers ?? null,
    idempotencyKey: command.idempotencyKey ?? null,
    startAt: command.type === "send" ? (command.invokeAt ?? null) : null,
    parent: { run: run.record.id, command: id, awaited },
  });
  if (!awaited) return;
  batch.view.childrenOf(run.record.id).push(child);
  const { cancelling } = run.record;
  if (cancelling !== null) {
    // The run is being cancelled and its code does not know yet: what it starts now is cancelled with the rest (E7).
    batch.change(run).cancelling = { ...cancelling, waitingFor: [...cancelling.waitingFor, child] };
    cancelTree(batch, created);
  }
}

/** The id of the run that a call or send starts, also where it is not journaled yet. */
function childIdOf(
  batch: Pick<Batch, "environment">,
  run: HotRun,
  id: number,
  command: CallCommand | SendCommand,
): RunId {
  const mode = batch.environment.mode(command.target);
  const derived =
    mode === null ? null : derivedId(batch.environment, command.target, command.idempotencyKey ?? null, mode);
  return derived ?? batch.environment.childId(run.record.id, incarnation(run.record), id, command.target);
}

/** Completes command `id` of `run` when `target` ends, which may already be so. */
export function waitFor(batch: Batch, run: HotRun, id: number, target: HotRun): void {
  if (isFinished(target.record.status)) {
    assert(target.record.result !== null, "a finished run has a result");
    complete(batch, run, id, target.record.result);
    return;
  }
  if (!target.record.watched) batch.change(target).watched = true;
  const waiter = { target: { kind: "run", run: target.record.id }, run: run.record.id, command: id } as const;
  batch.view.waitersOf(waiter.target).push(waiter);
  batch.mutations.push({ type: "addWaiter", waiter });
}

/** A signal to any run; to a finished or unknown one it is lost, as nobody can receive it any more. */
export function signalRun(
  batch: Batch,
  id: RunId,
  name: SignalName,
  payload: Result,
): "delivered" | "finished" | "unknown" {
  const run = batch.view.run(id);
  if (run === undefined) return "unknown";
  if (isFinished(run.record.status)) return "finished";
  if (name === CANCEL_SIGNAL) cancelTree(batch, run);
  else sendSignal(batch, run, name, payload);
  return "delivered";
}

function readState(
  batch: Batch,
  run: HotRun,
  command: Extract<Command, { type: "getState" | "getStateKeys" }>,
): Result {
  const { service, key } = run.record;
  const state = key === null ? undefined : batch.view.states.get(keyText(service, key));
  if (command.type === "getState") return valueResult(state?.get(command.key));
  return valueResult(JSON.stringify([...(state?.keys() ?? [])].sort()));
}

function writeState(
  batch: Batch,
  run: HotRun,
  command: Extract<Command, { type: "setState" | "clearState" | "clearAllState" }>,
): void {
  const { service, key } = run.record;
  assert(key !== null, "only keyed runs have state");
  const name = { service, key };
  if (command.type === "setState")
    batch.mutations.push({ type: "setState", key: name, name: command.key, value: command.value });
  else if (command.type === "clearState") batch.mutations.push({ type: "clearState", key: name, name: command.key });
  else batch.mutations.push({ type: "clearAllState", key: name });
  const state = batch.view.states.get(keyText(service, key));
  if (state === undefined) return;
  if (command.type === "setState") state.set(command.key, command.value);
  else if (command.type === "clearState") state.delete(command.key);
  else state.clear();
}

function promiseCommand(
  batch: Batch,
  run: HotRun,
  id: number,
  command: Extract<Command, { type: "getPromise" | "peekPromise" | "completePromise" }>,
): void {
  const { service, key } = run.record;
  assert(key !== null, "only workflows have promises");
  const name = { service, key };
  const text = promiseText(name, command.key);
  const known = batch.view.promises.get(text) ?? null;
  const target = { kind: "promise", service, key, name: command.key } as const;
  if (command.type === "peekPromise") {
    give(batch, run, appendCommand(batch, run, id, command, { result: known ?? VOID }));
  } else if (command.type === "getPromise") {
    if (known !== null) {
      give(batch, run, appendCommand(batch, run, id, command, { result: known }));
      return;
    }
    appendCommand(batch, run, id, command);
    const waiter = { target, run: run.record.id, command: id };
    batch.view.waitersOf(target).push(waiter);
    batch.mutations.push({ type: "addWaiter", waiter });
  } else if (known !== null) {
    const failure = new ConflictError(`promise "${command.key}" was already completed`).toFailure();
    give(batch, run, appendCommand(batch, run, id, command, { result: failureResult(failure) }));
  } else {
    give(batch, run, appendCommand(batch, run, id, command, { result: VOID }));
    batch.view.promises.set(text, command.completion);
    batch.mutations.push({ type: "setPromise", key: name, name: command.key, result: command.completion });
    const waiters = batch.view.waitersOf(target).splice(0);
    if (waiters.length > 0) batch.mutations.push({ type: "removeWaiters", target });
    completeWaiters(batch, waiters, command.completion);
  }
}

function attachCommand(
  batch: Batch,
  run: HotRun,
  id: number,
  command: Extract<Command, { type: "attach" | "output" }>,
): void {
  const ref = resolveRef(batch, command.ref);
  const target = batch.view.run(ref);
  if (target === undefined) {
    const failure = new RunNotFoundError(`there is no run ${ref}: it never was, or its retention is over`).toFailure();
    give(batch, run, appendCommand(batch, run, id, command, { result: failureResult(failure) }));
    return;
  }
  if (command.type === "output") {
    // Not void: that is what a run gives that has ended and returned nothing.
    const pending = failureResult(new NotReadyError(`run ${ref} has not ended`).toFailure());
    give(batch, run, appendCommand(batch, run, id, command, { result: target.record.result ?? pending }));
    return;
  }
  appendCommand(batch, run, id, command);
  waitFor(batch, run, id, target);
}

export function resolveRef(batch: Pick<Batch, "environment">, ref: RunRef): RunId {
  if ("run" in ref) return ref.run;
  if ("workflow" in ref) return batch.environment.workflowId(ref.workflow, ref.key);
  return batch.environment.idempotentId(ref.target, ref.idempotencyKey);
}
