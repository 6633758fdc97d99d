// The executor: begins attempts for the engine, and looks after the ones that are blocked.
//
// X1. `start` returns before the attempt says anything.
// X2. Blocked attempts cost no timer each: one sweep looks at all of them, and rests while there are none.

import type { Attempt, AttemptReplies, AttemptStart, Executor, RetryPolicy } from "@perdure/protocol";
import { DEFAULT_RETRY } from "@perdure/protocol";
import type { RetryOptions } from "../context/options.ts";
import { resolveRetry } from "../definitions/manifest.ts";
import type { Registry } from "../definitions/registry.ts";
import type { SdkPorts } from "../ports.ts";
import type { AttemptOptions } from "./attempt-options.ts";
import { ReplayAttempt } from "./replay-attempt.ts";
import { Turns } from "./turns.ts";
import { unknownTarget } from "./unknown-target.ts";

export interface ExecutorOptions {
  /** How long a blocked attempt stays in memory before it suspends. 0: not at all. Default one second. */
  readonly suspendAfterMs?: number;
  /** How long replayed code may go without asking for what is recorded before it is taken to have diverged. */
  readonly divergenceGraceMs?: number;
  /** For steps that say nothing else. */
  readonly stepRetry?: RetryOptions;
}

const SUSPEND_AFTER_MS = 1_000;
/** Long enough for code that loads a module at its start, short enough for somebody who watches. */
const DIVERGENCE_GRACE_MS = 3_000;
/** Sweeps in the time that an attempt may stay blocked: it suspends late by at most that fraction. */
const SWEEPS_PER_SUSPENSION = 2;
const SWEEP_EVERY_MS_MIN = 10;

export function createExecutor(registry: Registry, ports: SdkPorts, options: ExecutorOptions = {}): Executor {
  const defaultRetry: RetryPolicy = options.stepRetry === undefined ? DEFAULT_RETRY : resolveRetry(options.stepRetry);
  for (const prepare of registry.prepare) prepare(ports);
  return new SdkExecutor(registry, ports, {
    defaultRetry,
    suspendAfterMs: options.suspendAfterMs ?? SUSPEND_AFTER_MS,
    divergenceGraceMs: options.divergenceGraceMs ?? DIVERGENCE_GRACE_MS,
  });
}

class SdkExecutor implements Executor {
  readonly #registry: Registry;
  readonly #ports: SdkPorts;
  readonly #options: AttemptOptions;
  readonly #live = new Set<ReplayAttempt>();
  readonly #resolved: Promise<void> = Promise.resolve();
  readonly #sweepEveryMs: number;
  #sweeping = false;

  constructor(
    registry: Registry,
    ports: SdkPorts,
    options: Pick<AttemptOptions, "defaultRetry" | "suspendAfterMs" | "divergenceGraceMs">,
  ) {
    this.#registry = registry;
    this.#ports = ports;
    const turns = new Turns(
      (callback) => ports.afterMicrotasks(callback),
      (callback) => (ports.afterTicks ?? ports.afterMicrotasks)(callback),
    );
    this.#options = { ...options, ports, turns, ended: (attempt) => this.#live.delete(attempt) };
    this.#sweepEveryMs = Math.max(SWEEP_EVERY_MS_MIN, Math.ceil(options.suspendAfterMs / SWEEPS_PER_SUSPENSION));
  }

  start(start: AttemptStart, replies: AttemptReplies): Attempt {
    const attempt = new ReplayAttempt(start, replies, this.#options);
    const spec = this.#registry.find(start.service, start.handler);
    this.#live.add(attempt);
    if (spec === undefined) {
      const failure = unknownTarget(this.#registry, start.service, start.handler).toFailure();
      void this.#resolved.then(() => attempt.fail({ failure, behavior: "pause" }));
    } else {
      void this.#resolved.then(() => attempt.run(spec, start));
    }
    this.#planSweep();
    return attempt;
  }

  #planSweep(): void {
    if (
      this.#sweeping ||
      this.#options.suspendAfterMs === 0 ||
      this.#options.suspendAfterMs === Number.POSITIVE_INFINITY
    )
      return;
    this.#sweeping = true;
    this.#ports.delay(this.#sweepEveryMs, () => {
      this.#sweeping = false;
      const now = this.#ports.now();
      for (const attempt of this.#live) attempt.sweep(now);
      if (this.#live.size > 0) this.#planSweep();
    });
  }
}
