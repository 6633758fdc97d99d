// Crash after every entry: the run goes on from there to the same end, and no step that has a result is run again.

import { expect } from "vitest";

import { commandsOf, type Outcome, play, type Scenario } from "./fake-engine.ts";

export interface Ledger {
  /** Executions by idempotency key. */
  readonly ran: Map<string, number>;
}

export interface Case {
  readonly name: string;
  /** Steps of the handler write their idempotency keys into the ledger. */
  readonly scenario: (ledger: Ledger) => Scenario;
  /** Its outcome depends on what had been sent by the time of the crash. */
  readonly sameCommands?: boolean;
}

export async function crashAtEveryEntry(test: Case): Promise<Outcome> {
  const whole: Ledger = { ran: new Map() };
  const outcome = await play(test.scenario(whole));
  expect(outcome.status, JSON.stringify(outcome.paused ?? outcome.errors)).toBe("ended");
  for (const [key, count] of whole.ran) expect(count, key).toBe(1);
  for (const alwaysYield of [false, true]) {
    for (let at = 0; at <= outcome.entries.length; at += 1) {
      const prefix = outcome.entries.slice(0, at);
      const ledger: Ledger = { ran: new Map() };
      const again = await play({ ...test.scenario(ledger), entries: prefix, alwaysYield });
      const where = `crash after entry ${at} of ${outcome.entries.length}, yield ${alwaysYield}`;
      expect(again.result, `${where}: ${JSON.stringify(again.paused ?? again.errors)}`).toEqual(outcome.result);
      expect(again.errors, where).toEqual([]);
      if (test.sameCommands !== false) expect(commandsOf(again.entries), where).toEqual(commandsOf(outcome.entries));
      for (const id of finishedSteps(prefix)) {
        const reran = [...ledger.ran.keys()].filter((key) => key.endsWith(`-${id}`));
        expect(reran, `${where}: step ${id} has a result`).toEqual([]);
      }
      for (const [key, count] of ledger.ran) expect(count, `${where}: ${key}`).toBe(1);
    }
  }
  return outcome;
}

function finishedSteps(entries: Outcome["entries"]): number[] {
  const steps = new Set<number>();
  const finished: number[] = [];
  for (const entry of entries) {
    if (entry.kind === "command" && entry.command.type === "step") {
      steps.add(entry.id);
      if (entry.result !== undefined) finished.push(entry.id);
    } else if (entry.kind === "completion" && steps.has(entry.id)) finished.push(entry.id);
  }
  return finished;
}
