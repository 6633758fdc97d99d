// How far a message is: accepted (its run is stored), seen (the transcript has it), answered (its run has ended)
// =============================================================================================================
// R1. A receipt never goes back: what was answered was seen or never will be.

import { isFinished, type RunStatus } from "@perdure/protocol";

export type Receipt = "accepted" | "seen" | "answered" | "failed" | "withdrawn";

/** @param status of the message's run; undefined where it is not known (any more). */
export function receiptOf(isSeen: boolean, status: RunStatus | undefined): Receipt {
  if (status === undefined || !isFinished(status)) return isSeen ? "seen" : "accepted";
  switch (status) {
    case "succeeded":
      return "answered";
    case "failed":
      return "failed";
    default:
      return "withdrawn"; // Cancelled or killed: nobody will answer.
  }
}
