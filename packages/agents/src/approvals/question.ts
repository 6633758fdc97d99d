// A question as it was asked, with its durations turned into times
// =================================================================
// Who may answer and until when follows from the question and the time alone, not from whether a timer has fired: after
// downtime, timers and answers come in any order.
//
// Q1. From `expiresAt` on nobody may answer.
// Q2. From an escalation's `at` on, its `to` may answer beside those who might before.

import type { RunId } from "@perdure/protocol";
import { parseDuration } from "@perdure/protocol";
import type { ApprovalRequest } from "./types.ts";

export interface Escalation {
  readonly at: number;
  readonly to: readonly string[];
}

export interface Question {
  readonly request: ApprovalRequest;
  /** Who waits for the answer. */
  readonly run: RunId;
  readonly askedAt: number;
  readonly expiresAt?: number;
  /** In order of time. */
  readonly escalations: readonly Escalation[];
}

export function questionOf(request: ApprovalRequest, run: RunId, askedAt: number): Question {
  const escalations = (request.escalate ?? [])
    .map(({ after, to }) => ({ at: askedAt + parseDuration(after), to }))
    .sort((a, b) => a.at - b.at);
  const { expires } = request;
  return {
    request,
    run,
    askedAt,
    ...(expires === undefined ? {} : { expiresAt: askedAt + parseDuration(expires) }),
    escalations,
  };
}

/** Names that may answer at `now`; undefined: anyone who holds the id. */
export function approversAt(question: Question, now: number): readonly string[] | undefined {
  const { approvers } = question.request;
  if (approvers === undefined) return undefined;
  const told = question.escalations.filter(({ at }) => at <= now).flatMap(({ to }) => to);
  return [...new Set([...approvers, ...told])];
}

export function hasExpired(question: Question, now: number): boolean {
  return question.expiresAt !== undefined && question.expiresAt <= now;
}

/** Who asks, for the audit log. */
export function askerOf({ agent, session }: ApprovalRequest): string {
  if (agent === undefined) return "unnamed";
  return session === undefined ? agent : `${agent}/${session}`;
}
