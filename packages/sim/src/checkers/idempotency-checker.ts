// E9: one idempotency key, or one workflow key, names one run; whoever submits it again is answered with that run.

import { isFinished, type Run, type RunId } from "@perdure/protocol";
import type { Observation } from "../observations.ts";
import type { Checker, Context } from "./checker.ts";
import type { ShadowRun } from "./shadow.ts";

export function createIdempotencyChecker(): Checker {
  const bearers = new Map<string, ShadowRun[]>();
  return {
    name: "idempotency",
    beforeMutation(context, mutation) {
      if (mutation.type !== "insertRun") return;
      const { run } = mutation;
      if (isFinished(run.status)) return; // What a run was before it was rewound.
      if (context.shadow.run(run.id) !== undefined)
        context.report("E9", `${context.names.of(run.id)} is stored a second time`);
      const name = nameOf(run);
      if (name === null) return;
      const other = (bearers.get(name) ?? []).find(({ deleted }) => !deleted);
      if (other !== undefined)
        context.report("E9", `${name} names ${context.names.of(other.record.id)} and ${context.names.of(run.id)}`);
    },
    afterCommit(context, { commit }) {
      for (const mutation of commit.mutations) {
        if (mutation.type !== "insertRun" || isFinished(mutation.run.status)) continue;
        const name = nameOf(mutation.run);
        const run = context.shadow.bySeq.get(mutation.run.seq);
        if (name === null || run === undefined) continue;
        const list = bearers.get(name);
        if (list === undefined) bearers.set(name, [run]);
        else list.push(run);
      }
    },
    observe(context, observation) {
      if (observation.type === "replied") checkReply(context, observation);
    },
  };
}

function nameOf(run: Pick<Run, "service" | "handler" | "key" | "mode" | "idempotencyKey">): string | null {
  if (run.mode === "workflow") return `${run.service}/${run.key}`;
  return run.idempotencyKey === null ? null : `${run.service}/${run.handler}/${run.key ?? ""}#${run.idempotencyKey}`;
}

function checkReply(context: Context, { question, reply }: Extract<Observation, { type: "replied" }>): void {
  if (question.type !== "submit" || (reply.type !== "accepted" && reply.type !== "finished")) return;
  const asked: RunId = question.run;
  if (reply.run !== asked)
    context.report("E9", `a submission of ${context.names.of(asked)} was answered with ${context.names.of(reply.run)}`);
}
