// What one batch holds together: several questions that are decided in one commit.

import { describe, expect, test } from "vitest";
import { environment, openWorld, step, value } from "../test/harness.ts";
import { incarnation } from "./environment.ts";

const service = { service: "service", handler: "work" };

describe("a run that is purged and submitted again in one batch", () => {
  test("is a new run under the old id, and lives", async () => {
    const world = await openWorld();
    const run = await world.submit(service, { idempotencyKey: "once" });
    world.latest(run).replies.end(value("1"));
    await world.settle();
    const purged = world.loop.ask({ type: "purge", run });
    const again = world.submit(service, { idempotencyKey: "once" });
    expect(await purged).toMatchObject({ type: "done" });
    await again;
    expect(world.failures).toEqual([]);
    expect(world.of(run)).toHaveLength(2);
    world.latest(run).replies.command(1, step("a"));
    world.latest(run).replies.propose(1, value("2"));
    await world.settle();
    expect(await world.journal(run)).toMatchObject([{ kind: "command", id: 1, result: { value: "2" } }]);
  });

  test("starts children under other ids than in its former life", async () => {
    const world = await openWorld();
    const run = await world.submit(service, { idempotencyKey: "once" });
    world.latest(run).replies.command(1, { type: "send", target: service, input: null });
    world.latest(run).replies.end(value("1"));
    await world.settle();
    await world.ask({ type: "purge", run });
    await world.submit(service, { idempotencyKey: "once" });
    world.latest(run).replies.command(1, { type: "send", target: service, input: null });
    await world.settle();
    expect(world.failures).toEqual([]);
    expect(new Set(world.attempts.map(({ start }) => start.run)).size).toBe(3); // The run, and two children.
  });

  test("an incarnation differs per restart and per life", () => {
    const numbers = [
      incarnation({ seq: 1, generation: 0 }),
      incarnation({ seq: 1, generation: 1 }),
      incarnation({ seq: 2, generation: 0 }),
    ];
    expect(new Set(numbers).size).toBe(3);
    expect(() => incarnation({ seq: 1, generation: 1_048_576 })).toThrow("less than a million times");
  });

  test("is not told of the end of a child of its former life", async () => {
    const world = await openWorld();
    const run = await world.submit(service, { idempotencyKey: "once" });
    const target = { service: "flow", handler: "run", key: "f" };
    world.latest(run).replies.command(1, { type: "call", target, input: null });
    world.latest(run).replies.end(value("1"));
    await world.settle();
    await world.ask({ type: "purge", run });
    await world.submit(service, { idempotencyKey: "once" });
    world.latest(run).replies.command(1, { type: "call", target, input: null }); // Attaches to the child that is there.
    await world.settle();
    world.latest(environment.workflowId("flow", "f")).replies.end(value("7"));
    await world.settle();
    expect((await world.journal(run)).map(({ kind }) => kind)).toEqual(["command", "completion"]); // J2: once.
  });

  test("E7: does not wait for children of its former life when it is cancelled", async () => {
    const world = await openWorld();
    const run = await world.submit(service, { idempotencyKey: "once" });
    world.latest(run).replies.command(1, { type: "call", target: service, input: null });
    world.latest(run).replies.end(value("1"));
    await world.settle();
    await world.ask({ type: "purge", run });
    await world.submit(service, { idempotencyKey: "once" });
    await world.ask({ type: "cancel", run });
    expect(await world.journal(run)).toMatchObject([{ kind: "signal" }]);
  });

  test("E7: nor where all of that happens in one batch", async () => {
    const world = await openWorld();
    const run = await world.submit(service, { idempotencyKey: "once" });
    world.latest(run).replies.command(1, { type: "call", target: service, input: null });
    await world.settle();
    world.latest(run).replies.end(value("1"));
    void world.loop.ask({ type: "purge", run });
    const again = { type: "submit", run, fresh: false, target: service, input: null, headers: null } as const;
    void world.loop.ask({ ...again, idempotencyKey: "once", startAt: null, await: false });
    void world.loop.ask({ type: "cancel", run });
    await world.settle();
    expect(world.of(run)).toHaveLength(2);
    expect(await world.journal(run)).toMatchObject([{ kind: "signal" }]);
  });
});
