// F1, F2: a fork begins as its origin was: its first entries are the origin's, one by one. What its prefix still waits for, it
// gets: the results of the children that it shares, which it does not own. (That none of its finished effects runs again is
// what E2 says of any run.) What a run was before it was rewound is whole, and has ended.

import { type Entry, isFinished } from "@perdure/protocol";
import type { Checker, Context } from "./checker.ts";
import { asRead, type ShadowRun } from "./shadow.ts";

export const forkChecker: Checker = {
  name: "forks",
  beforeMutation(context, mutation) {
    if (mutation.type !== "appendEntry") return;
    const run = context.shadow.bySeq.get(mutation.run);
    if (run !== undefined && context.shadow.isCopy(run, mutation.entry)) checkCopy(context, run, mutation.entry);
  },
  afterCommit(context, { commit }) {
    for (const seq of context.shadow.fresh) checkWhole(context, seq);
    for (const mutation of commit.mutations)
      if (mutation.type === "updateRun" && isFinished(mutation.run.status)) checkShared(context, mutation.run.id);
  },
};

function checkCopy(context: Context, run: ShadowRun, entry: Entry): void {
  const { shadow, names, report } = context;
  const { forkedFrom } = run.record;
  const origin = forkedFrom === null ? undefined : shadow.run(forkedFrom.run);
  // A prefix may come from further back than the run that was forked, which may be gone, or have been cut since.
  if (origin === undefined || origin.record.generation > 0 || origin.reborn) return;
  const known = origin.entries[entry.index - 1]?.entry;
  if (known === undefined || textOf(shadow.readable(origin, asRead(known))) !== textOf(asRead(entry)))
    if (known === undefined || textOf(asRead(known)) !== textOf(asRead(entry)))
      report(
        "F1",
        `entry ${entry.index} of ${names.of(run.record.id)} is not the one of ${names.of(origin.record.id)}`,
      );
}

function textOf(entry: Entry): string {
  const sorted = (_: string, part: unknown): unknown =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part;
  return JSON.stringify(entry, sorted);
}

function checkWhole({ shadow, names, report }: Context, seq: number): void {
  const run = shadow.bySeq.get(seq);
  const { forkedFrom } = run?.record ?? { forkedFrom: null };
  if (run === undefined || forkedFrom === null) return;
  if (run.entries.length < forkedFrom.entry)
    report(
      "F1",
      `${names.of(run.record.id)} has ${run.entries.length} of the ${forkedFrom.entry} entries of its origin`,
    );
}

/** The run has ended: whoever has called it, or shares the call, has been told. */
function checkShared({ shadow, names, report }: Context, ended: ShadowRun["record"]["id"]): void {
  for (const run of shadow.runs.values()) {
    const { forkedFrom, status } = run.record;
    if (forkedFrom === null || run.deleted || isFinished(status)) continue;
    for (const { entry } of run.entries) {
      if (entry.index > forkedFrom.entry) break;
      if (entry.kind !== "command" || entry.command.type !== "call" || entry.child !== ended) continue;
      if (!run.completed.has(entry.id))
        report("F2", `${names.of(ended)} has ended, and ${names.of(run.record.id)}, which shares it, is not told`);
    }
  }
}
