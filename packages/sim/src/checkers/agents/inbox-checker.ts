// The inbox (A4): messages of one policy are seen in the order of their arrival, and a message that another turn has seen gets
// that turn's answer, once it has one. That every message's run ends is E8.

import type { AgentAnswer } from "@perdure/agents";
import { isFinished } from "@perdure/protocol";
import type { Checker, Context } from "../checker.ts";
import { type SessionItem, type Sessions, sessionOf, turnsIn } from "./sessions.ts";

export function createInboxChecker(sessions: Sessions): Checker {
  /** By session and policy: the arrival that was seen last. */
  const latest = new Map<string, number>();
  return {
    name: "inboxes",
    afterCommit(context) {
      for (const fresh of sessions.fresh) if (!sessions.spliced.has(fresh.session)) checkOrder(context, fresh, latest);
    },
    observe(context, observation) {
      if (observation.type === "stored") checkAnswers(context, sessions);
    },
  };
}

/** A person who restarts a run says it again, later. */
function checkOrder(context: Context, { item, session, run }: SessionItem, latest: Map<string, number>): void {
  if (item.type !== "message") return;
  const message = context.shadow.run(item.id)?.record;
  if (message === undefined || message.generation > 0 || run.record.generation > 0) return;
  const lane = `${session} ${item.policy}`;
  const before = latest.get(lane) ?? 0;
  if (message.arrival < before)
    context.report(
      "A4",
      `in ${session} a message (${item.policy}) that arrived as ${message.arrival} is seen after ${before}`,
    );
  latest.set(lane, Math.max(before, message.arrival));
}

function checkAnswers(context: Context, sessions: Sessions): void {
  for (const run of turnsIn(context)) {
    if (run.record.status !== "succeeded" || run.record.generation > 0 || sessions.spliced.has(sessionOf(run)))
      continue;
    for (const { item } of sessions.by(run)) {
      if (item.type !== "message" || item.id === run.record.id) continue;
      const message = context.shadow.run(item.id)?.record;
      if (message === undefined || message.generation > 0 || !isFinished(message.status)) continue;
      const { result } = message;
      if (result?.kind !== "value") continue; // It was cancelled, or killed, by itself.
      const { turn } = JSON.parse(String(result.value)) as AgentAnswer;
      if (turn !== run.record.id)
        context.report(
          "A4",
          `${context.names.of(item.id)} was seen by ${context.names.of(run.record.id)}, and answered by ${context.names.of(turn)}`,
        );
    }
  }
}
