import { describe, expect, test } from "vitest";
import { openMemoryStore } from "../memory-store.ts";
import { openWorld, step } from "../../test/harness.ts";

const failure = { code: 500, message: "no" };

describe("what attempts say of failures", () => {
  test("C2: a failed try is told back once it is durable, and is no reason to start again", async () => {
    const world = await openWorld();
    const run = await world.submit({ service: "service", handler: "work" });
    const { replies } = world.latest(run);
    replies.command(1, step("a"));
    replies.retrying(1, 1, failure, world.now + 100);
    replies.suspend([{ kind: "time", at: world.now + 100 }], 0);
    await world.settle();
    expect(world.latest(run).notified).toMatchObject([]); // It has suspended: C1.
    expect(world.of(run)).toHaveLength(1);
    await world.advance(100);
    const next = world.latest(run);
    expect(world.of(run)).toHaveLength(2);
    next.replies.retrying(1, 2, failure, world.now + 100);
    await world.settle();
    expect(next.notified).toMatchObject([{ kind: "retry", id: 1, tries: 2 }]);
  });

  test("E3: an exclusive run that pauses keeps its turn, and nothing of its key is asked for", async () => {
    const world = await openWorld();
    const object = { service: "object", handler: "work", key: "k" };
    const run = await world.submit(object);
    world.latest(run).replies.suspend([{ kind: "signal", signal: "go" }], 0);
    await world.settle(); // Its key is not in memory any more.
    await world.ask({ type: "signal", run, signal: "go", payload: { kind: "void" } });
    world.latest(run).replies.error({ failure, behavior: "pause" });
    await world.settle();
    expect(world.failures).toEqual([]);
    expect((await openMemoryStore(world.storage).reader.run(run))?.status).toBe("paused");
    const other = await world.submit(object);
    expect(world.of(other)).toHaveLength(0);
  });
});
