// Why a run is where it is, in a few words, from its summary alone.

import type { RunSummary } from "@perdure/protocol";
import type { Format } from "../i18n/format.ts";
import type { Messages } from "../i18n/messages.ts";

type Told = Pick<RunSummary, "status" | "failure" | "pausedBy" | "retry" | "awaiting" | "scheduledAt" | "cancelling">;

export function reasonOf(run: Told, now: number, t: Messages, format: Format): string {
  const says = t.run.reason;
  if (run.failure !== null) return firstLine(run.failure.message);
  if (run.status === "paused") return run.pausedBy === null ? says.pausedByPerson : firstLine(run.pausedBy.message);
  if (run.cancelling !== null) return says.cancelling(run.cancelling.waitingFor.length);
  if (run.status === "retrying" && run.retry !== null) {
    const next = run.retry.at === null ? "" : format.relative(Date.parse(run.retry.at), now);
    return says.retrying(run.retry.tries, next, firstLine(run.retry.failure.message));
  }
  if (run.status === "scheduled" && run.scheduledAt !== null)
    return says.starts(format.relative(Date.parse(run.scheduledAt), now));
  if (run.status === "queued") return says.queued;
  return run.status === "suspended" ? awaitedOf(run, now, t, format) : "";
}

function awaitedOf({ awaiting }: Told, now: number, t: Messages, format: Format): string {
  const says = t.run.reason;
  // An agent listens to its inbox whatever else it waits for.
  const named = awaiting?.filter((one) => one.kind !== "signal" || !String(one.signal).startsWith("perdure."));
  const first = named?.find(({ kind }) => kind === "signal") ?? named?.[0] ?? awaiting?.[0];
  if (first === undefined) return "";
  switch (first.kind) {
    case "signal":
      return first.awakeable === undefined ? says.signal(String(first.signal)) : says.awakeable;
    case "time":
      return says.until(format.relative(Date.parse(first.at), now));
    case "completion":
      return says.command(first.id);
  }
}

function firstLine(text: string): string {
  const end = text.indexOf("\n");
  return end < 0 ? text : text.slice(0, end);
}
