// Asking a runtime that may be away: it was killed, perhaps, and comes back. What it says for good is thrown.

import { setTimeout as sleep } from "node:timers/promises";
import { UnreachableError } from "@perdure/protocol";
import { InterruptedError, RefusedError } from "../errors.ts";

const RETRY_MS_FIRST = 250;
const RETRY_MS_MAX = 5_000;

/** @param ask must be repeatable. @param onAway said once, when it does not answer. */
export async function patiently<T>(ask: () => Promise<T>, signal: AbortSignal, onAway: () => void): Promise<T> {
  for (let delay = RETRY_MS_FIRST; ; delay = Math.min(delay * 2, RETRY_MS_MAX)) {
    try {
      return await ask();
    } catch (error) {
      if (!isPassing(error)) throw error;
    }
    if (delay === RETRY_MS_FIRST) onAway();
    await sleep(delay, undefined, { signal }).catch(() => {
      throw new InterruptedError();
    });
  }
}

function isPassing(error: unknown): boolean {
  return error instanceof UnreachableError || (error instanceof RefusedError && error.code === "P0037");
}
