// Times as people read them: rounded durations, ages, clock times. Exact values are in the --json output.

import { InvalidArgumentError } from "commander";
import { parseDuration } from "@perdure/protocol";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Two digits that matter: `12ms`, `1.2s`, `3m 20s`, `5h 2m`, `8d 3h`. */
export function roundDuration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))}ms`;
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)}s`;
  if (ms < MINUTE) return `${Math.floor(ms / 1_000)}s`;
  if (ms < HOUR) return pair(ms, MINUTE, "m", 1_000, "s");
  if (ms < DAY) return pair(ms, HOUR, "h", MINUTE, "m");
  return pair(ms, DAY, "d", HOUR, "h");
}

function pair(ms: number, large: number, largeName: string, small: number, smallName: string): string {
  const rest = Math.floor((ms % large) / small);
  return `${Math.floor(ms / large)}${largeName}${rest === 0 ? "" : ` ${rest}${smallName}`}`;
}

export function ago(at: number, now: number): string {
  if (at > now + 1_000) return `in ${roundDuration(at - now)}`;
  return now - at < 1_000 ? "now" : `${roundDuration(now - at)} ago`;
}

/** `2026-03-01 12:34:56.789`, in the time zone of the reader. */
export function clockTime(at: number): string {
  const date = new Date(at);
  const two = (value: number): string => String(value).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  return `${day} ${time}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}

/** Only the time of day. */
export function timeOfDay(at: number): string {
  return clockTime(at).slice(11);
}

/** A point in the past: an age (`15m`), or a date that JavaScript reads. */
export function parseSince(text: string, now: number): number {
  try {
    return now - parseDuration(text);
  } catch {
    // Not a duration: a date, perhaps.
  }
  const at = Date.parse(text);
  if (Number.isNaN(at))
    throw new InvalidArgumentError("Write an age (15m, 2h, 7d) or a date (2026-03-01, 2026-03-01T12:00:00Z).");
  return at;
}

export function parseDurationOption(text: string): number {
  try {
    return parseDuration(text);
  } catch {
    throw new InvalidArgumentError("Write a duration: 250ms, 10s, 5m, 2h, 7d, 1h30m or PT15M.");
  }
}
