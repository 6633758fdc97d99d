// What an approval takes: requests and answers that mean something.

import { isPerdureError, parseDuration } from "@perdure/protocol";
import type { StandardSchema } from "@perdure/sdk";
import * as z from "zod";
import type { ApprovalAnswer, ApprovalRequest } from "./types.ts";

const NAME_LENGTH_MAX = 200;
const SESSION_LENGTH_MAX = 1_024;
const TITLE_LENGTH_MAX = 1_000;
const COMMENT_LENGTH_MAX = 10_000;
const APPROVERS_MAX = 100;
const ESCALATIONS_MAX = 20;

const name = z.string().min(1).max(NAME_LENGTH_MAX);
const names = z.array(name).max(APPROVERS_MAX);
const duration = z.union([z.number(), z.string()]).superRefine((value, issues) => {
  try {
    parseDuration(value);
  } catch (error) {
    if (!isPerdureError(error)) throw error;
    // What looks at the whole request relies on its durations.
    issues.addIssue({ code: "custom", message: error.message, continue: false });
  }
});

export const requestSchema: StandardSchema<ApprovalRequest> = z
  .strictObject({
    kind: z.enum(["tool", "budget", "custom"]),
    title: z.string().min(1).max(TITLE_LENGTH_MAX),
    agent: name.exactOptional(),
    session: z.string().max(SESSION_LENGTH_MAX).exactOptional(),
    tool: name.exactOptional(),
    input: z.unknown().exactOptional(),
    details: z.unknown().exactOptional(),
    approvers: names.exactOptional(),
    expires: duration.exactOptional(),
    escalate: z
      .array(z.strictObject({ after: duration, to: names.min(1) }))
      .max(ESCALATIONS_MAX)
      .exactOptional(),
  })
  .superRefine((request, issues) => {
    const escalations = request.escalate ?? [];
    if (request.approvers?.length === 0 && escalations.length === 0) {
      const message = "nobody could ever answer: name an approver, escalate to one, or leave approvers out";
      issues.addIssue({ code: "custom", path: ["approvers"], message });
    }
    if (request.expires === undefined) return;
    const expiresMs = parseDuration(request.expires);
    escalations.forEach(({ after }, index) => {
      if (parseDuration(after) < expiresMs) return;
      const message = `${after} is not before the approval expires (${request.expires}): nobody would be told`;
      issues.addIssue({ code: "custom", path: ["escalate", index, "after"], message });
    });
  });

export const answerSchema: StandardSchema<ApprovalAnswer> = z
  .strictObject({
    decision: z.enum(["approved", "rejected"]),
    by: name,
    input: z.unknown().exactOptional(),
    comment: z.string().max(COMMENT_LENGTH_MAX).exactOptional(),
  })
  .superRefine((answer, issues) => {
    if (answer.decision === "approved" || answer.input === undefined) return;
    const message = "what is rejected is not done, so its input cannot be edited: leave it out, or approve";
    issues.addIssue({ code: "custom", path: ["input"], message });
  });
