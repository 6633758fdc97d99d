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

/** What an approver says. */
export interface ApprovalAnswer {
  readonly decision: "approved" | "rejected";
  /** Who says it, by the name under which the approvers are listed. Whoever calls the handler vouches for it. */
  readonly by: string;
  /** What to do instead of what was asked: goes with `approved` only. */
  readonly input?: unknown;
  readonly comment?: string;
}

/**
 * `open` until one of the others. `withdrawn`: whoever asked waits no longer, since its run was cancelled or killed.
 */
export type ApprovalState = "open" | ApprovalDecision["decision"] | "withdrawn";

/** An approval as people see it. */
export interface ApprovalView {
  readonly id: string;
  /** The run that waits. */
  readonly run: string;
  readonly state: ApprovalState;
  readonly request: ApprovalRequest;
  /** Who may answer now; absent: anyone who holds the id. Empty where nobody may: not yet, or no longer. */
  readonly approvers?: readonly string[];
  /** Milliseconds since the epoch, as all times here. */
  readonly askedAt: number;
  readonly expiresAt?: number;
  /** In order of time. From `at` on, `to` may answer too. */
  readonly escalations: readonly { readonly at: number; readonly to: readonly string[] }[];
  /** Where it was answered or has expired. */
  readonly decision?: ApprovalDecision;
  /** Where its run was cancelled. */
  readonly withdrawnAt?: number;
}

/** The name of the workflow that asks. */
export const APPROVALS = "perdure.approvals";
