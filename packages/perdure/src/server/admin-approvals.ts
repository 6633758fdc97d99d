// Questions to people: which are open, how the others ended, and the answer to one.

import type { FastifyInstance } from "fastify";
import {
  APPROVALS,
  approversAt,
  questionOf,
  type ApprovalDecision,
  type ApprovalRequest,
  type ApprovalView,
} from "@perdure/agents";
import {
  isFinished,
  type ApprovalAnswerRequest,
  type ApprovalDecisionView,
  type ApprovalPage,
  type ApprovalSummary,
  type Instant,
  type Run,
} from "@perdure/protocol";
import { UNFINISHED } from "./agent-runs.ts";
import { callApproval } from "./approvals.ts";
import type { AdminOptions, ServedRuntime } from "./context.ts";
import { ANSWER_BODY, answers, APPROVALS_QUERY, params, ref } from "./schemas.ts";
import { instantText, payloadView } from "./views.ts";

const tags = ["agents"];
const APPROVAL_BYTES_MAX = 65_536;
const FINISHED = ["succeeded", "failed", "cancelled", "killed"] as const;

export function approvalRoutes(
  app: FastifyInstance,
  runtime: ServedRuntime,
  { validateInput }: Pick<AdminOptions, "validateInput">,
): void {
  app.get<{ Querystring: { status: "open" | "closed" | "all"; limit: number; cursor?: number } }>(
    "/approvals",
    {
      schema: {
        tags,
        summary: "Questions to people, newest first; the ids are secrets: whoever holds one may answer",
        querystring: APPROVALS_QUERY,
        response: answers(ref("ApprovalPage")),
      },
    },
    async ({ query: { status, limit, cursor } }): Promise<ApprovalPage> => {
      const wanted = status === "all" ? {} : { status: status === "open" ? UNFINISHED : FINISHED };
      const page = cursor === undefined ? {} : { cursor };
      const runs = await runtime.reader.runs({ service: APPROVALS, handler: "run", ...wanted, ...page, limit });
      const last = runs.length < limit ? undefined : runs.at(-1);
      return { approvals: summaries(runs, Date.now()), nextCursor: last?.seq ?? null };
    },
  );
  app.get<{ Params: { id: string } }>(
    "/approvals/:id",
    {
      schema: {
        tags,
        summary: "One question: what will be done, who may answer, how it ended",
        params: params("id"),
        response: answers({ type: "object" }),
      },
    },
    async ({ params: { id } }) => callApproval<ApprovalView>(runtime, validateInput, id, "show"),
  );
  app.post<{ Params: { id: string }; Body: ApprovalAnswerRequest }>(
    "/approvals/:id",
    {
      schema: {
        tags,
        summary: "Answers it: 403 who may not, 409 where somebody has",
        params: params("id"),
        body: ANSWER_BODY,
        response: answers({ type: "object" }),
      },
    },
    async ({ params: { id }, body }) => callApproval<ApprovalDecision>(runtime, validateInput, id, "answer", body),
  );
}

export async function openApprovals(
  runtime: ServedRuntime,
  now: Instant,
  limit: number,
): Promise<readonly ApprovalSummary[]> {
  return summaries(await runtime.reader.runs({ service: APPROVALS, handler: "run", status: UNFINISHED, limit }), now);
}

function summaries(runs: readonly Run[], now: Instant): readonly ApprovalSummary[] {
  return runs.flatMap((run) => (typeof run.input === "string" ? [approvalSummary(run, run.input, now)] : []));
}

/** From the run of the question alone: nothing is started for a look. It was asked when its run was made, give or take. */
function approvalSummary(run: Run, input: string, now: Instant): ApprovalSummary {
  const request = JSON.parse(input) as ApprovalRequest;
  const question = questionOf(request, run.id, run.createdAt);
  const isOpen = !isFinished(run.status);
  const approvers = isOpen ? approversAt(question, now) : [];
  const decision = decisionOf(run);
  return {
    id: run.key ?? "",
    state: isOpen ? "open" : (decision?.decision ?? "withdrawn"), // Cancelled, killed, or refused to ask.
    kind: request.kind,
    title: request.title,
    agent: request.agent ?? null,
    session: request.session ?? null,
    tool: request.tool ?? null,
    input: shown(request.input),
    approvers: approvers ?? null,
    askedAt: instantText(run.createdAt),
    ageMs: now - run.createdAt,
    expiresAt: question.expiresAt === undefined ? null : instantText(question.expiresAt),
    runId: run.id,
    askedBy: run.parent?.run ?? null,
    details: shown(request.details),
    decision: decision === undefined ? null : decisionView(decision),
  };
}

function decisionOf({ result }: Run): ApprovalDecision | undefined {
  return result?.kind === "value" ? (JSON.parse(String(result.value)) as ApprovalDecision) : undefined;
}

function decisionView({ by, at, comment, input }: ApprovalDecision): ApprovalDecisionView {
  return {
    at: instantText(at),
    ...(by === undefined ? {} : { by }),
    ...(comment === undefined ? {} : { comment }),
    ...(input === undefined ? {} : { input: shown(input) }),
  };
}

function shown(value: unknown): ApprovalSummary["input"] {
  return value === undefined ? null : payloadView(JSON.stringify(value), APPROVAL_BYTES_MAX);
}
