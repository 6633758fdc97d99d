// What the audit log hears of an approval. Subject is always its id.

import type { WorkflowSharedContext } from "@perdure/sdk";
import { recordAudit } from "../audit/audit.ts";
import type { Escalation, Question } from "./question.ts";
import { askerOf } from "./question.ts";
import type { Settlement } from "./settlement.ts";
import type { ApprovalAnswer, ApprovalRequest } from "./types.ts";

/** Who acts when time does. */
const PERDURE = "perdure";

export function reportAsked(ctx: WorkflowSharedContext, question: Question): void {
  const { request, askedAt, expiresAt } = question;
  const { kind, title, tool, input, approvers } = request;
  const details = { kind, title, tool, input, approvers, askedAt, expiresAt };
  recordAudit(ctx, { actor: askerOf(request), action: "approval.asked", subject: ctx.key, details });
}

export function reportEscalated(ctx: WorkflowSharedContext, question: Question, escalation: Escalation): void {
  const details = { title: question.request.title, to: escalation.to, at: escalation.at };
  recordAudit(ctx, { actor: PERDURE, action: "approval.escalated", subject: ctx.key, details });
}

export function reportSettled(ctx: WorkflowSharedContext, request: ApprovalRequest, settlement: Settlement): void {
  const { decision, ...how } = settlement;
  const details = { title: request.title, ...how };
  recordAudit(ctx, { actor: actorOf(request, settlement), action: `approval.${decision}`, subject: ctx.key, details });
}

function actorOf(request: ApprovalRequest, settlement: Settlement): string {
  switch (settlement.decision) {
    case "approved":
    case "rejected":
      return settlement.by ?? PERDURE;
    case "expired":
      return PERDURE;
    case "withdrawn":
      return askerOf(request);
  }
}

/** Somebody tried to answer who may not. */
export function reportRefused(ctx: WorkflowSharedContext, question: Question, given: ApprovalAnswer): void {
  const details = { title: question.request.title, decision: given.decision };
  recordAudit(ctx, { actor: given.by, action: "approval.refused", subject: ctx.key, details });
}
