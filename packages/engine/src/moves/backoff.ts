// Exponential backoff with jitter. The jitter is a function of the run and the try, so that a decision stays pure, and
// runs that failed together do not come back together.

import type { DurationMs, RetryPolicy } from "@perdure/protocol";

/** The wait before try `tries + 1`, between half and all of the exponential value. */
export function backoffMs(policy: RetryPolicy, tries: number, seed: number): DurationMs {
  const full = Math.min(policy.maxMs, policy.initialMs * policy.factor ** Math.min(tries - 1, 1_000));
  return Math.round(full * (0.5 + 0.5 * hash01(seed, tries)));
}

/** A value in [0, 1) from two integers: the finalizer of MurmurHash3 (public domain, A. Appleby). */
function hash01(a: number, b: number): number {
  let hash = (Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b)) >>> 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 4_294_967_296;
}
