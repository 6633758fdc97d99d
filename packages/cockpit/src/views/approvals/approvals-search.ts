// What of the approvals is shown, as it stands in the address.

import type { ApprovalSummary } from "@perdure/protocol";

export interface ApprovalsSearch {
  readonly tab?: "closed" | "audit";
  readonly kind?: ApprovalSummary["kind"];
  /** Words that a question has. */
  readonly find?: string;
  /** The question that is looked at. */
  readonly id?: string;
}

const KINDS = ["tool", "budget", "custom"] as const;

export function readApprovalsSearch(raw: Readonly<Record<string, unknown>>): ApprovalsSearch {
  const { tab, find, id } = raw;
  const kind = KINDS.find((known) => known === raw["kind"]);
  return {
    ...(tab === "closed" || tab === "audit" ? { tab } : {}),
    ...(kind === undefined ? {} : { kind }),
    ...(typeof find === "string" && find !== "" ? { find } : {}),
    ...(typeof id === "string" && id !== "" ? { id } : {}),
  };
}

/** Those that fit, the longest wait first where they are open. */
export function foundApprovals(
  approvals: readonly ApprovalSummary[],
  { tab, kind, find = "" }: ApprovalsSearch,
): readonly ApprovalSummary[] {
  const words = find.toLowerCase().split(/\s+/).filter(Boolean);
  const found = approvals.filter(
    (approval) =>
      (kind === undefined || approval.kind === kind) && words.every((word) => textOf(approval).includes(word)),
  );
  return tab === undefined ? found.toSorted((a, b) => (a.askedAt < b.askedAt ? -1 : 1)) : found;
}

function textOf({ title, agent, session, tool, id, decision }: ApprovalSummary): string {
  return [title, agent, session, tool, id, decision?.by ?? ""].join(" ").toLowerCase();
}
