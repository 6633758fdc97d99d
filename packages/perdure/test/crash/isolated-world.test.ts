// Test worlds with isolates: what is asked for is what is done, and runs go on from images of images.

import { DefinitionError } from "@perdure/protocol";
import { service, type AnyDefinition } from "@perdure/sdk";
import { describe, expect, test } from "vitest";
import { createTestMemory, TestWorld, type TestWorldOptions } from "../../src/testing.ts";
import { approval, counter, features, log, worker } from "./features.ts";

const services: readonly AnyDefinition[] = [features, counter, worker, approval, log];
const sources = [new URL("./features.ts", import.meta.url)];

const open = (more: Partial<TestWorldOptions> = {}): Promise<TestWorld> =>
  new TestWorld({ services, sources, mode: "snapshot", images: "every", ...more }).open();

const signalled = { service: "features", handler: "signalled" };

describe("a run with memory: snapshot", () => {
  test("is paused and resumed five times in a row, and goes on from images of restored instances", async () => {
    const world = await open();
    const run = await world.submit(signalled);
    await world.settle();
    await world.signal(run, "go", "started");
    for (let round = 0; round < 5; round += 1) {
      await world.signal(run, "note", `note ${round}`);
      await world.settle();
      await world.pause(run);
      await world.settle();
      expect((await world.run(run))?.status).toBe("paused");
      await world.resume(run);
      await world.settle();
    }
    await world.signal(run, "note", "end");
    const notes = Array.from({ length: 5 }, (_, round) => `note ${round}`);
    expect(await world.finish(run)).toMatchObject({ value: JSON.stringify({ first: "started", notes }) });
    world.crash();
    expect(world.memory.images.restored).toBeGreaterThanOrEqual(5);
    expect(world.memory.executions.filter(({ journaledBefore }) => journaledBefore)).toEqual([]);
  });

  test("waits for a child that ended before the run's next image was taken", async () => {
    const memory = createTestMemory();
    const first = await open({ memory });
    const run = await first.submit({ service: "features", handler: "workflows" });
    await first.settle();
    await first.advance(59_000); // Asleep, and let go. Its child waits, and has seen nothing that an image were for.
    first.crash();
    const second = await open({ memory });
    expect(await second.finish(run)).toMatchObject({ value: '"report: yes"' });
    second.crash();
    expect(memory.images.restored).toBeGreaterThanOrEqual(1);
  });

  test("is the same in a world that repeats", async () => {
    const journals = await Promise.all(
      [1, 2].map(async () => {
        const world = await open({ images: "random:7" });
        const run = await world.submit({ service: "features", handler: "retries" });
        await world.finish(run);
        return JSON.stringify(await world.journal(run));
      }),
    );
    expect(journals[0]).toBe(journals[1]);
  });
});

describe("the mode of a world", () => {
  test.each([
    [undefined, false],
    ["journal", false],
    ["snapshot", true],
  ] as const)("%s", async (mode, isIsolated) => {
    const world = await new TestWorld({ services, sources, ...(mode === undefined ? {} : { mode }) }).open();
    const run = await world.submit({ service: "worker", handler: "double" }, 2);
    expect(await world.finish(run)).toMatchObject({ value: "4" });
    expect((await world.run(run))?.deployment === null).toBe(!isIsolated);
  });

  test("journal also for what asks for images", async () => {
    const asking = service("asking", { go: async () => 1 }, { memory: "snapshot" });
    const world = await new TestWorld({ services: [asking], mode: "journal" }).open();
    const run = await world.submit({ service: "asking", handler: "go" });
    expect(await world.finish(run)).toMatchObject({ value: "1" });
  });

  test("snapshot needs to be told where the code is", async () => {
    const asking = service("asking", { go: async () => 1 }, { memory: "snapshot" });
    await expect(new TestWorld({ services: [asking] }).open()).rejects.toThrow(DefinitionError);
    await expect(open({ services: [asking], sources })).rejects.toThrow(/none of features.ts exports them/);
  });
});
