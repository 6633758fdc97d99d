// How a run is doing, for those who need no more than that.

import { CancelledError, isPerdureError, KilledError, RunNotFoundError, type RunId } from "@perdure/protocol";
import type { ObjectSharedContext } from "@perdure/sdk";
import type { StartedRunStatus } from "./types.ts";

export async function statusOf(ctx: ObjectSharedContext, run: RunId): Promise<StartedRunStatus> {
  try {
    return (await ctx.run(run).output()).ready ? "succeeded" : "going";
  } catch (error) {
    return failedStatus(error);
  }
}

function failedStatus(error: unknown): StartedRunStatus {
  switch (isPerdureError(error) ? error.code : undefined) {
    case CancelledError.code:
    case KilledError.code:
      return "cancelled";
    case RunNotFoundError.code:
      return "gone"; // Its retention is over.
    default:
      return "failed";
  }
}
