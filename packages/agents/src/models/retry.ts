// When a call tries again by itself: soon, and a few times only. Anything longer is for the step around the call, whose
// waits are journaled and survive the process.

import type { GatewayPorts } from "./types.ts";

export interface RetryOptions {
  /** Tries after the first, for each model. Default: 2. */
  readonly retriesMax?: number;
  /** The first wait. Default: 500. */
  readonly initialMs?: number;
  /** Each wait is so many times the one before. Default: 2. */
  readonly factor?: number;
  /** A provider that asks for a longer wait than this is not waited for. Default: 5 000. */
  readonly waitMsMax?: number;
}

export class RetryPlan {
  readonly #retriesMax: number;
  readonly #initialMs: number;
  readonly #factor: number;
  readonly #waitMsMax: number;

  constructor(options: RetryOptions = {}) {
    this.#retriesMax = options.retriesMax ?? 2;
    this.#initialMs = options.initialMs ?? 500;
    this.#factor = options.factor ?? 2;
    this.#waitMsMax = options.waitMsMax ?? 5_000;
  }

  /**
   * How long to wait after `tries` failed tries; undefined: not here, not now. Jitter spreads what failed together; where
   * the provider said when to come back, only to the later side.
   */
  waitMs(tries: number, retryAfterMs: number | undefined, ports: Pick<GatewayPorts, "random">): number | undefined {
    if (tries > this.#retriesMax || (retryAfterMs ?? 0) > this.#waitMsMax) return undefined;
    const random = ports.random();
    const backoff = Math.min(this.#waitMsMax, this.#initialMs * this.#factor ** (tries - 1));
    return Math.round(Math.max(backoff * (0.75 + random / 2), (retryAfterMs ?? 0) * (1 + random / 10)));
  }
}
