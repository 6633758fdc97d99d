// E8: when the faults are over, every run ends, nobody holds anything, and nothing is left in memory.

import { isFinished } from "@perdure/protocol";
import type { Checker } from "./checker.ts";
import { isLive } from "./checker.ts";

export const settleChecker: Checker = {
  name: "settling",
  observe(context, observation) {
    if (observation.type === "uncaught")
      context.report("E8", `a promise is rejected, and nobody hears: ${observation.text}`);
    if (observation.type !== "settled") return;
    const { names, report } = context;
    if (observation.why !== null) report("E8", observation.why);
    for (const run of context.shadow.runs.values()) {
      if (!run.deleted && !isFinished(run.record.status))
        report(
          "E8",
          `${names.of(run.record.id)} is ${run.record.status} for good, awaiting ${JSON.stringify(run.record.awaiting)}`,
        );
    }
    for (const attempt of context.attempts.values())
      if (isLive(attempt) && attempt.epoch === context.shadow.epoch)
        report("E8", `attempt ${attempt.number} of ${names.of(attempt.start.run)} is live for good`);
    for (const [name, value] of Object.entries(observation.figures))
      if (value !== 0) report("E8", `at rest, ${name} is ${value}`);
  },
};
