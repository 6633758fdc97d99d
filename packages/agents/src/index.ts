// Budgets: what a tree of agents may use.
export { budgets, type BudgetHandlers } from "./budget/budgets.ts";
export { estimateTokens, type EstimateOptions, type TokenEstimate } from "./budget/estimate.ts";
export { reserveBudget, type ActualUse, type BudgetLease, type CallEstimate, type TokenPrice } from "./budget/lease.ts";
export { budgetQuestions, type BudgetQuestionHandlers } from "./budget/questions.ts";
export type { BudgetLimits, BudgetRaise, BudgetStatus } from "./budget/types.ts";
