// What `perdure schedules` does. Apart from its command, since it needs packages that the other commands do not load.

import {
  SCHEDULES,
  timingText,
  type ScheduleRecord,
  type ScheduleStart,
  type ScheduleState,
  type ScheduleView,
} from "@perdure/agents";
import { PAYLOAD_MAX, type AdminClient } from "./api/admin-client.ts";
import type { Cli, CommonOptions } from "./cli.ts";
import { RefusedError } from "./errors.ts";
import type { Output } from "./output.ts";
import { scheduleText, startRow, STARTS } from "./schedule-text.ts";
import type { Column, Row } from "./table.ts";
import { ago } from "./time-text.ts";

interface Listed extends Omit<ScheduleRecord, "waiting" | "decidedUntil"> {
  readonly name: string;
  /** The newest of its starts. */
  readonly lastStart: ScheduleStart | null;
}

const COLUMNS: readonly Column[] = [
  { title: "NAME" },
  { title: "WHEN" },
  { title: "ZONE" },
  { title: "NEXT" },
  { title: "LAST", shrinksTo: 12 },
  { title: "STATE" },
];

export async function listSchedules(cli: Cli, options: CommonOptions): Promise<void> {
  const schedules = await listed(cli.admin(options));
  const out = cli.output(options);
  if (out.json) return out.document({ schedules });
  if (schedules.length === 0) return out.note("there are no schedules: export schedule(…) from a file that is served");
  const rows = schedules.map((schedule) => listRow(schedule, out));
  out.raw(out.table(COLUMNS, rows));
}

function listRow({ name, spec, next, lastStart, paused }: Listed, out: Output): Row {
  return [
    name,
    timingText(spec.timing),
    spec.timing.kind === "cron" ? spec.timing.timeZone : "",
    next === null ? "" : ago(next.at, out.now),
    lastStart === null ? "" : `${ago(lastStart.at, out.now)}: ${lastStart.outcome}`,
    paused ? { text: "paused", paint: (text) => out.paint("yellow", text) } : "active",
  ];
}

const KEYS_PER_PAGE = 1_000;
const READS_AT_ONCE = 20;

/** From the state itself: it starts no runs, and costs a read for each. */
async function listed(admin: AdminClient): Promise<readonly Listed[]> {
  const found: Listed[] = [];
  for (let after: string | undefined; ; ) {
    const { keys, nextAfter } = await keysPage(admin, after);
    for (let at = 0; at < keys.length; at += READS_AT_ONCE) {
      const some = await Promise.all(keys.slice(at, at + READS_AT_ONCE).map((name) => read(admin, name)));
      found.push(...some.filter((schedule) => schedule !== undefined));
    }
    if (nextAfter === null) return found;
    after = nextAfter;
  }
}

async function keysPage(admin: AdminClient, after: string | undefined): ReturnType<AdminClient["stateKeys"]> {
  try {
    return await admin.stateKeys(SCHEDULES, KEYS_PER_PAGE, after);
  } catch (error) {
    if (isUnserved(error)) return { keys: [], nextAfter: null };
    throw error;
  }
}

/** Nothing that is served has a schedule. */
function isUnserved(error: unknown): boolean {
  return error instanceof RefusedError && error.code === "P0030";
}

async function read(admin: AdminClient, name: string): Promise<Listed | undefined> {
  const { state } = await admin.state(SCHEDULES, name, PAYLOAD_MAX);
  const record = state["schedule"] as unknown as ScheduleRecord | undefined;
  if (record === undefined) return undefined; // Removed since its key was listed.
  const { waiting: _, decidedUntil: __, ...rest } = record;
  const history = (state["history"] ?? []) as unknown as readonly ScheduleStart[];
  return { name, ...rest, lastStart: history[0] ?? null };
}

export async function showSchedule(cli: Cli, options: CommonOptions, name: string): Promise<void> {
  const view = await ask<ScheduleView>(cli, options, name, "show");
  const out = cli.output(options);
  if (out.json) return out.document(view);
  out.raw(scheduleText(view, out));
  const rows = view.history.map((start) => startRow(start, out));
  if (rows.length > 0) out.raw(`\n${out.table(STARTS, rows)}`);
}

export async function holdSchedule(
  cli: Cli,
  options: CommonOptions,
  name: string,
  action: "pause" | "resume",
): Promise<void> {
  const state = await ask<ScheduleState>(cli, options, name, action);
  const out = cli.output(options);
  if (out.json) return out.document(state);
  const when = state.next === null ? "no further time" : `next ${ago(state.next, out.now)}`;
  out.text(`${name}  ${state.paused ? "paused" : `active, ${when}`}`);
}

export async function triggerSchedule(cli: Cli, options: CommonOptions, name: string): Promise<void> {
  const start = await ask<ScheduleStart>(cli, options, name, "trigger");
  const out = cli.output(options);
  if (out.json) out.document(start);
  else out.text(start.run === null ? start.outcome : `${start.outcome}  ${start.run}`);
}

export async function removeSchedule(cli: Cli, options: CommonOptions, name: string): Promise<void> {
  await ask(cli, options, name, "remove");
  const out = cli.output(options);
  if (out.json) out.document({ name, removed: true });
  else out.text(`${name}  removed`);
}

/** Calls a handler of the schedule. */
async function ask<T = undefined>(cli: Cli, options: CommonOptions, name: string, handler: string): Promise<T> {
  const ingress = cli.ingress(options);
  try {
    const { runId } = await ingress.send({ service: SCHEDULES, key: name, handler }, { input: undefined });
    const outcome = await ingress.attach(runId);
    if (outcome.kind === "failure") throw outcome.error;
    return (outcome.kind === "json" ? JSON.parse(outcome.text) : undefined) as T;
  } catch (error) {
    if (isUnserved(error))
      throw new RefusedError(404, `there is no schedule "${name}": nothing here has one`, undefined);
    throw error;
  }
}
