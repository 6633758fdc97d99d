// What a copy of a run still waits for: sleeps are armed again, children and other runs are watched beside whoever watches them
// already, promises are those of its own key. Steps are begun again by its attempt.

import { assert, type CommandEntry, type Entry, failureResult, type Result, RunNotFoundError } from "@perdure/protocol";
import type { Batch } from "../batch.ts";
import { openCommands, resultOf } from "../moves/as-of.ts";
import { complete } from "../moves/journal.ts";
import { type HotRun, promiseText } from "../view.ts";
import { resolveRef, waitFor } from "./attempt-command.ts";

/** `later`: what the origin has in its journal after the entries that were copied. */
export function takeUp(batch: Batch, copy: HotRun, copied: readonly Entry[], later: readonly Entry[]): void {
  for (const entry of openCommands(copied)) takeUpOne(batch, copy, entry, () => resultOf(later, entry.id));
}

function takeUpOne(
  batch: Batch,
  copy: HotRun,
  { id, command, child }: CommandEntry,
  later: () => Result | undefined,
): void {
  switch (command.type) {
    case "sleep":
      batch.mutations.push({
        type: "addTimer",
        timer: { at: command.wakeAt, run: copy.record.seq, kind: "sleep", id },
      });
      batch.actions.push({ type: "arm", at: command.wakeAt });
      return;
    case "call":
    case "attach": {
      const ref = command.type === "attach" ? resolveRef(batch, command.ref) : child;
      const run = ref === undefined ? undefined : batch.view.run(ref);
      if (run !== undefined) waitFor(batch, copy, id, run);
      else
        complete(
          batch,
          copy,
          id,
          later() ?? failureResult(new RunNotFoundError(`there is no run ${ref ?? ""}`).toFailure()),
        );
      return;
    }
    case "getPromise":
      waitForPromise(batch, copy, id, command.key);
      return;
    default:
      return; // Steps are begun again by the attempt.
  }
}

function waitForPromise(batch: Batch, copy: HotRun, command: number, name: string): void {
  const { service, key } = copy.record;
  assert(key !== null, "only workflows have promises");
  const known = batch.view.promises.get(promiseText({ service, key }, name)) ?? null;
  if (known !== null) {
    complete(batch, copy, command, known);
    return;
  }
  const waiter = { target: { kind: "promise", service, key, name }, run: copy.record.id, command } as const;
  batch.view.waitersOf(waiter.target).push(waiter);
  batch.mutations.push({ type: "addWaiter", waiter });
}
