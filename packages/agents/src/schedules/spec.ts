// A spec as it is told, checked and completed.

import { parseDuration } from "@perdure/protocol";
import type { StandardSchema } from "@perdure/sdk";
import { z } from "zod";
import { timingProblem } from "./times.ts";
import type { ScheduleSpec, StoredSpec, Timing } from "./types.ts";

/** Ticks are runs: more often than this is a loop with a sleep in it, not a schedule. */
const EVERY_MS_MIN = 1_000;
/** A moment from which every pattern that ever matches has a time ahead. Not the clock: a spec is right or wrong for good. */
const SOME_TIME = Date.UTC(2025, 0, 1);

const target = z.object({
  service: z.string().min(1),
  handler: z.string().min(1),
  key: z.string().min(1).optional(),
  keyPerStart: z.boolean().optional(),
});

const shape = z.object({
  cron: z.string().optional(),
  timeZone: z.string().optional(),
  every: z.union([z.string(), z.number()]).optional(),
  target,
  input: z.unknown().optional(),
  overlap: z.enum(["skip", "queue", "parallel", "cancel"]).optional(),
  catchUp: z.enum(["none", "latest", "all"]).optional(),
  jitter: z.union([z.string(), z.number()]).optional(),
  paused: z.boolean().optional(),
  exported: z.boolean().optional(),
});

/** For the door: who puts a wrong spec is told so, and no run is made. */
export const scheduleSpec: StandardSchema<ScheduleSpec, ScheduleSpec> = shape.check((context) => {
  const message = specProblem(context.value);
  if (message !== undefined) context.issues.push({ code: "custom", message, input: context.value });
});

/** What is wrong with a spec that has the right shape, in words; undefined: nothing. */
export function specProblem(spec: ScheduleSpec): string | undefined {
  const { cron, every, timeZone, jitter, target: to } = spec;
  if ((cron === undefined) === (every === undefined)) return "say when: either cron or every";
  if (every !== undefined && timeZone !== undefined)
    return "timeZone goes with cron: every counts time that has passed";
  if (to.key !== undefined && to.keyPerStart === true) return "the target has a key, or one per start: not both";
  return (
    (every === undefined ? undefined : everyProblem(every)) ??
    (cron === undefined ? undefined : timingProblem(cron, timeZone ?? "UTC", SOME_TIME)) ??
    (jitter === undefined ? undefined : durationProblem("jitter", jitter))
  );
}

function everyProblem(every: string | number): string | undefined {
  const problem = durationProblem("every", every);
  if (problem !== undefined) return problem;
  return parseDuration(every) < EVERY_MS_MIN ? `every is at least a second, not ${every}` : undefined;
}

function durationProblem(what: string, value: string | number): string | undefined {
  try {
    parseDuration(value);
    return undefined;
  } catch {
    return `${what} is not a duration: ${JSON.stringify(value)}; write 30s, 15m, 2h or 7d`;
  }
}

export function storedSpec(spec: ScheduleSpec): StoredSpec {
  const { service, handler, key, keyPerStart } = spec.target;
  const { catchUp = "latest" } = spec;
  return {
    timing: timingOf(spec),
    target: {
      service,
      handler,
      ...(key === undefined ? {} : { key }),
      ...(keyPerStart === true ? { keyPerStart } : {}),
    },
    ...(spec.input === undefined ? {} : { input: spec.input }),
    overlap: spec.overlap ?? (catchUp === "all" ? "queue" : "skip"),
    catchUp,
    jitterMs: spec.jitter === undefined ? 0 : parseDuration(spec.jitter),
    paused: spec.paused ?? false,
    exported: spec.exported ?? false,
  };
}

function timingOf(spec: ScheduleSpec): Timing {
  if (spec.cron !== undefined) return { kind: "cron", cron: spec.cron.trim(), timeZone: spec.timeZone ?? "UTC" };
  return { kind: "every", everyMs: parseDuration(spec.every ?? EVERY_MS_MIN) };
}

/** Equal as JSON, whatever the order in which objects name their fields. */
export function sameJson(a: unknown, b: unknown): boolean {
  return JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => [name, sorted(inner)] as const);
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
