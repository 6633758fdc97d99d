// Sub-agents in the background (A5): exactly one notice of each one's end, whatever ended it; and a cancel of a turn reaches
// those that it had started.

import type { ChildNotice } from "@perdure/agents";
import { CANCEL_SIGNAL, isFinished, type RunId } from "@perdure/protocol";
import { isAgent } from "../../agents/cast.ts";
import type { Checker, Context } from "../checker.ts";
import { keyText, type ShadowRun } from "../shadow.ts";
import { isTurn, messageOf, type Sessions, sessionOf, turnsIn } from "./sessions.ts";

export function createChildrenChecker(sessions: Sessions): Checker {
  let cancelled: ShadowRun[] = [];
  return {
    name: "children",
    beforeCommit() {
      cancelled = [];
    },
    beforeMutation(context, mutation) {
      if (mutation.type !== "updateRun" || mutation.run.status !== "cancelled") return;
      const run = context.shadow.bySeq.get(mutation.run.seq);
      if (run !== undefined && isTurn(run) && !isFinished(run.record.status)) cancelled.push(run);
    },
    afterCommit(context) {
      for (const run of cancelled) checkReached(context, run);
    },
    observe(context, observation) {
      if (observation.type !== "stored") return;
      checkNotices(context, sessions);
      for (const run of turnsIn(context)) checkWatched(context, run);
    },
  };
}

/** The sub-agents that a turn has started in the background, by what its journal says now. */
function startedBy(context: Context, run: ShadowRun): readonly ShadowRun[] {
  const started: ShadowRun[] = [];
  for (const { entry } of run.entries) {
    if (entry.kind !== "command" || entry.command.type !== "send" || entry.child === undefined) continue;
    const child = context.shadow.run(entry.child);
    if (child === undefined || !isTurn(child)) continue;
    const { from, policy } = messageOf(child);
    if (policy === "queue" && from === run.record.service) started.push(child);
  }
  return started;
}

function checkReached(context: Context, run: ShadowRun): void {
  for (const child of startedBy(context, run)) {
    const { record } = child;
    if (isFinished(record.status) || record.cancelling !== null || isTold(child)) continue;
    context.report(
      "A5",
      `${context.names.of(run.record.id)} is cancelled, and ${context.names.of(record.id)}, which it started, is ${record.status}`,
    );
  }
}

function isTold({ entries }: ShadowRun): boolean {
  return entries.some(({ entry }) => entry.kind === "signal" && entry.signal === CANCEL_SIGNAL);
}

/** A turn that came to its own end has whoever watches what it started. */
function checkWatched(context: Context, run: ShadowRun): void {
  if (run.record.status !== "succeeded" || run.record.generation > 0) return;
  const watched = new Set(watchesIn(context).map(watchedBy));
  for (const { record } of startedBy(context, run))
    if (!watched.has(record.id)) context.report("A5", `nobody watches ${context.names.of(record.id)}`);
}

function watchesIn(context: Context): readonly ShadowRun[] {
  return [...context.shadow.bySeq.values()].filter(
    ({ record, deleted }) => !deleted && isAgent(record.service) && record.handler === "watch",
  );
}

function watchedBy({ record }: ShadowRun): RunId {
  return (JSON.parse(String(record.input)) as { readonly run: RunId }).run;
}

function checkNotices(context: Context, sessions: Sessions): void {
  const notices = new Map<string, ShadowRun[]>();
  for (const run of turnsIn(context)) {
    const { notice } = messageOf(run);
    if (notice === undefined) continue;
    const name = `${sessionOf(run)} ${notice.run}`;
    notices.set(name, [...(notices.get(name) ?? []), run]);
  }
  for (const watch of watchesIn(context)) {
    const { service, key, status } = watch.record;
    const session = keyText({ service, key: key ?? "" });
    const child = watchedBy(watch);
    const told = notices.get(`${session} ${child}`) ?? [];
    if (status === "succeeded" && told.length !== 1)
      context.report("A5", `of the end of ${context.names.of(child)} there are ${told.length} notices`);
    for (const notice of told) checkNotice(context, notice, child, sessions);
  }
}

function checkNotice(context: Context, run: ShadowRun, child: RunId, sessions: Sessions): void {
  const { outcome } = messageOf(run).notice as ChildNotice;
  const ended = context.shadow.run(child)?.record;
  const expected = ended === undefined || ended.generation > 0 ? undefined : OUTCOMES[ended.status];
  if (expected !== undefined && expected !== outcome)
    context.report("A5", `${context.names.of(child)} is ${ended?.status}, and its notice says ${outcome}`);
  if (run.record.generation > 0 || sessions.spliced.has(sessionOf(run))) return;
  const said = sessions
    .of(sessionOf(run))
    .filter(({ item, isCut }) => !isCut && item.type === "message" && item.notice?.run === child);
  if (said.length > 1) context.report("A5", `the end of ${context.names.of(child)} is told ${said.length} times`);
}

const OUTCOMES: Readonly<Partial<Record<ShadowRun["record"]["status"], ChildNotice["outcome"]>>> = {
  succeeded: "answered",
  failed: "failed",
  cancelled: "cancelled",
  killed: "cancelled",
};
