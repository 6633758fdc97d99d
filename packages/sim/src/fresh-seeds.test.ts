// Worlds that nobody has seen yet. The base is printed, and a failure says how to repeat it.

import { describe, expect, test } from "vitest";
import { runWorld } from "./world.ts";

/** Of each kind of executor. */
const WORLDS = 1_500;
const PER_TEST = 250;
const base = Number(process.env["PERDURE_SIM_BASE"] ?? Date.now() % 1_000_000_000);

describe(`fresh seeds from ${base}`, () => {
  console.log(`simulator: ${2 * WORLDS} fresh worlds from seed ${base} (set PERDURE_SIM_BASE to repeat)`);
  for (const executor of ["script", "sdk"] as const) {
    for (let from = 0; from < WORLDS; from += PER_TEST) {
      test(`${executor}, worlds ${from} to ${from + PER_TEST - 1} keep E1 to E9`, async () => {
        for (let seed = base + from; seed < base + from + PER_TEST; seed += 1) {
          const { violations } = await runWorld({ seed, executor, impatient: true });
          expect(violations, `repeat with: npm run sim -- --seed ${seed} --executor ${executor} --verbose`).toEqual([]);
        }
      });
    }
  }
});
