// What the runtime does for agents by runs of its own: budgets, approvals, schedules, the audit log.

import type { RunStatus, RunSummary } from "@perdure/protocol";

export function isOwn({ service }: Pick<RunSummary, "service">): boolean {
  return service.startsWith("perdure.");
}

/** Scheduled are the ticks of schedules, which have a page of their own. */
const WELL: readonly RunStatus[] = ["succeeded", "running", "queued", "scheduled"];

/** A model call alone makes two of them: those that did what they should are not worth a look among the others. */
export function isNoise(run: Pick<RunSummary, "service" | "status">): boolean {
  return isOwn(run) && WELL.includes(run.status);
}
