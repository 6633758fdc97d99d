// An approval: a question to a person, and the answer. Asked by `ctx.call(approvals, id).run(request)`, where `id` is
// unguessable (whoever holds it may answer, if they are among the approvers).

import type { DurationLike } from "@perdure/protocol";

export interface ApprovalRequest {
  /** What is asked about: a tool call, more budget, or something of the caller's own. */
  readonly kind: "tool" | "budget" | "custom";
  /** One line for people: `publish "The report" to the web`. */
  readonly title: string;
  readonly agent?: string;
  readonly session?: string;
  readonly tool?: string;
  /** What will be done if it is approved; an approver may edit it. */
  readonly input?: unknown;
  /** Anything that helps to decide. */
  readonly details?: unknown;
  /** Names that may answer; absent: anyone who holds the id. */
  readonly approvers?: readonly string[];
  /** Counts from the question. Absent: it waits for ever. */
  readonly expires?: DurationLike;
  /** Who else may answer, and is told, after how long (from the question). */
  readonly escalate?: readonly { readonly after: DurationLike; readonly to: readonly string[] }[];
}

export interface ApprovalDecision {
  readonly decision: "approved" | "rejected" | "expired";
  /** What to do instead of what was asked (approve with edits). */
  readonly input?: unknown;
  /** Who answered; absent where it expired. */
  readonly by?: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly comment?: string;
}

/** The name of the workflow that asks. */
export const APPROVALS = "perdure.approvals";
