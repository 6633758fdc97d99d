// A run is submitted: from outside (`submit`) or by a command of another run (`createRun`).
//
// E9: an id that is already there names the same run; nothing new is created, and the asker gets that run's answer.

import {
  assert,
  isFinished,
  type HandlerMode,
  type Headers,
  type Instant,
  type Payload,
  type Run,
  type RunId,
  type Target,
} from "@perdure/protocol";
import type { Batch } from "../batch.ts";
import type { Submit } from "../events.ts";
import { launch } from "../moves/attempts.ts";
import { tellHolder } from "../moves/arrival.ts";
import { arrive } from "../moves/key-queue.ts";
import type { HotRun, Mutable } from "../view.ts";

export interface NewRun {
  readonly id: RunId;
  readonly target: Target;
  readonly mode: HandlerMode;
  readonly input: Payload | null;
  readonly headers: Headers | null;
  readonly idempotencyKey: string | null;
  readonly startAt: Instant | null;
  readonly parent: Run["parent"];
}

export function submit(batch: Batch, event: Submit): void {
  const existing = event.fresh ? undefined : batch.view.run(event.run);
  if (existing !== undefined) {
    answer(batch, event, existing, true);
    return;
  }
  const mode = batch.environment.mode(event.target);
  if (mode === null) {
    batch.refuse(event.ticket, "unknown_target", batch.environment.unknownTarget(event.target).message);
    return;
  }
  if (batch.counters.ready >= batch.limits.readyRunsMax) {
    batch.refuse(event.ticket, "overloaded", `${batch.counters.ready} runs wait for room to run; try again later`);
    return;
  }
  const { target, input, headers, idempotencyKey, startAt } = event;
  const run = createRun(batch, { id: event.run, target, mode, input, headers, idempotencyKey, startAt, parent: null });
  answer(batch, event, run, false);
}

function answer(batch: Batch, event: Submit, run: HotRun, existing: boolean): void {
  const { id, status, result } = run.record;
  if (!event.await) batch.reply(event.ticket, { type: "accepted", run: id, existing, status });
  else if (isFinished(status)) {
    assert(result !== null, "a finished run has a result");
    batch.reply(event.ticket, { type: "finished", run: id, existing, result });
  } else batch.actions.push({ type: "watch", ticket: event.ticket, run: id, existing });
}

export function createRun(batch: Batch, spec: NewRun): HotRun {
  const { counters, now } = batch;
  const delayed = spec.startAt !== null && spec.startAt > now;
  counters.seq += 1;
  const record: Mutable<Run> = {
    id: spec.id,
    seq: counters.seq,
    service: spec.target.service,
    handler: spec.target.handler,
    key: spec.target.key ?? null,
    mode: spec.mode,
    status: delayed ? "scheduled" : "running",
    input: spec.input,
    headers: spec.headers,
    idempotencyKey: spec.idempotencyKey,
    parent: spec.parent,
    forkedFrom: null,
    deployment: null,
    migrated: null,
    migrating: null,
    createdAt: now,
    changedAt: now,
    scheduledAt: delayed ? spec.startAt : null,
    finishedAt: null,
    arrival: 0,
    generation: 0,
    retry: null,
    awaiting: null,
    pausedBy: null,
    cancelling: null,
    trims: null,
    watched: false,
    result: null,
  };
  const run = batch.view.addFresh(record);
  batch.insert(run);
  if (delayed) {
    assert(spec.startAt !== null, "a delayed run has a start");
    batch.mutations.push({ type: "addTimer", timer: { at: spec.startAt, run: record.seq, kind: "start", id: 0 } });
    batch.actions.push({ type: "arm", at: spec.startAt });
  } else if (needsTurn(spec) && arrive(batch, run) === "queued") {
    record.status = "queued";
    tellHolder(batch, run);
  } else launch(batch, run);
  return run;
}

export function needsTurn(spec: { readonly mode: HandlerMode; readonly target: Target }): boolean {
  return (spec.mode === "exclusive" || spec.mode === "workflow") && spec.target.key !== undefined;
}
