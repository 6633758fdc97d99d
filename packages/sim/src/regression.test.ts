// Seeds that once failed, each with what it found. A change of the generators makes other worlds of them; then they are
// what any fixed seeds are: a part of the tests that is the same for everybody. The bugs themselves have their own tests
// beside the engine's source.

import { describe, expect, test } from "vitest";
import { WORLD_KINDS, type WorldKind } from "./parameters.ts";
import { runWorld } from "./world.ts";

const SEEDS = [
  { seed: 122_518, executor: "script", found: "a host that had lost its partition failed by an assertion" },
  { seed: 148_191, executor: "script", found: "the same" },
  { seed: 110_094, executor: "sdk", found: "the same, under the SDK" },
  { seed: 128_895, executor: "sdk", found: "the same, under the SDK" },
  { seed: 127_326, executor: "script", found: "a kill of two runs of one key whose queue was not loaded whole" },
  { seed: 2_953, executor: "script", found: "a child of a deleted run completed a call of the run that got its id" },
  { seed: 507, executor: "script", found: "two lives of one run id started children of one id" },
  { seed: 444, executor: "script", found: "two restarts in one batch waited for each other" },
  { seed: 3_260, executor: "script", found: "runs that were about to begin were read again and again" },
  { seed: 763, executor: "sdk", found: "an at-most-once effect waited for its new intent to be durable" },
  { seed: 107_023, executor: "script", found: "a restart of a run that is being cancelled" },
  { seed: 121_576, executor: "script", found: "an effect settled while its attempt was being aborted" },
  { seed: 237, executor: "script", found: "an image whose commands stood after the entry it was taken for" },
  { seed: 20_825, executor: "script", found: "code that went on from an image did not see what it had written since" },
  { seed: 20_722, executor: "script", found: "a forced edit of a state that nobody had looked at" },
  { seed: 13, executor: "script", found: "a fork that met what its origin wrote as if it had written it" },
  { seed: 38, executor: "script", found: "a branch that was restarted and slept for good" },
  { seed: 30, executor: "script", found: "a branch whose results were to stand in a stream that it did not have" },
  { seed: 1, executor: "agents", found: "a message that was taken, taken again by the turn before its own" },
  { seed: 36, executor: "agents", found: "an interrupted model call that watchers saw settled" },
  { seed: 1_087, executor: "agents", found: "a message seen before one that had arrived earlier" },
  { seed: 10_153, executor: "agents", found: "a cancel that missed a sub-agent which was being started" },
  { seed: 11_441, executor: "agents", found: "the same" },
  {
    seed: 997_469_218,
    executor: "agents",
    found: "a model asked after a cancel that came before the call looked at its signal",
  },
  {
    seed: 997_021_360,
    executor: "agents",
    found: "a cancel that forgot the first of two tasks of one sub-agent's session",
  },
] as const;

/** Small ones, so that each kind of world is seen every time. A world with agents or isolates takes ten times as long as another. */
const FIXED: Readonly<Record<WorldKind, number>> = { script: 100, sdk: 100, snapshot: 40, agents: 40 };

describe("regression seeds", () => {
  for (const { seed, executor, found } of SEEDS) {
    test(`seed ${seed} (${executor}): ${found}`, async () => {
      expect((await runWorld({ seed, executor })).violations).toEqual([]);
    });
  }

  for (const executor of WORLD_KINDS) {
    test(`${executor}: the first ${FIXED[executor]} seeds keep all promises`, async () => {
      for (let seed = 1; seed <= FIXED[executor]; seed += 1)
        expect((await runWorld({ seed, executor })).violations, `seed ${seed}`).toEqual([]);
    });
  }
});

const REPEATED: Readonly<Record<WorldKind, number>> = { script: 30, sdk: 30, snapshot: 8, agents: 8 };

describe("a seed is a world", () => {
  for (const executor of WORLD_KINDS) {
    test(`${executor}: two executions have the same journal hash, traced or not`, async () => {
      for (let seed = 900; seed < 900 + REPEATED[executor]; seed += 1) {
        const first = await runWorld({ seed, executor });
        const lines: string[] = [];
        const second = await runWorld({ seed, executor, trace: (line) => lines.push(line) });
        expect(second).toEqual(first);
        expect(lines.length).toBeGreaterThan(10);
      }
    });
  }

  test("another seed is another world", async () => {
    const hashes = new Set<string>();
    for (let seed = 1; seed <= 50; seed += 1) hashes.add((await runWorld({ seed })).journalHash);
    expect(hashes.size).toBeGreaterThan(45); // Some worlds have no journal at all.
  });
});
