// Some thousands of worlds, one after the other. The base is printed, and a failure says how to repeat it.

import { describe, expect, test } from "vitest";
import { WORLD_KINDS, type WorldKind } from "./parameters.ts";
import { runWorld } from "./world.ts";

/** Of each kind; a world with agents or isolates takes ten times as long as another. */
const WORLDS: Readonly<Record<WorldKind, number>> = { script: 1_500, sdk: 1_500, snapshot: 100, agents: 150 };
const PER_TEST: Readonly<Record<WorldKind, number>> = { script: 250, sdk: 250, snapshot: 50, agents: 50 };
/**
 * The same worlds each time: those with forks and images are young, and one in some thousands finds something that the run of
 * a test cannot wait for. Fresh ones are for `npm run sim -- --long`, or for a base of one's own.
 */
const base = Number(process.env["PERDURE_SIM_BASE"] ?? 300_000);

describe(`worlds from seed ${base}`, () => {
  const all = Object.values(WORLDS).reduce((sum, count) => sum + count, 0);
  console.log(`simulator: ${all} worlds from seed ${base} (PERDURE_SIM_BASE sets another)`);
  for (const executor of WORLD_KINDS) {
    const [count, step] = [WORLDS[executor], PER_TEST[executor]];
    for (let from = 0; from < count; from += step) {
      test(`${executor}, worlds ${from} to ${from + step - 1} keep all promises`, async () => {
        for (let seed = base + from; seed < base + from + step; seed += 1) {
          const { violations } = await runWorld({ seed, executor, impatient: true });
          expect(violations, `repeat with: npm run sim -- --seed ${seed} --executor ${executor} --verbose`).toEqual([]);
        }
      });
    }
  }
});
