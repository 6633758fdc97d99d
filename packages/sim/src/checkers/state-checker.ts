// What the exclusive runs of a key read of its state is what was written before them (E3): nobody else writes meanwhile.

import type { Run } from "@perdure/protocol";
import type { Checker, Context } from "./checker.ts";
import { keyText } from "./shadow.ts";

export function createStateChecker(): Checker {
  /** Keys whose state was edited by force: their holders work with what they had. */
  const edited = new Set<string>();
  return {
    name: "state",
    beforeMutation(context, mutation) {
      if (mutation.type === "insertRun") inherit(context, mutation.run, edited);
      if (mutation.type !== "appendEntry" || mutation.entry.kind !== "command" || mutation.entry.result === undefined)
        return;
      const { command, result } = mutation.entry;
      if (command.type !== "getState") return;
      const run = context.shadow.bySeq.get(mutation.run);
      if (run === undefined || run.record.key === null || run.record.mode === "shared") return;
      const text = keyText({ service: run.record.service, key: run.record.key });
      if (edited.has(text) || context.shadow.isCopy(run, mutation.entry)) return;
      const wanted = context.shadow.state.get(text)?.get(command.key);
      const got = result.kind === "value" ? result.value : undefined;
      if (wanted !== got)
        context.report(
          "E3",
          `${context.names.of(run.record.id)} reads ${String(got)} for ${command.key} of ${text}; ${String(wanted)} is stored`,
        );
    },
    observe(context, observation) {
      if (observation.type === "asked" && observation.question.type === "editState" && observation.question.force)
        edited.add(keyText(observation.question.key));
      if (observation.type !== "stored") return;
      for (const { service, key, state } of observation.states) {
        const wanted = context.shadow.state.get(keyText({ service, key })) ?? new Map();
        const same = wanted.size === state.size && [...state].every(([name, value]) => wanted.get(name) === value);
        if (!same) context.report("E1", `the storage holds another state of ${service}/${key} than was written`);
      }
    },
  };
}

/** A fork has the state of its origin, edited or not. */
function inherit({ shadow }: Context, { service, key, forkedFrom }: Run, edited: Set<string>): void {
  if (key === null || forkedFrom === null || forkedFrom.key === null) return;
  if (edited.has(keyText({ service, key: forkedFrom.key }))) edited.add(keyText({ service, key }));
  const origin = shadow.run(forkedFrom.run)?.record.key ?? null;
  if (origin !== null && edited.has(keyText({ service, key: origin }))) edited.add(keyText({ service, key }));
}
