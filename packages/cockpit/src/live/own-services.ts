// What the runtime does for agents by runs of its own: budgets, approvals, schedules, the audit log.

import type { RunSummary } from "@perdure/protocol";

export function isOwn({ service }: Pick<RunSummary, "service">): boolean {
  return service.startsWith("perdure.");
}

/** A model call alone makes two of them: those that did what they should are not worth a look among the others. */
export function isNoise(run: Pick<RunSummary, "service" | "status">): boolean {
  return isOwn(run) && (run.status === "succeeded" || run.status === "running" || run.status === "queued");
}
