// How long to wait before the next try: exponential, with jitter, and never before the upstream's Retry-After.

import type { DurationMs, Instant, RetryPolicy } from "@perdure/protocol";
import { DURATION_MS_MAX, parseDuration } from "@perdure/protocol";

/** The wait after `tries` failed tries. `random` in [0, 1) spreads it over a quarter to either side. */
export function backoffMs(policy: RetryPolicy, tries: number, random: number): DurationMs {
  const full = Math.min(policy.maxMs, policy.initialMs * policy.factor ** (tries - 1));
  return Math.round(full * (0.75 + random / 2));
}

/** The wait that an upstream asked for: at least that, and no sooner than a first retry would come. */
export function upstreamWaitMs(policy: RetryPolicy, retryAfterMs: DurationMs, random: number): DurationMs {
  return Math.round(Math.max(retryAfterMs * (1 + random / 10), backoffMs(policy, 1, random)));
}

/** Errors wrap errors (`cause`, the AI SDK's `lastError`): how deep the header is looked for. */
const CAUSE_DEPTH_MAX = 5;

/**
 * What an error says about when to come back. Found by structure, since every client library has its own classes:
 * `retryAfter` as a duration of ours, else the header `retry-after-ms` or `retry-after` (seconds, or an HTTP date) in
 * `responseHeaders`, `headers` or `response.headers`, each a `Headers` or a record.
 */
export function retryAfterMs(error: unknown, now: Instant): DurationMs | undefined {
  let current = error;
  for (let depth = 0; depth < CAUSE_DEPTH_MAX && typeof current === "object" && current !== null; depth += 1) {
    const candidate = current as ErrorLike;
    const found = ownRetryAfter(candidate.retryAfter) ?? headerRetryAfter(candidate, now);
    if (found !== undefined) return Math.min(found, DURATION_MS_MAX);
    current = candidate.lastError ?? candidate.cause;
  }
  return undefined;
}

interface ErrorLike {
  readonly retryAfter?: unknown;
  readonly responseHeaders?: unknown;
  readonly headers?: unknown;
  readonly response?: { readonly headers?: unknown } | null;
  readonly cause?: unknown;
  readonly lastError?: unknown;
}

function ownRetryAfter(value: unknown): DurationMs | undefined {
  if (typeof value !== "number" && typeof value !== "string") return undefined;
  try {
    return parseDuration(value);
  } catch {
    return undefined; // Somebody else's property of this name.
  }
}

function headerRetryAfter(error: ErrorLike, now: Instant): DurationMs | undefined {
  for (const headers of [error.responseHeaders, error.headers, error.response?.headers]) {
    const ms = Number(readHeader(headers, "retry-after-ms") ?? Number.NaN);
    if (ms >= 0) return ms;
    const text = readHeader(headers, "retry-after")?.trim();
    if (text === undefined || text === "") continue;
    const seconds = Number(text);
    if (seconds >= 0) return seconds * 1_000;
    const date = Date.parse(text);
    if (!Number.isNaN(date)) return Math.max(0, date - now);
  }
  return undefined;
}

function readHeader(headers: unknown, name: string): string | undefined {
  if (typeof headers !== "object" || headers === null) return undefined;
  const { get } = headers as { readonly get?: unknown };
  if (typeof get === "function") {
    const value: unknown = get.call(headers, name);
    return typeof value === "string" ? value : undefined;
  }
  for (const [key, value] of Object.entries(headers)) {
    if (key.toLowerCase() !== name) continue;
    if (typeof value === "string" || typeof value === "number") return String(value);
    if (Array.isArray(value) && typeof value[0] === "string") return value[0];
  }
  return undefined;
}
