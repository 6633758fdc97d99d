// Tools that need approval (A7): the effect does not begin before an `approved` stands in the journal, and then with the input
// that was approved. And what is to happen at most once begins at most once, unless a person says that it did not happen.

import { APPROVALS, type ApprovalDecision } from "@perdure/agents";
import { NEED_APPROVAL } from "../../agents/cast.ts";
import type { Observation } from "../../observations.ts";
import { approvalOf } from "../../outside/agent-targets.ts";
import { type Checker, type Context, isCurrent } from "../checker.ts";
import type { ShadowRun } from "../shadow.ts";

type Began = Extract<Observation, { type: "began-tool" }>;

export function createApprovalChecker(): Checker {
  const charged = new Set<string>();
  return {
    name: "approvals",
    observe(context, observation) {
      if (observation.type !== "began-tool") return;
      const attempt = observation.attempt === null ? undefined : context.attempts.get(observation.attempt);
      if (attempt === undefined || !isCurrent(context, attempt)) return;
      const run = context.shadow.run(observation.run);
      if (run === undefined || run.record.generation !== attempt.start.generation) return;
      if (NEED_APPROVAL.has(observation.tool)) checkApproved(context, run, observation);
      if (observation.tool !== "charge" || observation.key === null) return;
      if (charged.has(observation.key)) context.report("A7", `${observation.key} is charged twice`);
      charged.add(observation.key);
    },
  };
}

function checkApproved(context: Context, run: ShadowRun, { tool, input }: Began): void {
  const { names, report } = context;
  const name = `${tool} ${input.id} of ${names.of(run.record.id)}`;
  const inputs: string[] = [];
  for (const { entry } of run.entries) {
    if (entry.kind !== "command" || entry.command.type !== "call" || entry.command.target.service !== APPROVALS)
      continue;
    const request = approvalOf(entry.command.input);
    if (request.tool !== tool || (request.input as Began["input"]).id !== input.id) continue;
    const decision = decisionOf(run, entry.id);
    if (decision?.decision === "approved") inputs.push(JSON.stringify(decision.input ?? request.input));
  }
  if (inputs.length === 0) report("A7", `${name} begins, and nobody has approved it`);
  else if (!inputs.includes(JSON.stringify(input)))
    report("A7", `${name} begins with ${JSON.stringify(input)}, approved was ${inputs.join(" or ")}`);
}

function decisionOf(run: ShadowRun, command: number): ApprovalDecision | undefined {
  for (const { entry } of run.entries) {
    if ((entry.kind !== "completion" && entry.kind !== "command") || entry.id !== command) continue;
    if (entry.result?.kind === "value") return JSON.parse(String(entry.result.value)) as ApprovalDecision;
  }
  return undefined;
}
