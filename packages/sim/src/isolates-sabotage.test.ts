// What images of isolates promise, broken on purpose, is seen by the checkers: in worlds whose handlers live in isolates.

import type { AttemptReplies, AttemptStart, Executor, RunId, StartImage } from "@perdure/protocol";
import { describe, expect, test } from "vitest";
import type { Sabotage } from "./sim-host.ts";
import { runWorld } from "./world.ts";

const SEEDS_MAX = 60;

async function firstCatch(make: () => Sabotage, promise: string): Promise<number | null> {
  for (let seed = 1; seed <= SEEDS_MAX; seed += 1) {
    const { violations } = await runWorld({ seed, executor: "snapshot", sabotage: make(), impatient: true });
    if (violations.some((violation) => violation.promise === promise)) return seed;
  }
  return null;
}

/** An executor whose attempts begin, or speak, otherwise. */
function attempts(change: {
  readonly start?: (start: AttemptStart) => AttemptStart;
  readonly replies?: (replies: AttemptReplies) => AttemptReplies;
}): Sabotage {
  const { start: begun = (start) => start, replies: heard = (replies) => replies } = change;
  return {
    executor: (executor: Executor): Executor => ({
      start: (start, replies) => executor.start(begun(start), heard(replies)),
    }),
  };
}

/** Commands reach the engine after whatever is said in the same breath. */
function lateCommands(replies: AttemptReplies): AttemptReplies {
  const late: Parameters<AttemptReplies["command"]>[] = [];
  const flush = (): void => {
    for (const command of late.splice(0)) replies.command(...command);
  };
  const after = <A extends readonly unknown[]>(say: (...said: A) => void): ((...said: A) => void) => {
    return (...said) => {
      flush();
      say(...said);
    };
  };
  return {
    command: (...command) => {
      late.push(command);
      queueMicrotask(flush);
    },
    propose: after((...said) => replies.propose(...said)),
    append: after((...said) => replies.append(...said)),
    retrying: after((...said) => replies.retrying(...said)),
    end: after((...said) => replies.end(...said)),
    suspend: after((...said) => replies.suspend(...said)),
    error: after((...said) => replies.error(...said)),
    image: (image) => replies.image(image), // Before what its code has asked for.
    imageUnusable: after((...said) => replies.imageUnusable(...said)),
  };
}

/** Each later image of a run has the bytes of its first. */
function firstImages(): (start: AttemptStart) => AttemptStart {
  const first = new Map<RunId, StartImage>();
  return (start) => {
    const { run, image } = start;
    if (image === null) return start;
    const old = first.get(run);
    if (old === undefined) first.set(run, image);
    return old === undefined ? start : { ...start, image: { ...image, bytes: old.bytes } };
  };
}

const SABOTAGES: Readonly<Record<string, readonly { readonly what: string; readonly make: () => Sabotage }[]>> = {
  E2: [
    {
      what: "an image that is kept although what its code has asked for is not in the journal",
      make: () => attempts({ replies: lateCommands }),
    },
    { what: "an image that is older than it is taken for", make: () => attempts({ start: firstImages() }) },
  ],
  E5: [
    {
      what: "entries after the image that nobody meets",
      make: () => attempts({ start: (start) => (start.image === null ? start : { ...start, entries: [] }) }),
    },
  ],
};

describe("a broken image is caught", () => {
  for (const [promise, sabotages] of Object.entries(SABOTAGES)) {
    for (const { what, make } of sabotages) {
      test(`${promise}, snapshot: ${what}`, async () => {
        expect(await firstCatch(make, promise), `no world of ${SEEDS_MAX} shows it`).not.toBeNull();
      });
    }
  }
});
