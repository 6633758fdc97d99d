// Options of what `ctx` offers.

import type { DurationLike, Headers } from "@perdure/protocol";
import type { AbortSignalLike } from "../ports.ts";
import type { StreamWriter } from "./streams.ts";

/** How often and how fast something that failed is tried again. What is left out is the default. */
export interface RetryOptions {
  /** Wait before the second try. Default 500 ms. */
  readonly initial?: DurationLike;
  /** Each wait is this many times the one before. Default 2. */
  readonly factor?: number;
  /** No wait is longer. Default one minute. */
  readonly max?: DurationLike;
  /** Tries in all. Default: for ever. */
  readonly maxAttempts?: number;
  /** After the last try: `pause` the run for a person (default), or `throw` into the handler, which may catch it. */
  readonly onExhausted?: "pause" | "throw";
}

/** What a step's function gets. */
export interface StepInfo {
  /** Stable over tries, crashes and replays: hand it to the outside world, so that it can recognise a repetition. */
  readonly idempotencyKey: string;
  /** From 1. */
  readonly attempt: number;
  /** Fires when the step's time is over, when the run is cancelled, and when this host lets go of the run. */
  readonly signal: AbortSignalLike;
  /** A stream of the handler's, for what cannot wait until the step has ended: `info.stream("events").write(token)`. */
  stream<T = unknown>(name: string): StreamWriter<T>;
}

/** What is known about an effect that was begun and not recorded. */
export type Reconciled<T> = { readonly happened: true; readonly value: T } | { readonly happened: false } | "unknown";

export interface StepOptions<T = unknown> {
  readonly retry?: RetryOptions;
  /** A try that takes longer is aborted and counts as failed. */
  readonly timeout?: DurationLike;
  /** Write the intent down first, and never run the effect blindly a second time. */
  readonly atMostOnce?: boolean;
  /** Appends the result to the stream of this name. The journal then only says where it stands: it is stored once. */
  readonly into?: string;
  /** For `atMostOnce`: ask the outside world what became of the effect. Without it a person is asked. */
  readonly reconcile?: (info: Pick<StepInfo, "idempotencyKey" | "signal">) => Promise<Reconciled<T>> | Reconciled<T>;
}

export interface CallOptions {
  /** The same key names the same run of the target, whoever asks. */
  readonly idempotencyKey?: string;
  readonly headers?: Headers;
}

export interface SendOptions extends CallOptions {
  /** Start that much later. */
  readonly delay?: DurationLike;
  /** Start at this time. */
  readonly at?: Date | number;
}
