// E5: what was accepted is delivered: a signal stands in the journal, a run is not suspended on what has already come, a
// child's end reaches its parent, and a live attempt is told.

import { type Awaiting, CANCEL_SIGNAL, type Entry, isFinished, type Run } from "@perdure/protocol";
import type { Observation } from "../observations.ts";
import type { Checker, Committed, Context } from "./checker.ts";
import { isCurrent, isLive } from "./checker.ts";
import type { ShadowRun } from "./shadow.ts";

/** A live attempt that was not told of a notification for so long will not be told at all. */
const UNTOLD_MS_MAX = 5_000;

export function createDeliveryChecker(): Checker {
  let suspended: Run[] = [];
  let ended: Run[] = [];
  return {
    name: "delivery",
    beforeCommit() {
      suspended = [];
      ended = [];
    },
    beforeMutation(context, mutation) {
      if (mutation.type !== "updateRun") return;
      const { run } = mutation;
      const before = context.shadow.bySeq.get(run.seq)?.record.status;
      if (run.status === "suspended" && before !== "suspended") suspended.push(run);
      if (isFinished(run.status) && before !== undefined && !isFinished(before)) ended.push(run);
    },
    afterCommit(context, commit) {
      for (const run of suspended) checkSuspended(context, run, commit);
      for (const run of ended) checkParent(context, run);
    },
    observe(context, observation) {
      if (observation.type === "replied") checkReply(context, observation);
      else if (observation.type === "pulse") checkTold(context, observation.tick);
    },
  };
}

function checkSuspended(context: Context, record: Run, commit: Committed): void {
  const run = context.shadow.bySeq.get(record.seq);
  const attempt = context.lastAttempt.get(record.id);
  if (
    run === undefined ||
    attempt?.seen == null ||
    attempt.epoch !== commit.commit.epoch ||
    attempt.start.generation !== record.generation
  )
    return;
  for (const { entry } of run.entries) {
    if (entry.index <= attempt.seen || !isAwaited(run.record.awaiting ?? [], entry)) continue;
    context.report(
      "E5",
      `${context.names.of(record.id)} is suspended, and entry ${entry.index} (${entry.kind}) had come: its attempt had seen ${attempt.seen}`,
    );
  }
}

/** A cancel is awaited by everybody. */
function isAwaited(awaiting: readonly Awaiting[], entry: Entry): boolean {
  if (entry.kind === "completion") return awaiting.some((item) => item.kind === "completion" && item.id === entry.id);
  if (entry.kind !== "signal") return false;
  return (
    entry.signal === CANCEL_SIGNAL || awaiting.some((item) => item.kind === "signal" && item.signal === entry.signal)
  );
}

function checkParent(context: Context, record: Run): void {
  const { parent } = record;
  if (parent === null || !parent.awaited) return;
  const run = context.shadow.run(parent.run);
  if (run === undefined || run.record.seq > record.seq) return; // The parent was deleted; another run bears its id.
  if (isFinished(run.record.status) || run.completed.has(parent.command)) return;
  const held = run.record.cancelling?.held.some(({ command }) => command === parent.command) === true;
  if (!held && parent.command <= run.commands)
    context.report(
      "E5",
      `${context.names.of(record.id)} has ended, and ${context.names.of(parent.run)}, which awaits it, is not told`,
    );
}

function hasCancel(run: ShadowRun): boolean {
  return run.entries.some(({ entry }) => entry.kind === "signal" && entry.signal === CANCEL_SIGNAL);
}

function checkReply(context: Context, { question, reply }: Extract<Observation, { type: "replied" }>): void {
  if (reply.type !== "done") return;
  if (question.type === "signal") {
    const run = context.shadow.runs.get(question.run);
    if (run?.signals.has(JSON.stringify(question.payload)) !== true)
      context.report("E5", `a signal to ${context.names.of(question.run)} was accepted and is not in the journal`);
  } else if (question.type === "cancel" && reply.status !== null && !isFinished(reply.status)) {
    const run = context.shadow.run(question.run);
    if (run === undefined || run.reborn || isFinished(run.record.status) || run.record.generation > 0) return;
    if (run.record.cancelling === null && !hasCancel(run))
      context.report("E5", `a cancel of ${context.names.of(question.run)} was accepted and is nowhere`);
  }
}

function checkTold(context: Context, tick: number): void {
  for (const attempt of context.lastAttempt.values()) {
    if (!isLive(attempt) || !isCurrent(context, attempt)) continue;
    const run = context.shadow.run(attempt.start.run);
    if (run === undefined || run.record.generation !== attempt.start.generation) continue;
    const untold = run.entries.find(
      ({ entry, tick: at }) =>
        entry.index > attempt.told &&
        (entry.kind === "completion" || entry.kind === "signal") &&
        at + UNTOLD_MS_MAX < tick,
    );
    if (untold !== undefined)
      context.report(
        "E5",
        `attempt ${attempt.number} of ${context.names.of(attempt.start.run)} was never told of entry ${untold.entry.index}`,
      );
  }
}
