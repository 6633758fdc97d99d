// crashAtEveryEntry: run a handler to the end, then once for every commit with a crash there, and hold the results
// against each other
// ================================================================================================================
// Each commit is a crash point twice: before its flush (it is lost) and after (it is there, and nobody was told). The world
// is then opened again on what the disk holds, and must come to the same result. An effect whose result was in the journal
// must not have run again (E2); one whose result was lost with the crash may.
//
// Runs with `memory: "snapshot"` go on from their newest image. At every third crash it is damaged before: then they go on
// from the one before it, or from the journal, and nothing else may be different.

import type { Limits } from "@perdure/engine";
import type { Result, RunId, Target } from "@perdure/protocol";
import {
  createTestMemory,
  TestWorld,
  type Execution,
  type ImageCounts,
  type TestMemory,
  type TestWorldOptions,
} from "./test-world.ts";

export interface CrashTest extends Pick<TestWorldOptions, "sources" | "images" | "mode"> {
  readonly services: TestWorldOptions["services"];
  readonly target: Target;
  readonly input?: unknown;
  /** Answers what the run waits for: called whenever everything waits. True: it did something. Must be repeatable. */
  readonly outside?: (world: TestWorld) => Promise<boolean> | boolean;
  /** Compares results. Default: equal as JSON. */
  readonly same?: (reference: Result, actual: Result) => boolean;
  /** What else has to be the same when the run has ended, for example `(world) => world.stream(…)`. Compared as JSON. */
  readonly observe?: (world: TestWorld) => unknown;
  readonly limits?: Partial<Limits>;
  /** Called before each world, to empty what steps write to outside of it. */
  readonly reset?: () => void;
  /** Crash points at the most; when there are more they are spread evenly. Default: all. */
  readonly pointsMax?: number;
}

export interface CrashReport {
  readonly result: Result;
  /** Commits of the run without a crash. */
  readonly commits: number;
  /** Crashes that were made. */
  readonly crashes: number;
  /** Steps executed in the run without a crash. */
  readonly steps: number;
  /** Steps that ran again since their result was lost with a crash. */
  readonly repeatedUnjournaled: number;
  /** Of all worlds together. */
  readonly images: Readonly<ImageCounts>;
}

export class CrashTestError extends Error {
  override readonly name = "CrashTestError";
}

interface Ended {
  readonly result: Result | null;
  /** As JSON. */
  readonly observed: string | null | undefined;
}

/** Each so many crashes, what was the newest image of a run is damaged when it is looked for. */
const DAMAGE_EVERY = 3;
/** One event a batch, so that every entry is a crash point of its own. */
const SMALLEST_BATCHES: Partial<Limits> = { batchEventsMax: 1, timersPerBatchMax: 1 };

/** @throws CrashTestError that names the crash point and what differed. */
export async function crashAtEveryEntry(test: CrashTest): Promise<CrashReport> {
  test.reset?.();
  let commits = 0;
  const first = createTestMemory();
  const images: ImageCounts = { ...first.images };
  const reference = await runWorld(test, first, (world) => {
    world.onCommit(() => {
      commits += 1;
      return "apply";
    });
  });
  if (reference.result === null) throw new CrashTestError("the run without a crash has no result");
  add(images, first.images);
  let repeated = 0;
  let crashes = 0;
  for (const point of pick(commits, test.pointsMax)) {
    for (const fate of ["lose", "orphan"] as const) {
      test.reset?.();
      const memory = createTestMemory();
      const where = `crash ${fate === "lose" ? "before" : "after"} the flush of commit ${point} of ${commits}`;
      const damages = crashes % DAMAGE_EVERY === DAMAGE_EVERY - 1;
      const outcome = await crashOnce(test, memory, { point, fate, damages }, where);
      crashes += 1;
      add(images, memory.images);
      check(test, reference, outcome, memory.executions, where);
      repeated += countRepeated(memory.executions);
    }
  }
  const { result, executions: steps } = reference;
  return { result, commits, crashes, steps, repeatedUnjournaled: repeated, images };
}

function add(sum: ImageCounts, { taken, restored, lost }: ImageCounts): void {
  sum.taken += taken;
  sum.restored += restored;
  sum.lost += lost;
}

interface CrashPoint {
  /** Which commit. */
  readonly point: number;
  readonly fate: "lose" | "orphan";
  /** The newest images do not outlive it. */
  readonly damages: boolean;
}

async function crashOnce(
  test: CrashTest,
  memory: TestMemory,
  { point, fate, damages }: CrashPoint,
  where: string,
): Promise<Ended> {
  let seen = 0;
  try {
    const first = await runWorld(test, memory, (world) => {
      world.onCommit(() => {
        seen += 1;
        return seen === point ? fate : "apply";
      });
    });
    if (first.result !== null) return first; // It took fewer commits this time.
    delete memory.storage.hooks.beforeCommit;
    if (damages) damageNewestImages(memory);
    return await runWorld(test, memory, () => undefined);
  } catch (error) {
    throw new CrashTestError(`${where}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

function damageNewestImages({ storage: { data } }: TestMemory): void {
  for (const { images } of data.runs.values()) {
    const bytes = data.imageBytes.get(images.at(-1)?.hash ?? "")?.bytes;
    const middle = (bytes?.length ?? 0) >> 1;
    if (bytes !== undefined) bytes[middle] = (bytes[middle] ?? 0) ^ 1;
  }
}

async function runWorld(
  test: CrashTest,
  memory: TestMemory,
  prepare: (world: TestWorld) => void,
): Promise<Ended & { readonly executions: number }> {
  const { services, sources, images, mode, limits } = test;
  const world = new TestWorld({
    services,
    memory,
    limits: { ...SMALLEST_BATCHES, ...limits },
    ...(sources === undefined ? {} : { sources }),
    ...(images === undefined ? {} : { images }),
    ...(mode === undefined ? {} : { mode }),
  });
  prepare(world);
  await world.open();
  let run: RunId | null = null;
  // A caller that hears nothing submits again with the same key: that is how an acknowledgement is made to count.
  const submitted = world.submit(test.target, test.input).then(
    (id) => void (run = id),
    (error: unknown) => {
      if (!world.crashed) throw error;
    },
  );
  await Promise.race([submitted, crashOf(world)]);
  if (run === null) return { result: null, observed: null, executions: 0 };
  const result = await world.finish(run, test.outside);
  const observed = result === null ? null : JSON.stringify(await test.observe?.(world));
  if (!world.crashed) world.crash();
  return { result, observed, executions: memory.executions.length };
}

async function crashOf(world: TestWorld): Promise<void> {
  while (!world.crashed) await new Promise<void>((resolve) => void setImmediate(resolve));
}

function check(
  test: CrashTest,
  { result: reference, observed: expected }: Ended,
  { result: actual, observed }: Ended,
  executions: readonly Execution[],
  where: string,
): void {
  if (actual === null || reference === null) throw new CrashTestError(`${where}: the run has no result`);
  const same = test.same ?? ((a: Result, b: Result): boolean => JSON.stringify(a) === JSON.stringify(b));
  if (!same(reference, actual))
    throw new CrashTestError(
      `${where}: another result\n  without a crash  ${JSON.stringify(reference)}\n  with it          ${JSON.stringify(actual)}`,
    );
  if (observed !== expected)
    throw new CrashTestError(
      `${where}: something else is observed\n  without a crash  ${expected}\n  with it          ${observed}`,
    );
  const twice = executions.find((execution) => execution.journaledBefore);
  if (twice !== undefined)
    throw new CrashTestError(
      `${where}: step "${twice.step}" (command ${twice.command} of ${twice.service}/${twice.handler}) ran again although its result was journaled`,
    );
}

function countRepeated(executions: readonly Execution[]): number {
  return executions.length - new Set(executions.map((execution) => `${execution.run}/${execution.command}`)).size;
}

function* pick(commits: number, max: number | undefined): Generator<number> {
  const count = Math.min(commits, max ?? commits);
  for (let i = 0; i < count; i += 1) yield Math.floor((i * commits) / count) + 1;
}
