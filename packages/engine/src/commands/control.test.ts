// Restarts and settlements that share their batch with what the attempt says.

import type { RunId } from "@perdure/protocol";
import { describe, expect, test } from "vitest";
import { openWorld, step, value, type World } from "../../test/harness.ts";

const service = { service: "service", handler: "work" };

async function withSteps(world: World, count: number): Promise<RunId> {
  const run = await world.submit(service);
  for (let id = 1; id <= count; id += 1) {
    world.latest(run).replies.command(id, step(`s${id}`));
    world.latest(run).replies.propose(id, value(String(id)));
    await world.settle();
  }
  return run;
}

describe("a restart", () => {
  test("J1: cuts also what its own batch has written", async () => {
    const world = await openWorld();
    const run = await withSteps(world, 2);
    const { replies } = world.latest(run);
    replies.command(3, step("s3"));
    replies.propose(3, value("3"));
    void world.loop.ask({ type: "restart", run, from: 2 });
    await world.settle();
    expect(world.latest(run).start.entries).toMatchObject([{ id: 1 }]);
    world.latest(run).replies.command(2, step("again"));
    world.latest(run).replies.propose(2, value("4"));
    await world.settle();
    expect(world.failures).toEqual([]);
    expect(await world.journal(run)).toMatchObject([{ id: 1 }, { id: 2, command: { name: "again" } }]);
  });

  test("two in one batch are made one after the other, whichever goes further back", async () => {
    for (const [a, b] of [
      [3, 1],
      [1, 3],
      [2, 2],
    ] as const) {
      const world = await openWorld();
      const run = await withSteps(world, 3);
      const replies = [
        world.loop.ask({ type: "restart", run, from: a }),
        world.loop.ask({ type: "restart", run, from: b }),
      ];
      await world.settle();
      const types = (await Promise.all(replies)).map(({ type }) => type);
      expect(types[0]).toBe("done");
      expect(world.failures).toEqual([]);
      expect(await world.journal(run)).toHaveLength(Math.min(a, b) - 1);
    }
  });

  test("E8: keeps the ends of children that were held back for a cancel", async () => {
    const world = await openWorld();
    const parent = await world.submit(service);
    for (const id of [1, 2]) world.latest(parent).replies.command(id, { type: "call", target: service, input: null });
    await world.settle();
    const [first] = world.attempts.slice(1);
    await world.ask({ type: "cancel", run: parent });
    first?.replies.end(value("1"));
    await world.settle();
    await world.ask({ type: "restart", run: parent, from: 3 });
    expect(world.latest(parent).start.entries.at(-1)).toMatchObject({ kind: "completion", id: 1 });
  });

  test("E8: does so also where the run is suspended on them", async () => {
    const world = await openWorld();
    const parent = await world.submit(service);
    const { replies } = world.latest(parent);
    for (const id of [1, 2]) replies.command(id, { type: "call", target: service, input: null });
    await world.settle();
    replies.suspend([{ kind: "completion", id: 1 }], 2);
    const [first] = world.attempts.slice(1);
    await world.ask({ type: "cancel", run: parent });
    first?.replies.end(value("1"));
    await world.settle();
    expect(await world.ask({ type: "restart", run: parent, from: 3 })).toEqual({ type: "done", status: "running" });
    expect(world.failures).toEqual([]);
    expect(world.of(parent)).toHaveLength(2);
    expect(world.latest(parent).start.entries.at(-1)).toMatchObject({ kind: "completion", id: 1 });
  });

  test("E8: finds them also where the run has ended meanwhile", async () => {
    const world = await openWorld();
    const parent = await world.submit(service);
    for (const id of [1, 2]) world.latest(parent).replies.command(id, { type: "call", target: service, input: null });
    await world.settle();
    const [first] = world.attempts.slice(1);
    await world.ask({ type: "cancel", run: parent });
    first?.replies.end(value("1"));
    await world.settle();
    world.latest(parent).replies.end(value("0"));
    await world.settle();
    await world.ask({ type: "restart", run: parent, from: 3 });
    expect(world.latest(parent).start.entries.at(-1)).toMatchObject({ kind: "completion", id: 1 });
  });

  test("J1: a wait that is cut off in the batch of its end is not completed; one before the cut is, later", async () => {
    for (const from of [1, 2]) {
      const world = await openWorld();
      const awaited = await world.submit(service);
      const run = await world.submit(service);
      world.latest(run).replies.command(1, { type: "attach", ref: { run: awaited } });
      await world.settle();
      void world.loop.ask({ type: "restart", run, from });
      if (from === 2) await world.settle();
      world.latest(awaited).replies.end(value("1"));
      await world.settle();
      expect(await world.journal(run)).toHaveLength(from === 1 ? 0 : 2);
    }
  });

  test("E8: a child that ends after its parent is there for the parent's restart", async () => {
    const world = await openWorld();
    const parent = await world.submit(service);
    world.latest(parent).replies.command(1, { type: "call", target: service, input: null });
    await world.settle();
    const [, child] = world.attempts;
    world.latest(parent).replies.end(value("0"));
    await world.settle();
    child?.replies.end(value("1"));
    await world.settle();
    await world.ask({ type: "restart", run: parent, from: 2 });
    expect(world.latest(parent).start.entries.at(-1)).toMatchObject({ kind: "completion", id: 1 });
  });

  test("E7: a cancel in the same batch does not wait for children that were let go", async () => {
    const world = await openWorld();
    const parent = await world.submit(service);
    world.latest(parent).replies.command(1, { type: "call", target: service, input: null });
    await world.settle();
    void world.loop.ask({ type: "restart", run: parent, from: 1 });
    void world.loop.ask({ type: "cancel", run: parent });
    await world.settle();
    expect(await world.journal(parent)).toMatchObject([{ kind: "signal" }]);
  });
});

test("L1: an attempt that its batch ends is not told of entries that went with its run", async () => {
  const world = await openWorld();
  const run = await world.submit(service);
  void world.loop.ask({ type: "signal", run, signal: "go", payload: { kind: "void" } });
  void world.loop.ask({ type: "kill", run });
  void world.loop.ask({ type: "purge", run });
  await world.settle();
  expect(world.latest(run).aborted).not.toBeNull();
  expect(world.latest(run).notified).toEqual([]);
});

describe("settling an effect", () => {
  test("J2: is refused where its own batch has brought the result", async () => {
    const world = await openWorld();
    const run = await world.submit(service);
    const { replies } = world.latest(run);
    replies.command(1, { type: "step", name: "pay", atMostOnce: true });
    await world.settle();
    replies.propose(1, value("1"));
    void world.loop.ask({ type: "pause", run });
    const settled = world.loop.ask({ type: "settleEffect", run, command: 1, result: value("2") });
    await world.settle();
    expect(await settled).toMatchObject({ type: "refused", reason: "conflict" });
    expect((await world.journal(run)).filter(({ kind }) => kind === "completion")).toHaveLength(1);
  });

  test("J1: is refused where its own batch has cut the step off", async () => {
    const world = await openWorld();
    const run = await world.submit(service);
    world.latest(run).replies.command(1, { type: "step", name: "pay", atMostOnce: true });
    await world.settle();
    void world.loop.ask({ type: "restart", run, from: 1 });
    void world.loop.ask({ type: "pause", run });
    const settled = world.loop.ask({ type: "settleEffect", run, command: 1, result: value("2") });
    await world.settle();
    expect(await settled).toMatchObject({ type: "refused", reason: "conflict" });
    expect(await world.journal(run)).toEqual([]);
  });
});
