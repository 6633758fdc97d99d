// The questions that are open now, shared by all who show them, and read anew when one of them changes.

import { useQuery, useQueryClient, type UseQueryResult } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import type { ApiEvent, ApprovalPage, ApprovalSummary } from "@perdure/protocol";
import { useApi } from "../app/app-context.ts";
import { useLiveEvents } from "../live/use-live.ts";

export const APPROVALS_SERVICE = "perdure.approvals";
const OPEN_MAX = 500;
const LOOK_MS = 250;

export function useOpenApprovals(): UseQueryResult<readonly ApprovalSummary[]> {
  const api = useApi();
  return useQuery({
    queryKey: ["approvals", "open"],
    queryFn: async ({ signal }) => {
      const query = { status: "open", limit: OPEN_MAX };
      return (await api.get<ApprovalPage>("/approvals", { query, signal })).approvals;
    },
  });
}

/** Keeps all lists of approvals fresh; one in a page, in the frame around every view. */
export function useApprovalWatch(): void {
  const queries = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useLiveEvents((events) => {
    if (!events.some(concernsApprovals)) return;
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      void queries.invalidateQueries({ queryKey: ["approvals"] });
    }, LOOK_MS);
  });
  useEffect(() => () => clearTimeout(timer.current), []);
}

/** Runs of the question itself: shows and answers are others. */
function concernsApprovals(event: ApiEvent): boolean {
  if (event.type !== "run") return event.type === "reset";
  return event.run.service === APPROVALS_SERVICE && event.run.handler === "run";
}

/** What asks for a person in a tree of sessions: the session itself, those below it, and its budget. */
export function concernsSession(approval: ApprovalSummary, agent: string, session: string): boolean {
  if (approval.session?.startsWith(`${session}/`) === true) return true;
  if (approval.agent !== null) return approval.agent === agent && approval.session === session;
  const budget = budgetOf(approval);
  return budget === `${agent}/${session}` || budget?.includes(`/${session}/`) === true;
}

/** Whose budget it is about. */
export function budgetOf({ kind, details }: Pick<ApprovalSummary, "kind" | "details">): string | null {
  return kind === "budget" ? textIn(details, "budget") : null;
}

/** Why it asks, as the agent's rules say it. */
export function whyOf({ details }: Pick<ApprovalSummary, "details">): string | null {
  return textIn(details, "why");
}

function textIn(details: ApprovalSummary["details"], name: string): string | null {
  if (typeof details !== "object" || details === null || Array.isArray(details)) return null;
  const value = (details as Readonly<Record<string, unknown>>)[name];
  return typeof value === "string" ? value : null;
}
