// Names by which people reach agents and what agents are made of, and what they read of an approval.

import { ALL_SWITCHES, type AgentMessage, APPROVALS, type ApprovalRequest, budgets, CONTROLS } from "@perdure/agents";
import type { Payload } from "@perdure/protocol";

export { ALL_SWITCHES, type AgentMessage, APPROVALS, CONTROLS };

export const BUDGETS: string = budgets.name;
/** The handler that ends a turn. */
export const STOP = "stop";

export type Approval = Pick<ApprovalRequest, "kind" | "input" | "tool">;

export function approvalOf(input: Payload | null): Approval {
  return JSON.parse(String(input)) as Approval;
}

export function isBudgetQuestion({ kind }: Approval): boolean {
  return kind === "budget";
}
