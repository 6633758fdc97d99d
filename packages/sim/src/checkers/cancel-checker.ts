// E7: a cancel reaches the code of a run only when all its children have ended; what had finished stays as it was; and what
// the code had called all the same, before it learned of its cancel, is cancelled as it ends by it.

import { CANCEL_SIGNAL, isFinished, type RunId } from "@perdure/protocol";
import type { Checker, Context } from "./checker.ts";
import type { ShadowRun } from "./shadow.ts";

export function createCancelChecker(): Checker {
  /** Children that were open when their parent was told, in this commit. */
  let open: { readonly parent: RunId; readonly child: ShadowRun }[] = [];
  /** Runs that were told of a child's end while they were being cancelled. */
  let early: { readonly run: ShadowRun; readonly generation: number }[] = [];
  /** Runs that end by their cancel. */
  let ended: ShadowRun[] = [];
  return {
    name: "cancels",
    beforeCommit() {
      open = [];
      early = [];
      ended = [];
    },
    beforeMutation(context, mutation) {
      if (mutation.type === "appendEntry") {
        const run = context.shadow.bySeq.get(mutation.run);
        if (run === undefined) return;
        const { entry } = mutation;
        if (entry.kind === "signal" && entry.signal === CANCEL_SIGNAL)
          for (const child of openChildren(context, run)) open.push({ parent: run.record.id, child });
        else if (entry.kind === "completion" && isToBeHeld(context, run, entry.id))
          early.push({ run, generation: run.record.generation });
      } else if (mutation.type === "updateRun") {
        const before = context.shadow.bySeq.get(mutation.run.seq)?.record;
        if (before === undefined || before.generation !== mutation.run.generation) return;
        if (!isFinished(before.status)) {
          const run = context.shadow.bySeq.get(before.seq);
          if (mutation.run.status === "cancelled" && run !== undefined) ended.push(run);
          return;
        }
        const same =
          before.status === mutation.run.status &&
          JSON.stringify(before.result) === JSON.stringify(mutation.run.result);
        if (!same)
          context.report(
            "E7",
            `${context.names.of(before.id)} was ${before.status}, and is ${mutation.run.status} now`,
          );
      }
    },
    afterCommit(context) {
      for (const { run, generation } of early) {
        const { record } = run;
        if (!run.deleted && !isFinished(record.status) && record.generation === generation)
          context.report("E7", `${context.names.of(record.id)} is told of its child's end before its own cancel`);
      }
      for (const run of ended) checkEnded(context, run);
      for (const { parent, child } of open) {
        const { record } = child;
        if (child.deleted || isFinished(record.status) || record.parent?.awaited !== true) continue;
        context.report(
          "E7",
          `${context.names.of(parent)} is told of its cancel, and its child ${context.names.of(record.id)} is ${record.status}`,
        );
      }
    },
  };
}

function checkEnded(context: Context, run: ShadowRun): void {
  for (const child of openChildren(context, run)) {
    const { record, entries } = child;
    const isTold = entries.some(({ entry }) => entry.kind === "signal" && entry.signal === CANCEL_SIGNAL);
    if (record.cancelling === null && !isTold)
      context.report(
        "E7",
        `${context.names.of(run.record.id)} has ended by its cancel, and ${context.names.of(record.id)}, which it called, is ${record.status}`,
      );
  }
}

function openChildren(context: Context, run: ShadowRun): ShadowRun[] {
  const children = context.shadow.childrenOf.get(run.record.id) ?? [];
  return children.filter(
    ({ record, deleted }) =>
      !deleted && record.seq > run.record.seq && !isFinished(record.status) && record.parent?.awaited === true,
  );
}

/** While a run is being cancelled, the ends of its children come after its own cancel. */
function isToBeHeld(context: Context, run: ShadowRun, command: number): boolean {
  const child = context.shadow.command(run, command)?.child;
  if (child === undefined || run.record.cancelling?.waitingFor.includes(child) !== true) return false;
  return !run.entries.some(({ entry }) => entry.kind === "signal" && entry.signal === CANCEL_SIGNAL);
}
