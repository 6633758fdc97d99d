// perdure.schedules: the object that keeps schedules, a key for each
// ===================================================================
//             put                        pause / resume                       remove
//   (nothing) ───▶ active ◀──────────────────────────────────────▶ paused ────────▶ (nothing)
//                   │  ▲
//                   └──┘ tick: starts what is due, arms the tick after it
//
// S1. A time starts at most one run, and what was decided on stays decided, whatever crashes (L1, E2).
// S2. An unchanged spec changes nothing; a changed one holds from the next tick. Times that the old timing owed when it was
//     replaced are made up for first, as `catchUp` says.
// S3. A key is never held for longer than the deciding takes: what has to wait, waits in a lane (see lanes.ts).

import { TerminalError, type RunId } from "@perdure/protocol";
import {
  handler,
  object,
  shared,
  type DefinedHandler,
  type ObjectContext,
  type ObjectDefinition,
  type ObjectSharedContext,
  type SharedHandler,
} from "@perdure/sdk";
import { z } from "zod";
import { advance, disarm, isArmed, remember } from "./advance.ts";
import { begin, orderOf } from "./begin.ts";
import { scheduleLanes } from "./lanes.ts";
import { statusOf } from "./run-status.ts";
import { sameJson, scheduleSpec, storedSpec } from "./spec.ts";
import { upcomingTimes } from "./times.ts";
import {
  SCHEDULES,
  type ScheduleRecord,
  type ScheduleSpec,
  type ScheduleStart,
  type ScheduleState,
  type ScheduleView,
  type StoredSpec,
} from "./types.ts";

/** From the lane: what became of a start that was queued. */
interface BegunReport {
  readonly id: string;
  readonly run: RunId | null;
  readonly outcome: string;
}

export interface ScheduleHandlers {
  readonly put: DefinedHandler<ObjectContext, [spec: ScheduleSpec], ScheduleState>;
  readonly pause: (ctx: ObjectContext) => Promise<ScheduleState>;
  readonly resume: (ctx: ObjectContext) => Promise<ScheduleState>;
  readonly trigger: (ctx: ObjectContext) => Promise<ScheduleStart>;
  readonly remove: (ctx: ObjectContext) => Promise<void>;
  readonly show: SharedHandler<ObjectSharedContext, [], ScheduleView>;
  readonly tick: DefinedHandler<ObjectContext, [], void>;
  readonly begun: DefinedHandler<ObjectContext, [report: BegunReport], void>;
}

export const schedules: ObjectDefinition<ScheduleHandlers> = object(
  SCHEDULES,
  {
    put: handler({ input: scheduleSpec, description: "creates or changes the schedule" }, put),
    pause,
    resume,
    trigger,
    remove,
    // Its journal holds what those runs returned, if only to see that they have.
    show: shared({ retention: "10m" }, show),
    tick: handler({ internal: true, retention: "1h" }, tick),
    begun: handler({ internal: true, retention: "1h", input: z.custom<BegunReport>() }, begun),
  },
  {
    description: "Starts runs at the times of cron expressions and intervals.",
    retention: "1d",
    companions: [scheduleLanes],
  },
);

async function put(ctx: ObjectContext, told: ScheduleSpec): Promise<ScheduleState> {
  const spec = storedSpec(told);
  const before = await ctx.get<ScheduleRecord>("schedule");
  const now = await ctx.now();
  if (before === undefined) await create(ctx, spec, now);
  else if (!sameJson(before.spec, spec)) await change(ctx, before, spec, now);
  else if (!before.paused && !(await isArmed(ctx, before))) await advance(ctx, before, now);
  return stateOf(ctx);
}

async function create(ctx: ObjectContext, spec: StoredSpec, now: number): Promise<void> {
  const { paused } = spec;
  const record: ScheduleRecord = { spec, paused, decidedUntil: now, next: null, last: null, waiting: [] };
  if (paused) ctx.set("schedule", record);
  else await advance(ctx, record, now);
}

/** Who paused a schedule by hand finds it paused after a deploy, too. */
async function change(ctx: ObjectContext, before: ScheduleRecord, spec: StoredSpec, now: number): Promise<void> {
  const replaced = sameJson(before.spec.timing, spec.timing) ? undefined : before.spec.timing;
  const paused = before.spec.paused === spec.paused ? before.paused : spec.paused;
  const record: ScheduleRecord = { ...before, spec, paused };
  if (!before.paused && !paused) return advance(ctx, record, now, replaced);
  // The new timing owes nothing for the time before it.
  const settled = replaced === undefined ? record : { ...record, decidedUntil: now };
  if (paused) hold(ctx, settled);
  else await wake(ctx, settled, now);
}

async function pause(ctx: ObjectContext): Promise<ScheduleState> {
  const record = await existing(ctx);
  if (!record.paused) hold(ctx, record);
  return stateOf(ctx);
}

function hold(ctx: ObjectContext, record: ScheduleRecord): void {
  disarm(ctx, record);
  ctx.set("schedule", { ...record, paused: true, next: null });
}

async function resume(ctx: ObjectContext): Promise<ScheduleState> {
  const record = await existing(ctx);
  if (record.paused || !(await isArmed(ctx, record))) await wake(ctx, record, await ctx.now());
  return stateOf(ctx);
}

/** Times that passed in a pause were meant to pass: with `none` not even the last minute is made up for. */
async function wake(ctx: ObjectContext, record: ScheduleRecord, now: number): Promise<void> {
  const decidedUntil = record.spec.catchUp === "none" ? Math.max(now, record.decidedUntil) : record.decidedUntil;
  await advance(ctx, { ...record, paused: false, decidedUntil }, now);
}

/** Now, also while it is paused; under the schedule's overlap, as any start. */
async function trigger(ctx: ObjectContext): Promise<ScheduleStart> {
  const record = await existing(ctx);
  const now = await ctx.now();
  const { entry, ...rest } = await begin(ctx, record, orderOf(ctx, record, `trigger/${ctx.runId}`, now), now);
  ctx.set("schedule", { ...record, ...rest });
  await remember(ctx, [entry]);
  return entry;
}

/** What it has started goes on; what waits in its queue is withdrawn. */
async function remove(ctx: ObjectContext): Promise<void> {
  const record = await existing(ctx);
  disarm(ctx, record);
  for (const { lane } of record.waiting) ctx.run(lane).cancel();
  ctx.clearAll();
}

async function tick(ctx: ObjectContext): Promise<void> {
  const record = await ctx.get<ScheduleRecord>("schedule");
  if (record === undefined || record.paused || record.next?.tick !== ctx.runId) return; // D1: stale.
  await advance(ctx, record, await ctx.now());
}

async function begun(ctx: ObjectContext, report: BegunReport): Promise<void> {
  const record = await ctx.get<ScheduleRecord>("schedule");
  const { id, run, outcome } = report;
  if (record === undefined || !record.waiting.some((other) => other.id === id)) return; // It was removed meanwhile.
  const waiting = record.waiting.filter((other) => other.id !== id);
  ctx.set("schedule", { ...record, waiting, last: run ?? record.last });
  const history = (await ctx.get<readonly ScheduleStart[]>("history")) ?? [];
  ctx.set(
    "history",
    history.map((start) => (start.id === id ? { ...start, run, outcome } : start)),
  );
}

async function show(ctx: ObjectSharedContext): Promise<ScheduleView> {
  const record = await existing(ctx);
  const { spec, paused } = record;
  const history = (await ctx.get<readonly ScheduleStart[]>("history")) ?? [];
  const next = await ctx.step("next times", () => (paused ? [] : upcomingTimes(ctx.key, record)));
  const statuses = await Promise.all(history.map(async ({ run }) => (run === null ? null : statusOf(ctx, run))));
  return {
    name: ctx.key,
    paused,
    spec,
    next,
    history: history.map((start, at) => ({ ...start, status: statuses[at] ?? null })),
  };
}

async function existing(ctx: ObjectSharedContext): Promise<ScheduleRecord> {
  const record = await ctx.get<ScheduleRecord>("schedule");
  if (record === undefined)
    throw new TerminalError(
      `there is no schedule "${ctx.key}": put it first; \`perdure schedules\` lists those that are`,
      {
        status: 404,
      },
    );
  return record;
}

async function stateOf(ctx: ObjectContext): Promise<ScheduleState> {
  const { paused, next } = await existing(ctx);
  return { name: ctx.key, paused, next: next?.at ?? null };
}
