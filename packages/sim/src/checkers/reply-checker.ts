// What callers are told is what is stored: an accepted run is durable (E1), a result is the run's. A run that was
// restarted, or deleted, in the same commit as it ended has no result any more.

import type { Checker } from "./checker.ts";

export const replyChecker: Checker = {
  name: "replies",
  observe({ shadow, names, report }, observation) {
    if (observation.type !== "replied") return;
    const { reply } = observation;
    if (reply.type !== "accepted" && reply.type !== "finished") return;
    const run = shadow.runs.get(reply.run);
    const mayBeGone = run !== undefined && (run.deleted || run.reborn || run.record.generation > 0);
    if (run === undefined) report("E1", `a caller was told of ${names.of(reply.run)}, which is not durable`);
    else if (reply.type === "finished" && !mayBeGone && !run.results.has(JSON.stringify(reply.result)))
      report(
        "E2",
        `a caller got ${JSON.stringify(reply.result)} for ${names.of(reply.run)}, which is not its stored result`,
      );
  },
};
