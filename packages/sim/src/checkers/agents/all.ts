// The checkers of agents, which see nothing where there are none.
//
// A1. No token is paid twice: a call whose result is in the journal is not made again, and no attempt pays for a call twice.
// A2. Nothing is asked of a model behind a turn's back.
// A3. The transcript loses and doubles nothing, and a model is told all of it.
// A4. Messages are seen in order of arrival, and get the answer of the turn that has seen them.
// A5. Exactly one notice of a background sub-agent's end; a cancel reaches them.
// A6. Budgets hold, and lose count of nothing.
// A7. What needs approval does not begin without it.
// A8. Watchers see each try of a model call under its own start.

import type { Checker } from "../checker.ts";
import { createApprovalChecker } from "./approval-checker.ts";
import { createBillChecker } from "./bill-checker.ts";
import { createBudgetChecker } from "./budget-checker.ts";
import { createChildrenChecker } from "./children-checker.ts";
import { createEventsChecker } from "./events-checker.ts";
import { createInboxChecker } from "./inbox-checker.ts";
import { Sessions } from "./sessions.ts";
import { createTranscriptChecker } from "./transcript-checker.ts";

export function createAgentCheckers(): readonly Checker[] {
  const sessions = new Sessions();
  return [
    sessions.checker, // First: the others look at what it has gathered.
    createBillChecker(sessions),
    createTranscriptChecker(sessions),
    createInboxChecker(sessions),
    createChildrenChecker(sessions),
    createBudgetChecker(sessions),
    createApprovalChecker(),
    createEventsChecker(sessions),
  ];
}
