// The transcript (A3): each message is in it at most once, an answered one is; each tool call of an answer has one result, and
// no result is there without its call. That items are appended once, and stay, is the stream checker's.

import type { AgentAnswer, TranscriptItem } from "@perdure/agents";
import type { Checker, Context } from "../checker.ts";
import type { ShadowRun } from "../shadow.ts";
import { type SessionItem, type Sessions, sessionOf, turnsIn } from "./sessions.ts";

export function createTranscriptChecker(sessions: Sessions): Checker {
  /** Messages as they were seen: a message that is restarted is said again. */
  const seen = new Map<string, SessionItem>();
  return {
    name: "transcripts",
    afterCommit(context) {
      for (const fresh of sessions.fresh) {
        if (fresh.item.type === "message") checkMessage(context, fresh, seen, sessions.spliced.has(fresh.session));
        else if (fresh.item.type === "tool") checkResult(context, fresh, sessions);
      }
    },
    observe(context, observation) {
      if (observation.type !== "stored") return;
      for (const run of turnsIn(context)) {
        if (run.record.status !== "succeeded") continue;
        checkSeen(context, run, sessions);
        checkCalls(context, run, sessions);
      }
    },
  };
}

function checkMessage(context: Context, fresh: SessionItem, seen: Map<string, SessionItem>, spliced: boolean): void {
  const { item, session, offset } = fresh;
  if (item.type !== "message") return;
  const run = context.shadow.run(item.id);
  const name = `${item.id} ${run?.record.generation ?? 0}`;
  const before = seen.get(name);
  seen.set(name, fresh);
  if (spliced) return;
  if (before !== undefined && !before.isCut)
    context.report("A3", `${context.names.of(item.id)} is said at ${before.offset} and at ${offset} of ${session}`);
}

function checkResult(context: Context, fresh: SessionItem, sessions: Sessions): void {
  const { item, session, offset, run } = fresh;
  if (item.type !== "tool") return;
  const own = sessions.by(run).filter((one) => one.offset < offset);
  if (!own.some((one) => callsOf(one.item).includes(item.callId)))
    context.report("A3", `item ${offset} of ${session} is the result of a call that was not made: ${item.callId}`);
  const before = own.find((one) => one.item.type === "tool" && one.item.callId === item.callId);
  if (before !== undefined)
    context.report("A3", `${item.callId} has its result at ${before.offset} and at ${offset} of ${session}`);
}

/** An answer was given to what was seen. */
function checkSeen(context: Context, run: ShadowRun, sessions: Sessions): void {
  const { id, result } = run.record;
  const session = sessionOf(run);
  if (sessions.of(session).some(({ item }) => item.type === "message" && item.id === id)) return;
  const { reason } = JSON.parse(String(result?.kind === "value" ? result.value : "{}")) as AgentAnswer;
  context.report("A3", `${context.names.of(id)} is ${reason}, and the transcript of ${session} does not have it`);
}

function checkCalls(context: Context, run: ShadowRun, sessions: Sessions): void {
  const own = sessions.by(run);
  const results = new Set(own.map(({ item }) => (item.type === "tool" ? item.callId : "")));
  for (const { item, offset, session } of own)
    for (const call of callsOf(item))
      if (!results.has(call)) context.report("A3", `${call}, asked at ${offset} of ${session}, has no result`);
}

/** A partial answer's calls were not made. */
function callsOf(item: TranscriptItem): readonly string[] {
  if (item.type !== "assistant" || item.partial === true) return [];
  return item.content.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : []));
}
