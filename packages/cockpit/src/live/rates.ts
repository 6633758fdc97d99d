// What happened lately, second by second: the figures behind the overview's charts
// ================================================================================
// R1. A fixed number of seconds is kept, however much happens in them.
// R2. A second's latencies are a sample of bounded size, spread evenly over what was seen.

export interface RateSeries {
  /** Beginnings of the buckets, seconds since the epoch, oldest first. */
  readonly times: readonly number[];
  /** Runs a second. */
  readonly started: readonly number[];
  readonly succeeded: readonly number[];
  readonly failed: readonly number[];
  /** Journal entries a second. */
  readonly entries: readonly number[];
  /** Milliseconds from a run's creation to its end; null: none ended. */
  readonly p50: readonly (number | null)[];
  readonly p95: readonly (number | null)[];
}

export type Counted = "started" | "succeeded" | "failed" | "entries";

interface Second {
  at: number;
  started: number;
  succeeded: number;
  failed: number;
  entries: number;
  ended: number;
  latencies: number[];
}

export const KEPT_SECONDS: number = 15 * 60;
const SAMPLE_MAX = 128;

export class Rates {
  readonly #seconds: Second[] = Array.from({ length: KEPT_SECONDS }, () => emptySecond(-1));

  count(what: Counted, atMs: number, amount = 1): void {
    const second = this.#second(atMs);
    if (second !== null) second[what] += amount;
  }

  latency(atMs: number, ms: number): void {
    const second = this.#second(atMs);
    if (second === null) return;
    second.ended += 1;
    if (second.latencies.length < SAMPLE_MAX) second.latencies.push(ms);
    else {
      // R2. Reservoir sampling with a multiplicative hash for a coin: the figures do not need a better one.
      const at = Math.imul(second.ended, 2_654_435_761) >>> 0;
      const place = at % second.ended;
      if (place < SAMPLE_MAX) second.latencies[place] = ms;
    }
  }

  /** The last `seconds` before `nowMs`, in buckets of `bucket` seconds; the second that is under way is left out. */
  series(nowMs: number, seconds: number, bucket: number): RateSeries {
    const end = Math.floor(nowMs / 1_000 / bucket) * bucket;
    const count = Math.floor(seconds / bucket);
    const starts = Array.from({ length: count }, (_, at) => end - (count - at) * bucket);
    const buckets = starts.map((start) => this.#bucket(start, bucket));
    const rate = (what: Counted): readonly number[] => buckets.map((one) => one[what] / bucket);
    const quantile = (q: number): readonly (number | null)[] =>
      buckets.map(({ latencies }) => quantileOf(latencies, q));
    return {
      times: starts,
      started: rate("started"),
      succeeded: rate("succeeded"),
      failed: rate("failed"),
      entries: rate("entries"),
      p50: quantile(0.5),
      p95: quantile(0.95),
    };
  }

  clear(): void {
    for (const second of this.#seconds) Object.assign(second, emptySecond(-1));
  }

  #bucket(start: number, length: number): Second {
    const sum = emptySecond(start);
    for (let at = start; at < start + length; at += 1) {
      const second = this.#seconds[at % KEPT_SECONDS];
      if (second === undefined || second.at !== at) continue;
      sum.started += second.started;
      sum.succeeded += second.succeeded;
      sum.failed += second.failed;
      sum.entries += second.entries;
      sum.latencies.push(...second.latencies);
    }
    sum.latencies.sort((a, b) => a - b);
    return sum;
  }

  /** Null: that is longer ago than what is kept. */
  #second(atMs: number): Second | null {
    const at = Math.floor(atMs / 1_000);
    const second = this.#seconds[at % KEPT_SECONDS];
    if (second === undefined || second.at > at) return null;
    if (second.at < at) Object.assign(second, emptySecond(at));
    return second;
  }
}

function emptySecond(at: number): Second {
  return { at, started: 0, succeeded: 0, failed: 0, entries: 0, ended: 0, latencies: [] };
}

/** @param sorted ascending. */
export function quantileOf(sorted: readonly number[], q: number): number | null {
  if (sorted.length === 0) return null;
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? null;
}
