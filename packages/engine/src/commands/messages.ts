// What reaches a run from outside: signals, and callers who wait for its end.

import { assert, isFinished, type Payload } from "@perdure/protocol";
import type { Batch } from "../batch.ts";
import type { EditState, RunEvent } from "../events.ts";
import { dropAllImages } from "../moves/images.ts";
import { keyText } from "../view.ts";
import { signalRun } from "./attempt-command.ts";

export function signalEvent(batch: Batch, event: Extract<RunEvent, { type: "signal" }>): void {
  const outcome = signalRun(batch, event.run, event.signal, event.payload);
  const run = batch.view.run(event.run);
  if (outcome === "delivered") batch.reply(event.ticket, { type: "done", status: run?.record.status ?? null });
  else if (outcome === "finished")
    batch.refuse(
      event.ticket,
      "conflict",
      `the run has ended (${run?.record.status}): nobody is left to receive the signal`,
    );
  else batch.refuse(event.ticket, "not_found", `there is no run ${event.run}: it never was, or its retention is over`);
}

export function attach(batch: Batch, event: Extract<RunEvent, { type: "attach" }>): void {
  const run = batch.view.run(event.run);
  if (run === undefined)
    batch.refuse(event.ticket, "not_found", `there is no run ${event.run}: it never was, or its retention is over`);
  else if (isFinished(run.record.status)) {
    assert(run.record.result !== null, "a finished run has a result");
    batch.reply(event.ticket, { type: "finished", run: event.run, existing: true, result: run.record.result });
  } else batch.actions.push({ type: "watch", ticket: event.ticket, run: event.run, existing: true });
}

/** A person edits the state of a key. An exclusive run that has the turn holds its own copy: only `force` goes over it. */
export function editState(batch: Batch, event: EditState): void {
  const { service, key } = event.key;
  const hot = batch.view.keys.get(keyText(service, key));
  assert(hot !== undefined, "the key was loaded");
  if (hot.holder !== null && !event.force) {
    batch.refuse(
      event.ticket,
      "conflict",
      `run ${hot.holder} has the turn of ${service}/${key} and works with its state; wait for it, or force the edit`,
    );
    return;
  }
  const state = batch.view.states.get(keyText(service, key));
  const changed = [...event.expected].find(([name, value]) => !isSamePayload(state?.get(name) ?? null, value));
  if (changed !== undefined) {
    batch.refuse(
      event.ticket,
      "conflict",
      `"${changed[0]}" of ${service}/${key} is not what the edit expects: it was changed meanwhile; read it again`,
    );
    return;
  }
  const holder = hot.holder === null ? undefined : batch.view.run(hot.holder);
  if (holder !== undefined) dropAllImages(batch, holder); // They hold the state that it had.
  for (const [name, value] of event.changes) {
    if (value === null) {
      batch.mutations.push({ type: "clearState", key: event.key, name });
      state?.delete(name);
    } else {
      batch.mutations.push({ type: "setState", key: event.key, name, value });
      state?.set(name, value);
    }
  }
  batch.reply(event.ticket, { type: "done", status: null });
}

function isSamePayload(a: Payload | null, b: Payload | null): boolean {
  if (!(a instanceof Uint8Array) || !(b instanceof Uint8Array)) return a === b;
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}
