import { describe, expect, test } from "vitest";
import { openWorld, value, type World } from "../../test/harness.ts";
import type { RunId } from "@perdure/protocol";

const service = { service: "service", handler: "work" };

async function sleeper(world: World, ms = 100): Promise<RunId> {
  const run = await world.submit(service);
  world.latest(run).replies.command(1, { type: "sleep", wakeAt: world.now + ms });
  await world.settle();
  return run;
}

describe("timers", () => {
  test("J2: two `timers` events of one batch fire a timer once", async () => {
    const world = await openWorld();
    const run = await sleeper(world);
    world.now += 100;
    world.loop.enqueue({ type: "timers" });
    world.loop.enqueue({ type: "timers" });
    await world.settle();
    expect((await world.journal(run)).filter(({ kind }) => kind === "completion")).toHaveLength(1);
  });

  test("J1: a sleep that is cut off by a restart in the same batch is not completed", async () => {
    const world = await openWorld();
    const run = await sleeper(world);
    world.now += 100;
    void world.loop.ask({ type: "restart", run, from: 1 });
    world.loop.enqueue({ type: "timers" });
    await world.settle();
    expect(world.latest(run).start.generation).toBe(1);
    expect(await world.journal(run)).toEqual([]);
  });

  test("E8: a sleep that ends after its run has ended is there for a restart", async () => {
    const world = await openWorld();
    const run = await sleeper(world);
    world.latest(run).replies.end(value("1")); // The sleep lost a race.
    await world.settle();
    await world.advance(100);
    await world.ask({ type: "restart", run, from: 2 });
    expect(world.latest(run).start.entries).toMatchObject([{ kind: "command" }, { kind: "completion", id: 1 }]);
  });

  test("E8: a sleep before the cut still ends after a restart", async () => {
    const world = await openWorld();
    const run = await sleeper(world);
    await world.ask({ type: "restart", run, from: 2 });
    await world.advance(100);
    expect(world.latest(run).notified).toMatchObject([{ kind: "completion", id: 1 }]);
  });

  test("the next timer is armed after others have fired", async () => {
    const world = await openWorld();
    const [first, second] = [await sleeper(world, 100), await sleeper(world, 200)];
    await world.advance(100);
    expect(world.latest(first).notified).toHaveLength(1);
    expect(world.latest(second).notified).toHaveLength(0);
    await world.advance(100);
    expect(world.latest(second).notified).toHaveLength(1);
  });
});
