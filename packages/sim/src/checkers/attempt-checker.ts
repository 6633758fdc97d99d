// E4: a run has at most one live attempt, and only the newest epoch writes.

import type { Checker } from "./checker.ts";
import { isCurrent, isLive } from "./checker.ts";

export const attemptChecker: Checker = {
  name: "attempts",
  beforeCommit(context, { commit, host }) {
    const { epoch, owner } = context.shadow;
    if (host !== owner) context.report("E4", `host ${host} writes, and host ${owner} has the partition`);
    if (commit.epoch !== epoch)
      context.report("E4", `host ${host} writes under epoch ${commit.epoch}, the partition is at ${epoch}`);
  },
  observe(context, observation) {
    if (observation.type !== "started") return;
    const attempt = context.attempts.get(observation.attempt);
    if (attempt === undefined) return;
    for (const other of context.attempts.values()) {
      if (other === attempt || !isLive(other) || other.start.run !== attempt.start.run) continue;
      const both = other.host === attempt.host || (isCurrent(context, other) && isCurrent(context, attempt));
      if (both)
        context.report(
          "E4",
          `attempts ${other.number} and ${attempt.number} of ${context.names.of(attempt.start.run)} are live at once`,
        );
    }
  },
};
