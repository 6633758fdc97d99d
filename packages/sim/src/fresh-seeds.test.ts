// Worlds that nobody has seen yet (those with agents or isolates aside). The base is printed, and a failure says how to repeat it.

import { describe, expect, test } from "vitest";
import { WORLD_KINDS, type WorldKind } from "./parameters.ts";
import { runWorld } from "./world.ts";

/** Of each kind; a world with agents or isolates takes ten times as long as another. */
const WORLDS: Readonly<Record<WorldKind, number>> = { script: 1_500, sdk: 1_500, snapshot: 100, agents: 150 };
const PER_TEST: Readonly<Record<WorldKind, number>> = { script: 250, sdk: 250, snapshot: 50, agents: 50 };
const asked = process.env["PERDURE_SIM_BASE"];
const base = Number(asked ?? Date.now() % 1_000_000_000);
/** Worlds with agents or isolates are young: here they are the same each time, and fresh ones are for `npm run sim -- --long`. */
const YOUNG: readonly WorldKind[] = ["snapshot", "agents"];
const YOUNG_BASE = asked === undefined ? 300_000 : base;

describe(`fresh seeds from ${base}`, () => {
  const all = Object.values(WORLDS).reduce((sum, count) => sum + count, 0);
  console.log(`simulator: ${all} fresh worlds from seed ${base} (set PERDURE_SIM_BASE to repeat)`);
  for (const executor of WORLD_KINDS) {
    const [count, step, first] = [WORLDS[executor], PER_TEST[executor], YOUNG.includes(executor) ? YOUNG_BASE : base];
    for (let from = 0; from < count; from += step) {
      test(`${executor}, worlds ${from} to ${from + step - 1} keep all promises`, async () => {
        for (let seed = first + from; seed < first + from + step; seed += 1) {
          const { violations } = await runWorld({ seed, executor, impatient: true });
          expect(violations, `repeat with: npm run sim -- --seed ${seed} --executor ${executor} --verbose`).toEqual([]);
        }
      });
    }
  }
});
