// E3: at most one exclusive run per key has its turn, in order of arrival. A run arrives when it is stored in another
// status than `scheduled`, when its start time has come, and when it is revived by a restart.

import { isFinished, type Run } from "@perdure/protocol";
import type { Checker, Committed, Context } from "./checker.ts";
import { isCurrent, isLive } from "./checker.ts";
import { keyText } from "./shadow.ts";

interface Arrival {
  readonly seq: number;
  readonly number: number;
}

interface Change {
  readonly run: Run;
  readonly before: Run | null;
}

export function createKeyChecker(): Checker {
  const queues = new Map<string, Arrival[]>();
  let changes: Change[] = [];
  let arrivals = 0;
  return {
    name: "keys",
    beforeCommit() {
      changes = [];
    },
    beforeMutation(context, mutation) {
      const before =
        mutation.type === "updateRun" ? (context.shadow.bySeq.get(mutation.run.seq)?.record ?? null) : null;
      if ((mutation.type === "insertRun" || mutation.type === "updateRun") && isExclusive(mutation.run))
        changes.push({ run: mutation.run, before });
    },
    afterCommit(context, commit) {
      const arrived = changes.filter(
        ({ run, before }) =>
          hasArrived(run.status) && (before === null || !hasArrived(before.status) || before.arrival !== run.arrival),
      );
      arrived.sort((a, b) => a.run.arrival - b.run.arrival);
      for (const { run } of arrived) {
        if (run.arrival <= arrivals)
          context.report("E3", `${context.names.of(run.id)} arrives as number ${run.arrival} after number ${arrivals}`);
        arrivals = run.arrival;
        const text = keyText({ service: run.service, key: run.key ?? "" });
        const queue = queues.get(text);
        const arrival = { seq: run.seq, number: run.arrival };
        if (queue === undefined) queues.set(text, [arrival]);
        else queue.push(arrival);
      }
      for (const [text, queue] of queues) checkQueue(context, text, queue, commit);
    },
    observe(context, observation) {
      if (observation.type === "started") checkStart(context, observation.attempt);
    },
  };
}

function hasArrived(status: Run["status"]): boolean {
  return status !== "scheduled" && !isFinished(status);
}

function isExclusive(run: Run): boolean {
  return (run.mode === "exclusive" || run.mode === "workflow") && run.key !== null;
}

/** Only the first of those that have arrived and not ended may have its turn. */
function checkQueue(context: Context, text: string, queue: Arrival[], commit: Committed): void {
  const { shadow, names, report } = context;
  for (let i = queue.length - 1; i >= 0; i -= 1) {
    const run = shadow.bySeq.get(queue[i]?.seq ?? 0);
    if (run === undefined || run.deleted || isFinished(run.record.status) || run.record.arrival !== queue[i]?.number)
      queue.splice(i, 1);
  }
  const [first, ...others] = queue;
  if (first === undefined) return;
  for (const { seq } of others) {
    const run = shadow.bySeq.get(seq);
    const holder = shadow.bySeq.get(first.seq);
    if (run === undefined || holder === undefined || run.record.status === "queued") continue;
    report(
      "E3",
      `at tick ${commit.tick} ${names.of(run.record.id)} is ${run.record.status} on ${text}, whose turn is ${names.of(holder.record.id)}'s (${holder.record.status})`,
    );
  }
  const holder = shadow.bySeq.get(first.seq);
  if (holder?.record.status === "queued")
    report("E3", `nobody has the turn of ${text}, and ${names.of(holder.record.id)} waits for it`);
}

function checkStart(context: Context, number: number): void {
  const attempt = context.attempts.get(number);
  if (attempt === undefined || !isCurrent(context, attempt)) return;
  const { run, key, service, mode } = attempt.start;
  if (key === null || mode === "shared") return;
  for (const other of context.attempts.values()) {
    const { start } = other;
    if (other === attempt || !isLive(other) || !isCurrent(context, other) || start.run === run) continue;
    if (start.key === key && start.service === service && start.mode !== "shared")
      context.report(
        "E3",
        `${context.names.of(run)} and ${context.names.of(start.run)} are executed on ${service}/${key} at once`,
      );
  }
}
