// What a budget waits for without holding its key: a person's answer, and the end of runs
// ========================================================================================
// Each is a run of its own, started by a one-way send, that tells the budget when it knows. A question that the budget
// withdraws is cancelled, and its approval with it; what it says after that is about a question that is not open any more.

import { newApprovalId } from "../approvals/approval-id.ts";
import { isPerdureError } from "@perdure/protocol";
import type { Context, ServiceDefinition } from "@perdure/sdk";
import { service } from "@perdure/sdk";
import { APPROVALS, type ApprovalDecision, type ApprovalRequest } from "../approvals/types.ts";
import { type AnswerInput, readRaise } from "./messages.ts";

/** The object's name: it refers to this service, so this service knows it by name only. */
export const BUDGETS = "perdure.budgets";

interface AskInput {
  readonly budget: string;
  /** Number of the question in its budget. */
  readonly question: number;
  readonly request: ApprovalRequest;
}

interface WatchInput {
  readonly budget: string;
  readonly run: string;
}

export interface BudgetQuestionHandlers {
  readonly ask: (ctx: Context, input: AskInput) => Promise<void>;
  readonly watch: (ctx: Context, input: WatchInput) => Promise<void>;
}

export const budgetQuestions: ServiceDefinition<BudgetQuestionHandlers> = service(
  "perdure.budgetQuestions",
  {
    /** Asks until there is an answer that can be used. */
    async ask(ctx, { budget, question, request }: AskInput): Promise<void> {
      const tell = (answer: AnswerInput): Promise<unknown> => ctx.send(BUDGETS, budget).answer(answer);
      try {
        let { title } = request;
        for (;;) {
          const id = await newApprovalId(ctx);
          const decision: ApprovalDecision = await ctx.call(APPROVALS, id).run({ ...request, title });
          const word = wordOf(decision);
          if (decision.decision !== "approved") {
            await tell({ question, approved: false, ...word });
            return;
          }
          const raise = readRaise(decision.input ?? request.input);
          if (!("problem" in raise)) {
            await tell({ question, approved: true, raise, ...word });
            return;
          }
          const problem = raise.problem.slice(0, PROBLEM_LENGTH_MAX);
          title = `${request.title} (the answer before could not be used: ${problem})`;
        }
      } catch (error) {
        // Without an answer the tree would wait for ever: that nobody can be asked is a no.
        if (isPerdureError(error) && error.retry === "terminal")
          await tell({ question, approved: false, comment: `nobody could be asked: ${error.message}` });
        throw error;
      }
    },

    /** Tells a budget that a run is over, so that what it still holds is let go. */
    async watch(ctx, { budget, run }: WatchInput): Promise<void> {
      // However it ended. The budget looks for itself, so that a cancel of this watch lets go of nothing that is alive.
      await ctx
        .run(run)
        .result()
        .catch(() => undefined);
      await ctx.send(BUDGETS, budget).reap({ run });
    },
  },
  // A watch is sent under a key, so that a run is watched once by a budget. Should the run be revived and wait again, the
  // watch that has ended must not stand in the way of a new one.
  { internal: true, retention: "1m" },
);

/** A title is one line. */
const PROBLEM_LENGTH_MAX = 200;

function wordOf({ decision, by, comment }: ApprovalDecision): { readonly by?: string; readonly comment?: string } {
  const said = comment ?? (decision === "expired" ? "nobody answered in time" : undefined);
  return { ...(by === undefined ? {} : { by }), ...(said === undefined ? {} : { comment: said }) };
}
