// E2: once the result of a step is in the journal, the step is not run again in the same generation, and all attempts see
// that one result.

import type { Checker, Context } from "./checker.ts";
import { isCurrent } from "./checker.ts";

export function createEffectChecker(): Checker {
  const observed = new Map<string, string>();
  return {
    name: "effects",
    observe(context, observation) {
      if (observation.type === "executed") checkExecution(context, observation.attempt, observation.command);
      else if (observation.type === "mismatch") checkMismatch(context, observation.attempt, observation.text);
      else if (observation.type === "observed") {
        const attempt = context.attempts.get(observation.attempt);
        if (attempt === undefined || !isCurrent(context, attempt)) return;
        const run = context.shadow.run(attempt.start.run);
        if (run?.record.generation !== attempt.start.generation) return;
        const name = `${run.record.seq} ${attempt.start.generation} ${observation.command}`;
        const result = JSON.stringify(observation.result);
        const before = observed.get(name);
        if (before === undefined) observed.set(name, result);
        else if (before !== result)
          context.report(
            "E2",
            `command ${observation.command} of ${context.names.of(attempt.start.run)} was ${before}, now it is ${result}`,
          );
      }
    },
  };
}

function checkExecution(context: Context, number: number, command: number): void {
  const attempt = context.attempts.get(number);
  if (attempt === undefined || !isCurrent(context, attempt)) return;
  const { run: id, generation } = attempt.start;
  const run = context.shadow.run(id);
  if (run === undefined || run.record.generation !== generation) return;
  // A person settled the step and resumed the run: this attempt is to be aborted, and has not heard of it yet.
  const isDoomed = run.entries.some(({ entry }) => entry.kind === "resumed" && entry.index > attempt.told);
  if (run.completed.has(command) && !isDoomed)
    context.report("E2", `step ${command} of ${context.names.of(id)} is run again, its result is in the journal`);
}

/** Programs are deterministic: only another journal can lead them another way. */
function checkMismatch(context: Context, number: number, text: string): void {
  const attempt = context.attempts.get(number);
  if (attempt !== undefined && isCurrent(context, attempt))
    context.report("E2", `${context.names.of(attempt.start.run)} takes another path on replay: ${text}`);
}
