// A time between two others, as fields of a browser hold it: in the viewer's zone, to the minute; and as an address does: in
// UTC, so that a link means the same to somebody elsewhere.

import { parseDuration } from "@perdure/protocol";

export interface Range {
  /** `2026-01-31T12:00`, in the viewer's zone; empty: no limit. */
  readonly from: string;
  readonly to: string;
}

/** What of a search is such a time; an age (`2h`) is one, too, as it stands now. */
export function rangeOf({ since, until }: RangeSearch, now: number): Range {
  return { from: fieldOf(since, now), to: fieldOf(until, now) };
}

export interface RangeSearch {
  readonly since?: string;
  readonly until?: string;
}

export function rangeSearch({ from, to }: Range): RangeSearch {
  const [since, until] = [instantOf(from), instantOf(to)];
  return { ...(since === null ? {} : { since }), ...(until === null ? {} : { until }) };
}

export function isReversed({ from, to }: Range): boolean {
  return from !== "" && to !== "" && Date.parse(from) >= Date.parse(to);
}

export function isAge(text: string): boolean {
  try {
    parseDuration(text);
    return true;
  } catch {
    return false;
  }
}

function fieldOf(text: string | undefined, now: number): string {
  if (text === undefined) return "";
  const at = isAge(text) ? now - parseDuration(text) : Date.parse(text);
  return Number.isNaN(at) ? "" : localText(new Date(at));
}

function localText(date: Date): string {
  const two = (value: number): string => String(value).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** A text without a zone is read in the viewer's. */
function instantOf(field: string): string | null {
  const at = Date.parse(field);
  return Number.isNaN(at) ? null : new Date(at).toISOString();
}
