// Approvals: a workflow whose run is a question, open until somebody answers, time is over, or nobody asks any more
// ==============================================================================================================
//   ctx.call(approvals, await newApprovalId(ctx)).run(request)       asks, and waits: a minute or a month
//   ctx.call(approvals, id).answer({ decision: "approved", by: "ada" })
//   ctx.call(approvals, id).show()
//
// All that is known of an approval stands in two promises of its workflow, `question` and `settlement`, and goes when its
// run does. Open approvals are the unfinished runs of the handler `run`.
//
// P1. Of all answers, the timer and a cancel exactly one ends it (S1), and `run` returns what those who answer were told.
// P2. Only who is among the approvers by then can answer, and only before it expires (Q1, Q2).
// P3. A cancel of whoever asks withdraws it (E7): `run` is a call, and so in the tree. A kill leaves no word.
// P4. The audit log has, in this order: asked, each escalation, and how it ended; and every answer that was refused to
//     somebody who is no approver. All but the last are written by `run`, before it returns.
//
// The handlers are internal. `by` is only as true as whoever calls: other handlers, and the server's route, which knows
// whom it talks to.

import {
  ApprovalNotFoundError,
  CancelledError,
  isPerdureError,
  NotAnApproverError,
  RunNotFoundError,
  ValidationError,
} from "@perdure/protocol";
import type {
  DefinedHandler,
  SharedHandler,
  WorkflowContext,
  WorkflowDefinition,
  WorkflowPromise,
  WorkflowSharedContext,
} from "@perdure/sdk";
import { handler, shared, workflow } from "@perdure/sdk";
import { isApprovalId } from "./approval-id.ts";
import type { Question } from "./question.ts";
import { approversAt, hasExpired, questionOf } from "./question.ts";
import { reportAsked, reportEscalated, reportRefused, reportSettled } from "./reports.ts";
import { answerSchema, requestSchema } from "./schemas.ts";
import type { Settlement } from "./settlement.ts";
import { closedError, settleOnce } from "./settlement.ts";
import type { ApprovalAnswer, ApprovalDecision, ApprovalRequest, ApprovalView } from "./types.ts";
import { APPROVALS } from "./types.ts";

export type ApprovalHandlers = {
  /** Asks, and waits for the decision. */
  readonly run: DefinedHandler<WorkflowContext, [input: ApprovalRequest], ApprovalDecision>;
  /** Answers. Throws ApprovalNotFoundError (404), ApprovalClosedError (409) or NotAnApproverError (403). */
  readonly answer: SharedHandler<WorkflowSharedContext, [input: ApprovalAnswer], ApprovalDecision>;
  /** Throws ApprovalNotFoundError (404). */
  readonly show: SharedHandler<WorkflowSharedContext, [], ApprovalView>;
};

export const approvals: WorkflowDefinition<ApprovalHandlers> = workflow<ApprovalHandlers>(
  APPROVALS,
  {
    run: handler({ input: requestSchema, description: "Asks, and waits for the decision." }, run),
    answer: shared({ input: answerSchema, description: "Answers.", retention: "1d" }, answer),
    show: shared({ description: "Shows an approval.", retention: "1h" }, show),
  },
  { internal: true, description: "Questions to people, and their answers." },
);

async function run(ctx: WorkflowContext, request: ApprovalRequest): Promise<ApprovalDecision> {
  if (!isApprovalId(ctx.key)) {
    throw new ValidationError(
      `"${ctx.key}" could be guessed, and whoever holds the id of an approval may answer it: take newApprovalId(ctx)`,
    );
  }
  let settlement: Settlement;
  try {
    settlement = await ask(ctx, request);
  } catch (error) {
    if (error instanceof CancelledError) await withdraw(ctx);
    throw error;
  }
  reportSettled(ctx, request, settlement);
  if (settlement.decision === "withdrawn") throw new CancelledError(closedError(ctx.key, settlement).message); // Restarted.
  return settlement;
}

async function ask(ctx: WorkflowContext, request: ApprovalRequest): Promise<Settlement> {
  const now = await ctx.now();
  reportAsked(ctx, questionOf(request, ctx.runId, now)); // With the question in one turn: no cancel comes between.
  const question = await settleOnce(questionIn(ctx), questionOf(request, ctx.runId, now));
  const { escalations, expiresAt } = question;
  const sleepUntil = (at: number, name: string): Promise<void> => ctx.sleep(Math.max(0, at - now), name);

  const settlement = settlementIn(ctx);
  const answered = settlement.get();
  const escalating = escalations.map((escalation) => ({ escalation, due: sleepUntil(escalation.at, "escalate") }));
  const expiring = expiresAt === undefined ? undefined : sleepUntil(expiresAt, "expire");

  for (const { escalation, due } of escalating) {
    const answer = await Promise.race([answered, due]);
    if (answer !== undefined) return answer;
    reportEscalated(ctx, question, escalation);
  }
  if (expiring === undefined || expiresAt === undefined) return answered;
  const answer = await Promise.race([answered, expiring]);
  return answer ?? settleOnce<Settlement>(settlement, { decision: "expired", at: expiresAt });
}

/** The run was cancelled. If it had asked, nobody can answer any more, and the log says how it ended. */
async function withdraw(ctx: WorkflowContext): Promise<void> {
  const question = await despiteCancels(() => questionIn(ctx).peek());
  if (question === undefined) return;
  const at = await despiteCancels(() => ctx.now());
  const settlement = await despiteCancels(() =>
    settleOnce<Settlement>(settlementIn(ctx), { decision: "withdrawn", at }),
  );
  reportSettled(ctx, question.request, settlement); // An answer that was first has been given, though nobody acts on it.
}

/** A run can be cancelled again while it compensates. @param task may be begun again. */
async function despiteCancels<T>(task: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await task();
    } catch (error) {
      if (!(error instanceof CancelledError)) throw error;
    }
  }
}

async function answer(ctx: WorkflowSharedContext, given: ApprovalAnswer): Promise<ApprovalDecision> {
  const { question, settlement, now } = await look(ctx);
  if (settlement !== undefined) throw closedError(ctx.key, settlement);
  const approvers = approversAt(question, now);
  if (approvers !== undefined && !approvers.includes(given.by)) {
    reportRefused(ctx, question, given);
    const metadata = { by: given.by, approvers: approvers.join(", ") };
    throw new NotAnApproverError(
      `"${given.by}" may not answer approval ${ctx.key}: ${approvers.join(", ") || "nobody"} may, now`,
      { metadata },
    );
  }
  const decision: ApprovalDecision = { ...given, at: now };
  const first = await settleOnce<Settlement>(settlementIn(ctx), decision);
  if (first !== decision) throw closedError(ctx.key, first);
  return decision;
}

async function show(ctx: WorkflowSharedContext): Promise<ApprovalView> {
  const { question, settlement, now } = await look(ctx);
  const { request, run: asking, askedAt, expiresAt, escalations } = question;
  const approvers = settlement === undefined ? approversAt(question, now) : [];
  return {
    id: ctx.key,
    run: asking,
    state: settlement?.decision ?? "open",
    request,
    ...(approvers === undefined ? {} : { approvers }),
    askedAt,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    escalations,
    ...endOf(settlement),
  };
}

function endOf(settlement: Settlement | undefined): Pick<ApprovalView, "decision" | "withdrawnAt"> {
  if (settlement === undefined) return {};
  if (settlement.decision !== "withdrawn") return { decision: settlement };
  return settlement.at === undefined ? {} : { withdrawnAt: settlement.at };
}

// What those who look from beside see
// -----------------------------------

interface Look {
  readonly question: Question;
  /** Undefined: it is open. */
  readonly settlement: Settlement | undefined;
  readonly now: number;
}

/** @throws ApprovalNotFoundError */
async function look(ctx: WorkflowSharedContext): Promise<Look> {
  const [question, settled, now] = await Promise.all([questionIn(ctx).peek(), settlementIn(ctx).peek(), ctx.now()]);
  if (question === undefined) throw notFound(ctx.key);
  if (settled !== undefined) return { question, settlement: settled, now };
  if (hasExpired(question, now)) {
    const { expiresAt = now } = question;
    return { question, settlement: { decision: "expired", at: expiresAt }, now }; // Its timer is about to say so.
  }
  return { question, settlement: await afterEnd(ctx, question), now };
}

/** How it ended where its run is over: undefined while that waits for an answer. */
async function afterEnd(ctx: WorkflowSharedContext, question: Question): Promise<Settlement | undefined> {
  let failure: unknown;
  try {
    const output = await ctx.run(question.run).output();
    if (!output.ready) return undefined;
  } catch (error) {
    failure = error;
  }
  const settled = await settlementIn(ctx).peek(); // It ended just now.
  if (settled !== undefined) return settled;
  if (!isPerdureError(failure) || failure instanceof CancelledError) throw failure; // Who looks was cancelled itself.
  if (failure.code === RunNotFoundError.code) throw notFound(ctx.key);
  return { decision: "withdrawn" }; // It was killed.
}

function notFound(id: string): ApprovalNotFoundError {
  return new ApprovalNotFoundError(`there is no approval ${id}: it was never asked, or its retention is over`);
}

function questionIn(ctx: WorkflowSharedContext): WorkflowPromise<Question> {
  return ctx.promise<Question>("question");
}

function settlementIn(ctx: WorkflowSharedContext): WorkflowPromise<Settlement> {
  return ctx.promise<Settlement>("settlement");
}
