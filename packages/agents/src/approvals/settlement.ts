// How an approval ends, and what is said of it
// ============================================
//
//   open ─┬─▶ approved | rejected   an approver answered
//         ├─▶ expired               its time was over
//         └─▶ withdrawn             whoever asked waits no longer
//
// S1. The workflow's promise `settlement` decides. It is settled once: an answer, the timer and a cancel race for it, the
//     first is kept, and the others learn which that was.

import { ApprovalClosedError, ConflictError, isPerdureError } from "@perdure/protocol";
import type { WorkflowPromise } from "@perdure/sdk";
import type { ApprovalDecision } from "./types.ts";

interface Withdrawn {
  readonly decision: "withdrawn";
  /** Absent where its run was killed: nobody was left to say when. */
  readonly at?: number;
}

export type Settlement = ApprovalDecision | Withdrawn;

/** What the promise holds afterwards: `value` itself (the very object) where it was the first. */
export async function settleOnce<T>(promise: WorkflowPromise<T>, value: T): Promise<T> {
  try {
    await promise.resolve(value);
    return value;
  } catch (error) {
    if (!isPerdureError(error) || error.code !== ConflictError.code) throw error;
    return promise.get();
  }
}

/** Why an answer comes too late. */
export function closedError(id: string, settlement: Settlement): ApprovalClosedError {
  const metadata = {
    state: settlement.decision,
    ...(settlement.at === undefined ? {} : { at: new Date(settlement.at).toISOString() }),
  };
  const when = metadata.at === undefined ? "" : ` at ${metadata.at}`;
  switch (settlement.decision) {
    case "approved":
    case "rejected": {
      const by = settlement.by ?? "somebody";
      const message = `approval ${id} was ${settlement.decision} by ${by}${when} already: the first answer counts`;
      return new ApprovalClosedError(message, { metadata: { ...metadata, by } });
    }
    case "expired":
      return new ApprovalClosedError(`approval ${id} expired${when}: nobody had answered in time`, { metadata });
    case "withdrawn":
      return new ApprovalClosedError(`approval ${id} was withdrawn${when}: the run that asked waits no longer`, {
        metadata,
      });
  }
}
