// Time: instants and durations are integers in milliseconds, branded so that they are not mixed up.
//
// Texts that people write: `250ms`, `10s`, `5m`, `2h`, `7d`, sums of them (`1h30m`), or ISO 8601 (`PT1H30M`, `P7D`).

import { InvalidDurationError } from "./errors.ts";

declare const instantBrand: unique symbol;
declare const durationBrand: unique symbol;

/** Milliseconds since the epoch. */
export type Instant = number & { readonly [instantBrand]?: true };
/** Milliseconds. */
export type DurationMs = number & { readonly [durationBrand]?: true };

/** Milliseconds as a number, or a text such as `7d`, `1h30m`, `PT15M`. */
export type DurationLike = number | string;

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};
/** A duration longer than this is taken for a mistake: 100 years. */
export const DURATION_MS_MAX: number = 100 * 365.25 * 86_400_000;

/** @throws InvalidDurationError where `value` is not a duration, is negative, or is longer than 100 years. */
export function parseDuration(value: DurationLike): DurationMs {
  const ms = typeof value === "number" ? value : (parseIso(value) ?? parseUnits(value));
  if (ms === undefined || !Number.isFinite(ms) || ms < 0 || ms > DURATION_MS_MAX)
    throw new InvalidDurationError(String(value));
  return Math.round(ms);
}

function parseUnits(text: string): number | undefined {
  const trimmed = text.trim();
  if (!/^(?:\d+(?:\.\d+)?(?:ms|[smhdw]))+$/.test(trimmed)) return undefined;
  let total = 0;
  for (const match of trimmed.matchAll(/(\d+(?:\.\d+)?)(ms|[smhdw])/g))
    total += Number(match[1]) * (UNIT_MS[match[2] ?? ""] ?? 0);
  return total;
}

function parseIso(text: string): number | undefined {
  const match = /^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/i.exec(text.trim());
  if (match === null || match.slice(1).every((part) => part === undefined)) return undefined;
  const [weeks, days, hours, minutes, seconds] = match.slice(1).map((part) => Number(part ?? 0));
  return (
    (weeks ?? 0) * 604_800_000 +
    (days ?? 0) * 86_400_000 +
    (hours ?? 0) * 3_600_000 +
    (minutes ?? 0) * 60_000 +
    (seconds ?? 0) * 1_000
  );
}

/** Exact: `parseDuration(formatDuration(ms)) === ms` for whole milliseconds. */
export function formatDuration(ms: DurationMs): string {
  let rest = Math.max(0, Math.round(ms));
  if (rest === 0) return "0ms";
  let text = "";
  for (const unit of ["d", "h", "m", "s", "ms"]) {
    const size = UNIT_MS[unit] ?? 1;
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) text += `${count}${unit}`;
  }
  return text;
}
