// fork: a new run that shares the first entries of another, and goes on from there on its own.
//
// F1. The prefix is the origin's, entry by entry; no effect of it that has a result runs again. What was under way is begun
//     again by the fork: steps without a result, sleeps, waits.
// F2. Children that the prefix has called are shared: the fork gets their results, also of those that are not done yet. They
//     are the origin's all the same: cancelling the fork does not reach them.
// F3. A fork has a world of its own from there on: another key with a copy of state, promises and streams as they were. Only
//     what shares a key by its nature (shared handlers) shares it on.

import { assert, type Entry, FORK_SIGNAL, isFinished, type Target, valueResult } from "@perdure/protocol";
import type { Batch } from "../batch.ts";
import type { Fork } from "../events.ts";
import { promisesAsOf, stateAsOf } from "../moves/as-of.ts";
import { launch } from "../moves/attempts.ts";
import { copyEntries, copyImages, copyRecord, copyStreams, wholeJournal } from "../moves/copy-run.ts";
import { signal } from "../moves/journal.ts";
import { arrive, isExclusive } from "../moves/key-queue.ts";
import { type HotRun, keyText, ownedText, promiseText } from "../view.ts";
import { takeUp } from "./take-up.ts";

export function fork(batch: Batch, event: Fork): void {
  const source = batch.view.run(event.run);
  if (source === undefined) {
    batch.refuse(event.ticket, "not_found", `there is no run ${event.run}: it never was, or its retention is over`);
    return;
  }
  const { view } = batch;
  const existing = view.run(event.id);
  const at = event.at ?? source.entries;
  const key = forkKey(source, event);
  if (existing !== undefined) {
    const why = `there is a run ${event.id} already, so no fork can have that id`;
    batch.refuse(event.ticket, "conflict", key === null ? why : `${why}: choose another key than "${key}"`);
    return;
  }
  const refusal = requestRefusal(source, event, at) ?? keyRefusal(batch, source, event, key);
  if (refusal !== null) {
    batch.refuse(event.ticket, "conflict", refusal);
    return;
  }
  const target = targetOf(source, key);
  if (batch.environment.mode(target) === null) {
    batch.refuse(event.ticket, "unknown_target", batch.environment.unknownTarget(target).message);
    return;
  }
  if (batch.counters.ready >= batch.limits.readyRunsMax) {
    batch.refuse(event.ticket, "overloaded", `${batch.counters.ready} runs wait for room to run; try again later`);
    return;
  }
  if (!make(batch, source, event, at, key)) batch.deferred.push(event);
}

/** The key of the fork. */
export function forkKey(source: HotRun, event: Fork): string | null {
  const { key } = source.record;
  if (key === null || !isExclusive(source)) return key;
  return event.key ?? `${key}~${event.id.slice(-6)}`;
}

function targetOf({ record: { service, handler } }: HotRun, key: string | null): Target {
  return key === null ? { service, handler } : { service, handler, key };
}

function requestRefusal(source: HotRun, event: Fork, at: number): string | null {
  if (at < 0 || at > source.entries)
    return `the journal has entries 1 to ${source.entries}; entry ${at} is not among them. Fork at one of them, or at 0 to share nothing but the input`;
  if (event.input !== undefined && at !== 0)
    return `the entries up to ${at} follow from the input that the run had, so a fork at ${at} cannot have another. Fork at 0 to begin anew with another input, or give a note, which the fork gets as the signal "${FORK_SIGNAL}"`;
  if (event.key === undefined || isExclusive(source)) return null;
  const { service, handler, key, mode } = source.record;
  return key === null
    ? `${service}/${handler} has no key, so a fork of it has none either: leave the key out`
    : `${service}/${handler} is a ${mode} handler and reads beside the one that writes: a fork of it stays with the key "${key}", leave the key out`;
}

/** An exclusive fork takes its key's state and streams along: the key has to be free and empty. */
function keyRefusal(batch: Batch, source: HotRun, event: Fork, key: string | null): string | null {
  if (key === null || !isExclusive(source)) return null;
  const { service, mode } = source.record;
  if (key === source.record.key)
    return `the key "${key}" is the one of the run itself: a fork needs another, or none, and one is made`;
  if (mode === "workflow" && batch.environment.workflowId(service, key) !== event.id)
    return `the run of workflow ${service} under the key "${key}" has another id than ${event.id}`;
  const { holder, queue } = batch.view.key(service, key);
  const state = batch.view.states.get(keyText(service, key));
  const streams = batch.view.owned.get(ownedText({ service, key }, 0))?.streams ?? [];
  assert(state !== undefined, "the state of the fork's key was loaded");
  if (holder === null && queue.length === 0 && state.size === 0 && streams.length === 0) return null;
  return `the key "${key}" of ${service} is in use: a fork takes state and streams along, and needs a key without any`;
}

/** False: the journal has changed in this batch, and has to be loaded again. */
function make(batch: Batch, source: HotRun, event: Fork, at: number, key: string | null): boolean {
  const journal = wholeJournal(batch, source);
  if (journal === null) return false;
  const prefix = journal.slice(0, at);
  const record = copyRecord(batch, source, journal, { id: event.id, key, at });
  record.status = "running";
  if (event.input !== undefined) record.input = event.input;
  const copy = batch.view.addFresh(record);
  batch.insert(copy);
  if (isExclusive(copy)) {
    const turn = arrive(batch, copy);
    assert(turn === "turn", "E3: the key of a fork is free");
  }
  if (source.record.key === null || isExclusive(copy))
    copyTrims(batch, copy, prefix, copyStreams(batch, source, copy, journal, at));
  copyEntries(batch, copy, prefix);
  // I2: an image holds the state that there was; where that cannot be told, code must not see more of it than there is.
  const isCertain = !isExclusive(copy) || copyWorld(batch, source, copy, journal, at);
  if (isCertain) copyImages(batch, source, copy, "without names");
  if (event.note !== undefined) signal(batch, copy, FORK_SIGNAL, valueResult(event.note));
  takeUp(batch, copy, prefix, journal.slice(at));
  launch(batch, copy);
  batch.reply(event.ticket, { type: "accepted", run: event.id, existing: false, status: record.status });
  return true;
}

/** State and promises of the key, as they were. False: not all of the state is known. */
function copyWorld(batch: Batch, source: HotRun, copy: HotRun, journal: readonly Entry[], at: number): boolean {
  const { service } = source.record;
  const key = { service, key: copy.record.key ?? "" };
  const present = batch.view.states.get(keyText(service, source.record.key ?? "")) ?? new Map();
  const { state, certain } = stateAsOf(journal, at, present);
  for (const [name, value] of state) batch.mutations.push({ type: "setState", key, name, value });
  batch.view.states.set(keyText(service, key.key), new Map(state));
  for (const [name, result] of promisesAsOf(journal.slice(0, at))) {
    batch.mutations.push({ type: "setPromise", key, name, result });
    batch.view.promises.set(promiseText(key, name), result);
  }
  return certain && !isFinished(source.record.status); // Others may have written since it ended.
}

/** What the prefix has asked to drop at its end. */
function copyTrims(batch: Batch, copy: HotRun, prefix: readonly Entry[], ends: ReadonlyMap<string, number>): void {
  const trims = new Map<string, { command: number; stream: string; before: number }>();
  for (const entry of prefix) {
    if (entry.kind !== "command" || entry.command.type !== "trimStream") continue;
    const { stream } = entry.command;
    const before = Math.min(entry.command.before, ends.get(stream) ?? 0);
    if (before > (trims.get(stream)?.before ?? 0)) trims.set(stream, { command: entry.id, stream, before });
  }
  if (trims.size > 0) batch.change(copy).trims = [...trims.values()];
}
