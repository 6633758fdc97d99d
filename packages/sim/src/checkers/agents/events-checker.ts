// What watchers see of a model call (A8): the parts of the try whose answer is in the transcript are that answer, from its
// `call-start` to its `call-end`; what an earlier try had written stands before it, under a start of its own.

import { type AgentEvent, type AssistantItem, EVENTS } from "@perdure/agents";
import type { Checker, Context } from "../checker.ts";
import { type ShadowRun, streamsText } from "../shadow.ts";
import { type Sessions, sessionOf, turnsIn } from "./sessions.ts";

/** One try of a model call, as it was written. */
interface Try {
  readonly call: string;
  readonly attempt: string;
  text: string;
  outcome: string;
}

export function createEventsChecker(sessions: Sessions): Checker {
  return {
    name: "events",
    observe(context, observation) {
      if (observation.type !== "stored") return;
      const tries = new Map<string, readonly Try[]>();
      for (const run of turnsIn(context)) {
        const session = sessionOf(run);
        if (sessions.spliced.has(session)) continue;
        const seen = tries.get(session) ?? triesOf(context, run);
        tries.set(session, seen);
        if (run.record.status !== "succeeded") continue; // A call that a cancel has caught has nobody to tell of it.
        for (const { item } of sessions.by(run))
          if (item.type === "assistant") checkAnswer(context, session, item, seen);
      }
    },
  };
}

function triesOf(context: Context, run: ShadowRun): readonly Try[] {
  const items = context.shadow.streams.get(streamsText(run.record, EVENTS))?.items ?? [];
  const tries: Try[] = [];
  for (const payload of items) {
    const event = JSON.parse(String(payload)) as AgentEvent;
    if (event.type === "call-start") tries.push({ call: event.call, attempt: event.attempt, text: "", outcome: "cut" });
    if (event.type !== "part" && event.type !== "call-end") continue;
    const last = tries.at(-1);
    if (last?.call !== event.call || last.attempt !== event.attempt || last.outcome !== "cut")
      context.report(
        "A8",
        `in ${sessionOf(run)} a ${event.type} of try ${event.attempt} of ${event.call} has no start`,
      );
    else if (event.type === "call-end") last.outcome = event.outcome;
    else if (event.part.type === "text-delta") last.text += event.part.delta;
  }
  return tries;
}

function checkAnswer(context: Context, session: string, item: AssistantItem, tries: readonly Try[]): void {
  const said = item.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
  const outcome = item.partial === true ? "interrupted" : "settled";
  const found = tries.findLast((one) => one.call === item.call && one.outcome === outcome);
  if (found === undefined && item.partial === true && said === "") return; // It was interrupted before anything came.
  if (found?.text !== said)
    context.report("A8", `in ${session} ${item.call} ${outcome} with "${said}"; watchers saw "${String(found?.text)}"`);
}
