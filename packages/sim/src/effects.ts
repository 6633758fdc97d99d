// The outside world that steps act on: it counts how often each effect was done, and decides how each ends.

import { failureResult, type Result, type RunId, valueResult } from "@perdure/protocol";
import type { StepNode } from "./program.ts";

export type EffectOutcome =
  | { readonly kind: "done"; readonly result: Result }
  | { readonly kind: "failed"; readonly times: number };

export class Effects {
  readonly #times: Map<string, number> = new Map();

  /** Does the effect once more; the outcome is known when the closure ends. */
  execute(run: RunId, generation: number, command: number, node: StepNode): EffectOutcome {
    const name = `${run} ${generation} ${command}`;
    const times = (this.#times.get(name) ?? 0) + 1;
    this.#times.set(name, times);
    if (times <= node.transient) return { kind: "failed", times };
    if (node.terminal)
      return {
        kind: "done",
        result: failureResult({ code: 422, message: `${node.name} was refused`, errorCode: "P0001" }),
      };
    return { kind: "done", result: valueResult(JSON.stringify(`${node.name} ${generation}/${command} done ${times}`)) };
  }
}
