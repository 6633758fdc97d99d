// Runs that go over to other code at a safe point: in both modes of memory, the same.

import type { MigrationReport, Result, RunId } from "@perdure/protocol";
import type { MemoryMode, ServiceDefinition } from "@perdure/sdk";
import { describe, expect, onTestFinished, test } from "vitest";
import { createTestMemory, type TestMemory, TestWorld, type TestWorldOptions } from "../../src/testing/test-world.ts";
import { clerk as clerk1 } from "./fixtures/clerk-1.ts";
import { clerk as clerk2, meanwhile } from "./fixtures/clerk-2.ts";

const VERSIONS: readonly (readonly [ServiceDefinition<object>, string])[] = [
  [clerk1, "clerk-1.ts"],
  [clerk2, "clerk-2.ts"],
];

async function open(
  version: 1 | 2,
  mode: MemoryMode,
  memory: TestMemory,
  options: Partial<TestWorldOptions> = {},
): Promise<TestWorld> {
  const [definition, file] = VERSIONS[version - 1] ?? [clerk1, "clerk-1.ts"];
  const sources = [new URL(`./fixtures/${file}`, import.meta.url)];
  const world = new TestWorld({ services: [definition], mode, sources, memory, images: "every", ...options });
  onTestFinished(() => world.crash());
  return world.open();
}

/** A run of the first version that has heard some words, in a world of the second. */
async function upgraded(
  mode: MemoryMode,
  handler: string,
  signals: readonly (readonly [name: string, value: string])[],
  options: Partial<TestWorldOptions> = {},
): Promise<{ readonly world: TestWorld; readonly run: RunId }> {
  const memory = createTestMemory();
  const before = await open(1, mode, memory);
  const run = await before.submit({ service: "clerk", handler });
  await before.settle();
  for (const [name, value] of signals) {
    await before.signal(run, name, value);
    await before.settle();
  }
  before.crash();
  const world = await open(2, mode, memory, options);
  await world.settle();
  return { world, run };
}

function valueOf(result: Result | null): unknown {
  return result?.kind === "value" ? JSON.parse(String(result.value)) : result;
}

const bare = ({ outcome, point, reason }: MigrationReport): unknown => ({ outcome, point, reason });

describe.each<MemoryMode>(["journal", "snapshot"])("migrate in %s mode", (mode) => {
  test("the new code goes on with what its hook makes of the state", async () => {
    const { world, run } = await upgraded(mode, "listen", [
      ["word", "a"],
      ["word", "b"],
    ]);
    const before = await world.run(run);
    expect(bare(await world.migrate(run))).toEqual({ outcome: "migrated", point: "idle", reason: null });
    await world.settle();
    const after = await world.run(run);
    if (mode === "snapshot") expect(after?.deployment).not.toBe(before?.deployment);
    await world.signal(run, "word", "c");
    await world.signal(run, "word", "end");
    expect(valueOf(await world.finish(run))).toEqual({
      heard: ["one a", "one b", "two c"],
      count: 3,
      from: "idle",
      by: "two",
    });
  });

  test("a dry run changes nothing and says what would happen", async () => {
    const { world, run } = await upgraded(mode, "listen", [["word", "a"]]);
    const [record, journal] = [await world.run(run), await world.journal(run)];
    const report = await world.migrate(run, { to: "latest", dryRun: true });
    expect(report).toMatchObject({ outcome: "migrated", dryRun: true, point: "idle" });
    expect([await world.run(run), await world.journal(run)]).toEqual([record, journal]);
  });

  test("a hook that throws refuses, and the run stays as it is", async () => {
    const { world, run } = await upgraded(mode, "listen", [["word", "poison"]]);
    const journal = await world.journal(run);
    expect(bare(await world.migrate(run))).toEqual({
      outcome: "refused",
      point: "idle",
      reason: 'migrate of clerk/listen failed at the safe point "idle": this cannot be counted',
    });
    expect(await world.journal(run)).toEqual(journal);
  });

  test("signals that nobody had taken are met by the new code, and nothing is given out twice", async () => {
    const { world, run } = await upgraded(mode, "patient", [
      ["word", "kept"],
      ["other", "never wanted"],
      ["last", "z"],
    ]);
    await world.migrate(run);
    await world.signal(run, "word", "late");
    const { heard, ids, words } = valueOf(await world.finish(run)) as Record<"heard" | "ids" | "words", string[]>;
    expect(words).toEqual(["kept", "late"]);
    expect(heard?.[0]).toBe("z");
    expect(new Set([...(heard ?? []), ...(ids ?? [])]).size).toBe(5);
  });

  test("a run that is at no safe point is refused, and goes over when it comes to one", async () => {
    const { world, run } = await upgraded(mode, "busy", []);
    expect(bare(await world.migrate(run))).toEqual({
      outcome: "refused",
      point: null,
      reason: 'it is not at a safe point: the last thing that it did is the step "working", entry 2',
    });
    expect((await world.migrate(run, { to: "latest", whenSafe: true })).outcome).toBe("planned");
    expect((await world.run(run))?.migrating).not.toBeNull();
    if (mode === "journal") return; // Its code is the newest already, and does not get on with the journal of the old.
    await world.signal(run, "on");
    await world.settle();
    expect((await world.run(run))?.migrating).toBeNull();
    await world.signal(run, "end");
    expect(valueOf(await world.finish(run))).toEqual({ heard: ["1"], count: 1, from: "idle" });
  });

  test("what is still under way is not lost: the run is refused", async () => {
    const { world, run } = await upgraded(mode, "calling", []);
    expect(bare(await world.migrate(run))).toEqual({
      outcome: "refused",
      point: null,
      reason: "a call to clerk/listen at entry 1 is still under way",
    });
  });

  test("a run that was migrated can be again, with the state as it is by then", async () => {
    const { world, run } = await upgraded(mode, "listen", [["word", "a"]]);
    const old = (await world.run(run))?.deployment ?? "latest"; // By its journal, a run has but one code.
    await world.migrate(run);
    await world.settle();
    expect((await world.migrate(run, { to: old })).outcome).toBe("migrated");
    await world.signal(run, "word", "end");
    const notes = { heard: ["one a"], count: 1, from: mode === "journal" ? "idle, again" : "idle" };
    expect(valueOf(await world.finish(run))).toEqual(
      mode === "journal" ? { ...notes, by: "two" } : { heard: notes, by: "one" },
    );
  });

  test("a crash at any commit around it changes nothing", async () => {
    const expected = await crashedAt(mode, null);
    expect(expected.value).toEqual({ heard: ["one a", "two c"], count: 2, from: "idle", by: "two" });
    for (let point = 1; point <= expected.commits; point += 1)
      for (const fate of ["lose", "orphan"] as const)
        expect(await crashedAt(mode, { point, fate }), `${fate} commit ${point}`).toMatchObject({
          value: expected.value,
          migrations: 1,
        });
  }, 60_000);

  test("a fork of what was before the migration has the old code, one of what came after has the new", async () => {
    const { world, run } = await upgraded(mode, "listen", [["word", "a"]]);
    const length = (await world.journal(run)).length;
    const before = await world.run(run);
    await world.migrate(run);
    await world.settle();
    const after = await world.run(run);
    const [old, newer] = [await world.fork(run, { at: length }), await world.fork(run)];
    const { deployment, migrated } = after ?? { deployment: "", migrated: null };
    expect(await world.run(old)).toMatchObject({ deployment: before?.deployment, migrated: null });
    expect(await world.run(newer)).toMatchObject({ deployment, migrated });
    for (const fork of mode === "snapshot" ? [old, newer] : [newer]) await world.signal(fork, "word", "end");
    expect(valueOf(await world.finish(newer))).toMatchObject({ heard: ["one a"], by: "two" });
    if (mode === "snapshot") expect(valueOf(await world.finish(old))).toEqual({ heard: ["one a"], by: "one" });
    const branch = await world.rewind(run, length);
    expect(await world.run(branch)).toMatchObject({ deployment, migrated });
    expect(await world.run(run)).toMatchObject({ deployment: before?.deployment, migrated: null });
  });

  test("going back to before the migration brings back the old code", async () => {
    const { world, run } = await upgraded(mode, "listen", [["word", "a"]]);
    const length = (await world.journal(run)).length;
    const before = await world.run(run);
    await world.migrate(run);
    await world.settle();
    await world.restart(run, length + 1);
    expect(await world.run(run)).toMatchObject({ deployment: before?.deployment, migrated: null });
  });
});

test("a run that goes on while its state is turned is looked at again: nothing of it is lost", async () => {
  const { world, run } = await upgraded("journal", "listen", []);
  await world.migrate(run); // Else the second version does not get on with its journal.
  await world.settle();
  let happened = 0;
  meanwhile.happens = async () => {
    happened += 1;
    if (happened > 1) return;
    await world.signal(run, "word", "late");
    await world.settle();
  };
  onTestFinished(() => void (meanwhile.happens = async () => undefined));
  expect((await world.migrate(run)).outcome).toBe("migrated");
  expect(happened).toBe(2);
  await world.signal(run, "word", "end");
  expect(valueOf(await world.finish(run))).toMatchObject({ heard: ["two late"], count: 1, from: "idle, again" });
});

/** A migration with words before and after it, and a crash at one of the commits that it takes. */
async function crashedAt(
  mode: MemoryMode,
  crash: { readonly point: number; readonly fate: "lose" | "orphan" } | null,
): Promise<{ readonly value: unknown; readonly commits: number; readonly migrations: number }> {
  const limits = { batchEventsMax: 1, timersPerBatchMax: 1 };
  const { world, run } = await upgraded(mode, "listen", [["word", "a"]], { limits });
  let commits = 0;
  world.onCommit(() => {
    commits += 1;
    return commits === crash?.point ? crash.fate : "apply";
  });
  let result = await ended(world, run);
  if (result === null) {
    delete world.memory.storage.hooks.beforeCommit;
    const again = await open(2, mode, world.memory, { limits });
    result = await ended(again, run);
  }
  const told = (await world.journal(run)).filter((entry) => entry.kind === "resumed");
  return { value: valueOf(result), commits, migrations: told.length };
}

/** By its journal, a run of the first version does not get on with the second: it is paused, and migrated from there. */
async function ended(world: TestWorld, run: RunId): Promise<Result | null> {
  await world.settle();
  if ((await world.run(run))?.status === "paused")
    await outside(world, run).catch((error: unknown) => {
      if (!world.crashed) throw error;
    });
  return world.finish(run, (here) => outside(here, run));
}

/** What a person does, who looks before each thing whether it was done. */
async function outside(world: TestWorld, run: RunId): Promise<boolean> {
  const journal = await world.journal(run);
  const words = journal.filter((entry) => entry.kind === "signal").length;
  if (!journal.some((entry) => entry.kind === "resumed")) await world.migrate(run);
  else await world.signal(run, "word", words === 1 ? "c" : "end");
  return true;
}
