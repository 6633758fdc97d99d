// When: the arithmetic of cron expressions and intervals. Pure; what it says is journaled by who asks, since the time zone
// data of two hosts may differ.
//
// W1. `timesAfter` and `timesBetween` agree: both list the same times, in ascending order, each once.
// W2. Intervals are multiples from the epoch: they depend on nothing that was, so they cannot drift.
// W3. Clocks that are set forward: a fixed time that does not exist (02:30) is the first moment that does (03:00);
//     of patterns that name several times of a day (`*/30 2 * * *`) those in the gap are left out.
//     Clocks that are set back: a fixed time that exists twice is its first occurrence; of patterns that name several times,
//     both occurrences. So a daily job runs once on every day, and an hourly one every hour.

import { Cron } from "croner";
import { formatDuration } from "@perdure/protocol";
import type { Occurrence, ScheduleRecord, Timing } from "./types.ts";

/** The first `count` times after `after`. Fewer where there are no more. */
export function timesAfter(timing: Timing, after: number, count: number): number[] {
  const times: number[] = [];
  let last = after;
  while (times.length < count) {
    const next = nextTime(timing, last);
    if (next === null) break;
    times.push(next);
    last = next;
  }
  return times;
}

/** The latest `countMax` times that are after `after` and not after `until`; `earlier`: the one before them, if there is. */
export function timesBetween(
  timing: Timing,
  after: number,
  until: number,
  countMax: number,
): { readonly times: readonly number[]; readonly earlier: number | null } {
  // Most often it is one, and looking for a hundred of them would take twenty milliseconds.
  for (let count = 2; ; count = Math.min(count * 4, countMax + 1)) {
    const latest = latestTimes(timing, until, count);
    const found = latest.filter((time) => time > after);
    if (found.length === count && count <= countMax) continue; // There may be more.
    const earlier = found.length > countMax ? (found.at(-countMax - 1) ?? null) : null;
    return { times: found.slice(-countMax), earlier };
  }
}

function nextTime(timing: Timing, after: number): number | null {
  if (timing.kind === "every") return (Math.floor(after / timing.everyMs) + 1) * timing.everyMs;
  return cronOf(timing).nextRun(new Date(after))?.getTime() ?? null;
}

function latestTimes(timing: Timing, until: number, count: number): number[] {
  if (timing.kind === "every") {
    const last = Math.floor(until / timing.everyMs);
    return Array.from({ length: count }, (_, at) => (last - count + 1 + at) * timing.everyMs);
  }
  // It looks before a whole second, and leaves that second out.
  const before = new Date(Math.floor(until / 1_000) * 1_000 + 1_000);
  return cronOf(timing)
    .previousRuns(count, before)
    .map((date) => date.getTime())
    .reverse();
}

/** Parsing costs as much as the next time does. */
const crons = new WeakMap<Timing, Cron>();

function cronOf(timing: Extract<Timing, { kind: "cron" }>): Cron {
  let cron = crons.get(timing);
  if (cron === undefined) {
    cron = new Cron(timing.cron, { timezone: timing.timeZone, mode: "5-or-6-parts" });
    crons.set(timing, cron);
  }
  return cron;
}

/** What is wrong with a cron expression or its time zone, in words; undefined: nothing. */
export function timingProblem(cron: string, timeZone: string, now: number): string | undefined {
  // The library takes a date for a schedule that happens once.
  if (!/^\s*(?:@[a-z]+|\S+(?:\s+\S+){4,5})\s*$/i.test(cron))
    return `"${cron}" is not a cron expression: write five fields (minute hour day month weekday), or six with seconds first`;
  try {
    new Intl.DateTimeFormat("en", { timeZone });
  } catch {
    return `"${timeZone}" is not a time zone: write an IANA name such as "Europe/Berlin"`;
  }
  try {
    const isNever = nextTime({ kind: "cron", cron, timeZone }, now) === null;
    return isNever ? `"${cron}" names no time at all (a day that no month has?)` : undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^Cron\w+: /, "") : String(error);
    return `"${cron}" is not a cron expression: ${reason}`;
  }
}

/**
 * When the run of the time `scheduledFor` starts: up to `jitterMs` later, but before the time after it, so that starts keep
 * their order. The same for the same schedule and time, whoever asks.
 */
export function withJitter(name: string, timing: Timing, scheduledFor: number, jitterMs: number): Occurrence {
  if (jitterMs === 0) return { scheduledFor, at: scheduledFor };
  const gapMs = (nextTime(timing, scheduledFor) ?? Number.POSITIVE_INFINITY) - scheduledFor;
  const at = scheduledFor + Math.floor(fraction(`${name}/${scheduledFor}`) * Math.min(jitterMs, gapMs));
  return { scheduledFor, at };
}

/** Times ahead that people are shown. */
const TIMES_SHOWN = 5;

/** The next times that nothing was decided on yet. */
export function upcomingTimes(name: string, { spec, decidedUntil }: ScheduleRecord): readonly Occurrence[] {
  const { timing, jitterMs } = spec;
  return timesAfter(timing, decidedUntil, TIMES_SHOWN).map((time) => withJitter(name, timing, time, jitterMs));
}

/** In [0, 1): FNV-1a, mixed once more since it leaves the high bits of short texts much alike. */
function fraction(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 4_294_967_296;
}

/** For people: `0 3 * * *`, `every 15m`. */
export function timingText(timing: Timing): string {
  return timing.kind === "cron" ? timing.cron : `every ${formatDuration(timing.everyMs)}`;
}
