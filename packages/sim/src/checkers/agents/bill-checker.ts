// No token is paid twice (A1), and no model is asked behind a turn's back (A2).
//
// What a host that has lost the partition asks and pays cannot be prevented: it does not know yet.

import type { Observation } from "../../observations.ts";
import { type Checker, type Context, isCurrent, type SeenAttempt } from "../checker.ts";
import { messageOf, type SessionItem, type Sessions, sessionOf, turnsIn } from "./sessions.ts";

type Asked = Extract<Observation, { type: "asked-model" }>;
type Paid = Extract<Observation, { type: "paid-model" }>;

export function createBillChecker(sessions: Sessions): Checker {
  /** The attempts that were seen when they asked: those that are over leave the context. */
  const askers = new Map<number, SeenAttempt>();
  const paid = new Set<string>();
  /** What calls were told, the last time that they were made. */
  const heard = new Map<string, string>();
  return {
    name: "bill",
    afterCommit(context) {
      for (const fresh of sessions.fresh) checkHeard(context, fresh, heard, sessions);
    },
    observe(context, observation) {
      if (observation.type === "asked-model") {
        const attempt = askerOf(context, observation);
        if (attempt !== undefined) askers.set(attempt.number, attempt);
        heard.set(nameOf(observation), observation.heard);
        checkAsked(context, observation, attempt);
      } else if (observation.type === "paid-model") {
        checkPaid(context, observation, askers.get(observation.attempt ?? -1), paid);
      } else if (observation.type === "stored") checkAnswers(context, sessions, paid);
    },
  };
}

function askerOf(context: Context, { attempt }: Asked): SeenAttempt | undefined {
  return attempt === null ? undefined : context.attempts.get(attempt);
}

function nameOf({ run, generation, command }: Pick<Asked, "run" | "generation" | "command">): string {
  return `${run} ${generation} ${command}`;
}

function checkAsked(context: Context, asked: Asked, attempt: SeenAttempt | undefined): void {
  const { names, report, shadow } = context;
  const name = `model call ${asked.command} of ${names.of(asked.run)}`;
  if (attempt === undefined) {
    report("A2", `${name} asks, and no attempt of its run is live there`);
    return;
  }
  const run = shadow.run(asked.run);
  if (run === undefined || !isCurrent(context, attempt) || run.record.generation !== asked.generation) return;
  const isDoomed = run.entries.some(({ entry }) => entry.kind === "resumed" && entry.index > attempt.told);
  if (run.completed.has(asked.command) && !isDoomed) report("A1", `${name} asks again, its result is in the journal`);
}

/** All messages that were seen since the conversation was told in short, or begun anew, are in what a model was told. */
function checkHeard(
  context: Context,
  fresh: SessionItem,
  heard: ReadonlyMap<string, string>,
  sessions: Sessions,
): void {
  const { item: answer, session, offset: end, run, command } = fresh;
  if (answer.type !== "assistant" || sessions.spliced.has(session)) return;
  const { id, generation } = run.record;
  const told = heard.get(nameOf({ run: id, generation, command }));
  if (told === undefined) return; // It was interrupted before it was sent.
  const before = sessions.of(session).filter(({ offset }) => offset < end);
  const begin = Math.max(0, ...before.map(({ item }) => (item.type === "compaction" ? item.upTo : 0)));
  const calledOff = before.flatMap(({ item, offset }) =>
    item.type === "restart" ? [[item.from, offset] as const] : [],
  );
  for (const { item, offset } of before) {
    if (item.type !== "message" || offset < begin || told.includes(item.text)) continue;
    if (calledOff.some(([from, to]) => offset >= from && offset <= to)) continue;
    context.report("A3", `${end} of ${session} was asked for without item ${offset} of the transcript: ${item.text}`);
  }
}

function checkPaid(context: Context, bill: Paid, attempt: SeenAttempt | undefined, paid: Set<string>): void {
  const { names, report, shadow } = context;
  const { run: id, generation, command } = bill;
  const name = `model call ${command} of ${names.of(id)}`;
  paid.add(nameOf(bill));
  const call = `attempt ${attempt?.number ?? "?"} ${command}`;
  if (attempt !== undefined && paid.has(call)) report("A1", `${name} is paid twice by one attempt`);
  paid.add(call);
  const run = shadow.run(id);
  if (attempt === undefined || run === undefined || !isCurrent(context, attempt)) return;
  const isLast = context.lastAttempt.get(id) === attempt && attempt.over === null;
  if (isLast && run.record.generation === generation && run.completed.has(command))
    report("A1", `${name} is paid again, its result is in the journal`);
}

/** What stands in a transcript as an answer was delivered by a provider. */
function checkAnswers(context: Context, sessions: Sessions, paid: ReadonlySet<string>): void {
  for (const run of turnsIn(context)) {
    if (run.record.generation > 0) continue;
    for (const { item, offset, command } of sessions.by(run)) {
      if (item.type !== "assistant" || item.partial === true) continue;
      if (!paid.has(`${run.record.id} 0 ${command}`))
        context.report("A1", `item ${offset} of ${sessionOf(run)} was answered by nobody to ${messageOf(run).text}`);
    }
  }
}
