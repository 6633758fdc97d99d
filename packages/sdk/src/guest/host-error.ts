// How a function of the host failed, as code in-process would have met it: what the error's class decides (is it final, is it
// tried again, does a person have to look) is decided alike, and an error of somebody else keeps its name.

import { errorFromFailure, PerdureError, type Failure, type RetryClass } from "@perdure/protocol";
import type { CallOutcome } from "./wire.ts";

type FailedCall = Extract<CallOutcome, { readonly kind: "failure" }>;

export function errorOf({ failure, name, retry = "terminal", retryAfterMs }: FailedCall): Error {
  if (failure.errorCode === undefined) return new HostError(failure, name, retryAfterMs);
  return retry === "terminal" ? errorFromFailure(failure) : new UnfinishedError(failure, name, retry, retryAfterMs);
}

class HostError extends Error {
  override readonly name: string;
  /** Where steps look for it. */
  readonly retryAfter: number | undefined;

  constructor({ message, stack }: Failure, name: string, retryAfter: number | undefined) {
    super(message);
    this.name = name;
    this.retryAfter = retryAfter;
    if (stack !== undefined) this.stack = stack;
  }
}

/** An error of ours that does not end the run. */
class UnfinishedError extends PerdureError {
  override readonly name: string;
  readonly retryAfter: number | undefined;
  readonly #failure: Failure;
  readonly #retry: RetryClass;

  constructor(failure: Failure, name: string, retry: RetryClass, retryAfter: number | undefined) {
    super(failure.message, failure.metadata === undefined ? {} : { metadata: failure.metadata });
    this.name = name;
    this.retryAfter = retryAfter;
    this.#failure = failure;
    this.#retry = retry;
  }

  override get code(): string {
    return this.#failure.errorCode ?? PerdureError.code;
  }

  override get retry(): RetryClass {
    return this.#retry;
  }

  override get status(): number {
    return this.#failure.code;
  }
}
