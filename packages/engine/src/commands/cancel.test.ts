import { describe, expect, test } from "vitest";
import { openWorld, value } from "../../test/harness.ts";
import { openMemoryStore } from "../memory-store.ts";
import { KEY_QUEUE_PAGE } from "../store.ts";

const service = { service: "service", handler: "work" };
const object = { service: "object", handler: "work", key: "k" };

describe("a kill", () => {
  test("of a keyed run that has ended changes nothing", async () => {
    const world = await openWorld();
    const run = await world.submit(object);
    world.latest(run).replies.end(value("1"));
    await world.settle();
    expect(await world.ask({ type: "kill", run })).toEqual({ type: "done", status: "succeeded" });
    expect(world.failures).toEqual([]);
  });

  test("E3: of a holder and more queued children than a load shows gives the turn to whoever comes after them", async () => {
    const world = await openWorld();
    const parent = await world.submit(service);
    const children = KEY_QUEUE_PAGE + 5;
    for (let id = 1; id <= children; id += 1)
      world.latest(parent).replies.command(id, { type: "call", target: object, input: null });
    await world.settle();
    world.attempts[1]?.replies.suspend([{ kind: "signal", signal: "go" }], 0); // Its key is not in memory any more.
    await world.settle();
    const stranger = await world.submit(object);
    expect(await world.ask({ type: "kill", run: parent })).toEqual({ type: "done", status: "killed" });
    expect(world.failures).toEqual([]);
    expect(await openMemoryStore(world.storage).reader.counts()).toEqual({ killed: children + 1, running: 1 });
    expect(world.of(stranger)).toHaveLength(1);
  });
});
