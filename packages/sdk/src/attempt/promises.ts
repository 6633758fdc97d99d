// Promises that are not waits: settled at once, or never.

import type { Result } from "@perdure/protocol";
import { errorFromFailure } from "@perdure/protocol";
import { decode } from "../json.ts";

/** Code may hold a promise and look at it later: a rejection of ours is never an unhandled one. */
export function ignoreRejection(promise: Promise<unknown>): void {
  promise.catch(ignore);
}

function ignore(): void {}

/** What code gets that has no business going on. */
export function never(): Promise<never> {
  return new Promise(() => {});
}

export function rejected(error: unknown): Promise<never> {
  const promise = Promise.reject<never>(error);
  ignoreRejection(promise);
  return promise;
}

export function settledNow(result: Result): Promise<unknown> {
  if (result.kind === "void") return Promise.resolve(undefined);
  if (result.kind === "failure") return rejected(errorFromFailure(result.failure));
  try {
    return Promise.resolve(decode(result.value));
  } catch (error) {
    return rejected(error);
  }
}
