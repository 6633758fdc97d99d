// E6: no timer fires before its time, by the clock of the host that fires it. (That all of them fire is E8's.)

import type { Checker } from "./checker.ts";

export const timerChecker: Checker = {
  name: "timers",
  beforeMutation(context, mutation, commit) {
    const { shadow, names, report } = context;
    const { now, tick } = commit;
    if (mutation.type === "removeTimer" && mutation.timer.at > now) {
      report("E6", `at tick ${tick} a ${mutation.timer.kind} timer fires ${mutation.timer.at - now} ms early`);
    } else if (mutation.type === "appendEntry" && mutation.entry.kind === "completion") {
      const run = shadow.bySeq.get(mutation.run);
      const command = run === undefined ? undefined : shadow.command(run, mutation.entry.id)?.command;
      const isCopy = run !== undefined && shadow.isCopy(run, mutation.entry);
      const isKept =
        isCopy || commit.commit.mutations.some((other) => other.type === "truncate" && other.run === mutation.run);
      if (command?.type === "sleep" && command.wakeAt > now && !isKept)
        report(
          "E6",
          `at tick ${tick} a sleep of ${run === undefined ? "?" : names.of(run.record.id)} ends ${command.wakeAt - now} ms early`,
        );
    } else if (
      mutation.type === "updateRun" &&
      (mutation.run.status === "running" || mutation.run.status === "queued")
    ) {
      const before = shadow.bySeq.get(mutation.run.seq)?.record;
      const isSame = before?.generation === mutation.run.generation; // A restart does not wait for the start time.
      if (isSame && before.status === "scheduled" && (before.scheduledAt ?? 0) > now)
        report("E6", `${names.of(before.id)} begins ${(before.scheduledAt ?? 0) - now} ms early`);
    }
  },
};
