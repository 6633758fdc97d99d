// The promises E1 to E9, each by the smallest case that shows it. The simulator shows them under every weather.

import { CANCEL_SIGNAL, FencedError, type RunId } from "@perdure/protocol";
import { describe, expect, test } from "vitest";
import { openMemoryStore } from "../src/memory-store.ts";
import { environment, openWorld, step, value, type World } from "./harness.ts";

const service = { service: "service", handler: "work" };
const object = (key: string) => ({ service: "object", handler: "work", key });

async function status(world: World, run: RunId): Promise<string | undefined> {
  return (await openMemoryStore(world.storage).reader.run(run))?.status;
}

describe("E1: an acknowledged entry is never lost", () => {
  test("a submission that was answered is there after a crash, with every result the code has seen", async () => {
    const world = await openWorld();
    const run = await world.submit(service);
    world.latest(run).replies.command(1, step("a"));
    world.latest(run).replies.propose(1, value("1"));
    await world.settle();
    expect(world.latest(run).notified).toMatchObject([{ kind: "command", id: 1, result: { value: "1" } }]);
    world.loop.stop();

    const next = await openWorld({ storage: world.storage });
    expect(next.latest(run).start.entries).toMatchObject([
      { kind: "command", id: 1, index: 1, command: { name: "a" }, result: { value: "1" } },
    ]);
  });

  test("nothing is told before its commit is durable", async () => {
    const world = await openWorld();
    const run = await world.submit(service);
    let apply = (): void => undefined;
    world.storage.hooks.beforeCommit = () => new Promise((resolve) => void (apply = () => resolve("apply")));
    world.latest(run).replies.command(1, step("a"));
    world.latest(run).replies.propose(1, value("1"));
    await world.settle();
    expect(world.latest(run).notified).toEqual([]);
    apply();
    await world.settle();
    expect(world.latest(run).notified).toHaveLength(1);
  });

  test("a refused commit drops what is live and answers nobody", async () => {
    const world = await openWorld();
    const run = await world.submit(service);
    world.storage.hooks.beforeCommit = () => "refuse";
    let outcome = "nobody told the asker";
    void world.loop.ask({ type: "signal", run, signal: "go", payload: { kind: "void" } }).then(
      () => (outcome = "answered"),
      () => (outcome = "rejected"),
    );
    await world.settle();
    expect(outcome).toBe("rejected");
    expect(world.failures).toHaveLength(1);
    expect(world.latest(run).aborted).not.toBeNull();
    expect(await world.journal(run)).toEqual([]);
  });
});

describe("E2: a journaled result is the only result", () => {
  test("a second proposal for a complete step changes nothing", async () => {
    const world = await openWorld();
    const run = await world.submit(service);
    const { replies } = world.latest(run);
    replies.command(1, step("a"));
    replies.propose(1, value("1"));
    replies.propose(1, value("2"));
    await world.settle();
    expect(await world.journal(run)).toMatchObject([{ id: 1, result: { value: "1" } }]);
  });

  test("a step and its result are one entry, unless a later command came in between", async () => {
    const world = await openWorld();
    const run = await world.submit(service);
    const { replies } = world.latest(run);
    replies.command(1, step("a"));
    replies.command(2, step("b"));
    replies.propose(2, value("2"));
    replies.propose(1, value("1"));
    await world.settle();
    expect(await world.journal(run)).toMatchObject([
      { kind: "command", id: 1, index: 1 },
      { kind: "command", id: 2, index: 2, result: { value: "2" } },
      { kind: "completion", id: 1, index: 3, result: { value: "1" } },
    ]);
  });
});

describe("J1: commands stand in the journal in the order of their ids", () => {
  test("a step whose result is still missing is written before a later command", async () => {
    const world = await openWorld();
    const run = await world.submit(service);
    const { replies } = world.latest(run);
    replies.command(1, step("slow"));
    replies.command(2, { type: "sleep", wakeAt: world.now + 10 });
    await world.settle();
    expect(world.failures).toEqual([]);
    expect(await world.journal(run)).toMatchObject([
      { id: 1, command: { type: "step" } },
      { id: 2, command: { type: "sleep" } },
    ]);
    replies.propose(1, value("1"));
    await world.settle();
    expect((await world.journal(run)).at(-1)).toMatchObject({ kind: "completion", id: 1 });
  });
});

describe("E3: one exclusive run per key, in order of arrival", () => {
  test("the second waits until the first has ended, and the third for the second", async () => {
    const world = await openWorld();
    const runs: RunId[] = [];
    for (let i = 0; i < 3; i += 1) runs.push(await world.submit(object("k")));
    const [first, second, third] = runs as [RunId, RunId, RunId];
    expect(world.attempts.map((attempt) => attempt.start.run)).toEqual([first]);
    expect([await status(world, second), await status(world, third)]).toEqual(["queued", "queued"]);
    world.latest(first).replies.end(value("1"));
    await world.settle();
    expect(world.attempts.map((attempt) => attempt.start.run)).toEqual([first, second]);
    world.latest(second).replies.end(value("2"));
    await world.settle();
    expect(world.attempts.map((attempt) => attempt.start.run)).toEqual([first, second, third]);
  });

  test("other keys and shared handlers do not wait", async () => {
    const world = await openWorld();
    await world.submit(object("k"));
    await world.submit(object("other"));
    await world.submit({ service: "view", handler: "read", key: "k" });
    expect(world.attempts).toHaveLength(3);
  });

  test("a suspended holder keeps its turn, also over a restart of the host", async () => {
    const world = await openWorld();
    const first = await world.submit(object("k"));
    world.latest(first).replies.suspend([{ kind: "signal", signal: "go" }], 0);
    await world.settle();
    world.loop.stop();
    const next = await openWorld({ storage: world.storage });
    const second = await next.submit(object("k"));
    expect(await status(next, second)).toBe("queued");
    expect(next.attempts).toEqual([]);
  });

  test("killing a queued run leaves the order of the others", async () => {
    const world = await openWorld();
    const first = await world.submit(object("k"));
    const second = await world.submit(object("k"));
    const third = await world.submit(object("k"));
    await world.ask({ type: "kill", run: second });
    world.latest(first).replies.end(value("1"));
    await world.settle();
    expect(world.attempts.map((attempt) => attempt.start.run)).toEqual([first, third]);
  });
});

describe("E4: at most one live attempt; a stale one is refused", () => {
  test("what an aborted attempt still says changes nothing", async () => {
    const world = await openWorld();
    const run = await world.submit(service);
    const old = world.latest(run);
    await world.ask({ type: "pause", run });
    expect(old.aborted).toBe("paused");
    await world.ask({ type: "resume", run });
    const before = await world.journal(run);
    old.replies.command(1, step("stale"));
    old.replies.propose(1, value("stale"));
    old.replies.end(value("stale"));
    await world.settle();
    expect(await world.journal(run)).toEqual(before);
    expect(await status(world, run)).toBe("running");
  });

  test("a stale attempt's event that was under way is refused by its token", async () => {
    const world = await openWorld();
    const run = await world.submit(service);
    await world.ask({ type: "pause", run });
    await world.ask({ type: "resume", run });
    const before = await world.journal(run);
    for (const attempt of [1, 99]) {
      world.loop.enqueue({
        type: "command",
        run,
        attempt,
        id: 1,
        command: { type: "sleep", wakeAt: 0 },
        result: undefined,
      });
      world.loop.enqueue({ type: "end", run, attempt, result: value("stale") });
    }
    await world.settle();
    expect(await world.journal(run)).toEqual(before);
    expect(await status(world, run)).toBe("running");
  });

  test("a host that lost the partition cannot write any more", async () => {
    const world = await openWorld();
    const run = await world.submit(service);
    const other = await openWorld({ storage: world.storage });
    world.latest(run).replies.end(value("old"));
    await world.settle();
    expect(world.failures[0]).toBeInstanceOf(FencedError);
    expect(await status(other, run)).toBe("running");
    other.latest(run).replies.end(value("new"));
    await other.settle();
    expect(await status(other, run)).toBe("succeeded");
  });
});

describe("E5: accepted messages are delivered, also in a race", () => {
  test("a signal that comes while the attempt suspends starts it again at once", async () => {
    const world = await openWorld();
    const run = await world.submit(service);
    const first = world.latest(run);
    const asked = world.loop.ask({ type: "signal", run, signal: "go", payload: value("1") });
    first.replies.suspend([{ kind: "signal", signal: "go" }], 0); // It has not seen entry 1.
    await world.settle();
    await asked;
    expect(world.of(run)).toHaveLength(2);
    expect(world.latest(run).start.entries).toMatchObject([{ kind: "signal", signal: "go" }]);
  });

  test("a child that ends before its parent has suspended wakes it", async () => {
    const world = await openWorld();
    const parent = await world.submit(service);
    world.latest(parent).replies.command(1, { type: "call", target: service, input: null });
    await world.settle();
    const child = world.attempts.at(-1);
    expect(child?.start.run).not.toBe(parent);
    world.latest(parent).replies.suspend([{ kind: "completion", id: 1 }], 1);
    child?.replies.end(value("42"));
    await world.settle();
    expect(world.of(parent)).toHaveLength(2);
    expect(world.latest(parent).start.entries).toMatchObject([
      { id: 1, kind: "command" },
      { id: 1, kind: "completion", result: { value: "42" } },
    ]);
  });

  test("a signal to a paused run waits in its journal", async () => {
    const world = await openWorld();
    const run = await world.submit(service);
    await world.ask({ type: "pause", run });
    await world.ask({ type: "signal", run, signal: "go", payload: value("1") });
    expect(world.of(run)).toHaveLength(1);
    await world.ask({ type: "resume", run });
    expect(world.latest(run).start.entries).toMatchObject([{ kind: "signal", signal: "go" }, { kind: "resumed" }]);
  });
});

describe("E6: timers never fire early, and fire after downtime", () => {
  test("a sleep ends at its time, not before", async () => {
    const world = await openWorld();
    const run = await world.submit(service);
    world.latest(run).replies.command(1, { type: "sleep", wakeAt: world.now + 100 });
    world.latest(run).replies.suspend([{ kind: "completion", id: 1 }], 1);
    await world.settle();
    await world.advance(99);
    expect(await status(world, run)).toBe("suspended");
    await world.advance(1);
    expect(world.of(run)).toHaveLength(2);
  });

  test("a timer that fires takes no other one with it", async () => {
    const world = await openWorld();
    const run = await world.submit(service);
    const { replies } = world.latest(run);
    replies.command(1, { type: "sleep", wakeAt: world.now + 100 });
    replies.command(2, { type: "sleep", wakeAt: world.now + 600 });
    await world.settle();
    await world.advance(100);
    expect(world.latest(run).notified).toMatchObject([{ kind: "completion", id: 1 }]);
    await world.advance(500);
    expect(world.latest(run).notified).toMatchObject([{ id: 1 }, { kind: "completion", id: 2 }]);
  });

  test("a timer that came due while nothing ran fires at the start", async () => {
    const world = await openWorld();
    const run = await world.submit(service, { startAt: world.now + 50 });
    expect(await status(world, run)).toBe("scheduled");
    world.loop.stop();
    const next = await openWorld({ storage: world.storage, now: world.now + 1_000 });
    expect(await status(next, run)).toBe("running");
    expect(next.of(run)).toHaveLength(1);
  });
});

describe("E7: cancelling runs down the call tree", () => {
  test("children are told first; the parent when they have ended, and its cancel before their results", async () => {
    const world = await openWorld();
    const parent = await world.submit(service);
    world.latest(parent).replies.command(1, { type: "call", target: service, input: null });
    world.latest(parent).replies.command(2, { type: "call", target: service, input: null });
    await world.settle();
    const children = world.attempts.slice(-2);
    children[0]?.replies.end(value("done before")); // Finished work is spared.
    await world.settle();
    const notifiedBefore = world.latest(parent).notified.length;
    await world.ask({ type: "cancel", run: parent });
    expect(children[1]?.notified).toMatchObject([{ kind: "signal", signal: CANCEL_SIGNAL }]);
    expect(world.latest(parent).notified).toHaveLength(notifiedBefore);
    children[1]?.replies.end({ kind: "failure", failure: { code: 409, message: "cancelled", errorCode: "P0002" } });
    await world.settle();
    const told = world.latest(parent).notified.slice(notifiedBefore);
    expect(told).toMatchObject([
      { kind: "signal", signal: CANCEL_SIGNAL },
      { kind: "completion", id: 2 },
    ]);
    // It may compensate before it ends.
    world.latest(parent).replies.command(3, step("undo"));
    world.latest(parent).replies.propose(3, value("null"));
    world
      .latest(parent)
      .replies.end({ kind: "failure", failure: { code: 409, message: "cancelled", errorCode: "P0002" } });
    await world.settle();
    expect(await status(world, parent)).toBe("cancelled");
  });

  test("a child that had not begun ends at once, and one-way sends are spared", async () => {
    const world = await openWorld();
    const blocker = await world.submit(object("k"));
    const parent = await world.submit(service);
    world.latest(parent).replies.command(1, { type: "call", target: object("k"), input: null });
    world.latest(parent).replies.command(2, { type: "send", target: service, input: null });
    await world.settle();
    const sent = world.attempts.at(-1);
    await world.ask({ type: "cancel", run: parent });
    expect(world.latest(parent).notified.at(-2)).toMatchObject({ kind: "signal", signal: CANCEL_SIGNAL });
    expect(world.latest(parent).notified.at(-1)).toMatchObject({
      kind: "completion",
      id: 1,
      result: { kind: "failure" },
    });
    expect(sent?.notified).toEqual([]);
    expect(await status(world, blocker)).toBe("running");
  });

  test("a kill takes the whole tree in one commit", async () => {
    const world = await openWorld();
    const parent = await world.submit(service);
    world.latest(parent).replies.command(1, { type: "call", target: service, input: null });
    await world.settle();
    const child = world.attempts.at(-1);
    child?.replies.command(1, { type: "call", target: service, input: null });
    await world.settle();
    const runs = new Set(world.attempts.map((attempt) => attempt.start.run));
    expect(runs.size).toBe(3);
    await world.ask({ type: "kill", run: parent });
    for (const run of runs) expect(await status(world, run)).toBe("killed");
    expect(world.attempts.every((attempt) => attempt.aborted !== null)).toBe(true);
  });

  test("a call that crosses the cancel is cancelled when its caller ends by it", async () => {
    const world = await openWorld();
    const parent = await world.submit(service);
    await world.ask({ type: "cancel", run: parent });
    // The code has not seen it when it calls: the command stands after the cancel.
    world.latest(parent).replies.command(1, { type: "call", target: service, input: null });
    await world.settle();
    const child = world.attempts.at(-1);
    expect(child?.notified).toEqual([]);
    world.latest(parent).replies.end({ kind: "failure", failure: { code: 409, message: "c", errorCode: "P0002" } });
    await world.settle();
    expect(child?.notified).toMatchObject([{ kind: "signal", signal: CANCEL_SIGNAL }]);
    expect(await status(world, parent)).toBe("cancelled");
  });

  test("a cancel wakes a suspended and a retrying run", async () => {
    const world = await openWorld();
    const suspended = await world.submit(service);
    world.latest(suspended).replies.suspend([{ kind: "signal", signal: "go" }], 0);
    const failing = await world.submit(service);
    world.latest(failing).replies.error({ failure: { code: 500, message: "no" }, behavior: "retry" });
    await world.settle();
    expect(await status(world, failing)).toBe("retrying");
    for (const run of [suspended, failing]) {
      await world.ask({ type: "cancel", run });
      expect(world.of(run)).toHaveLength(2);
      expect(world.latest(run).start.entries.at(-1)).toMatchObject({ kind: "signal", signal: CANCEL_SIGNAL });
    }
  });
});

describe("E8: whatever can make progress does", () => {
  test("runs that found no room begin as others end, also after a restart", async () => {
    const world = await openWorld({ limits: { attemptsLiveMax: 2 } });
    for (let i = 0; i < 5; i += 1) await world.submit(service);
    expect(world.attempts).toHaveLength(2);
    world.loop.stop();
    const next = await openWorld({ storage: world.storage, limits: { attemptsLiveMax: 2 } });
    for (let ended = 0; ended < 5; ended += 1) {
      const attempt = next.attempts[ended];
      expect(attempt).toBeDefined();
      attempt?.replies.end(value("1"));
      await next.settle();
    }
    expect(new Set(next.attempts.map((attempt) => attempt.start.run)).size).toBe(5);
  });

  test("a failing handler is retried with growing waits, then waits for a person", async () => {
    const world = await openWorld();
    const run = await world.submit(service);
    for (let tries = 1; tries < 3; tries += 1) {
      world.latest(run).replies.error({ failure: { code: 500, message: `no ${tries}` }, behavior: "retry" });
      await world.settle();
      expect(await status(world, run)).toBe("retrying");
      await world.advance(60_000);
      expect(world.of(run)).toHaveLength(tries + 1);
    }
    world.latest(run).replies.error({ failure: { code: 500, message: "no 3" }, behavior: "retry" });
    await world.settle();
    expect(await status(world, run)).toBe("paused");
    await world.ask({ type: "resume", run });
    expect(world.latest(run).start.tries).toBe(0);
  });

  test("finished runs go when their retention is over", async () => {
    const world = await openWorld();
    const run = await world.submit(service);
    world.latest(run).replies.end(value("1"));
    await world.settle();
    await world.advance(500);
    expect(await status(world, run)).toBe("succeeded");
    await world.advance(120_000);
    await world.advance(120_000);
    expect(await status(world, run)).toBeUndefined();
  });
});

describe("E9: the same key gives the same run", () => {
  test("a repeated submission attaches to the first, also after its end and after a restart", async () => {
    const world = await openWorld();
    const run = await world.submit(service, { idempotencyKey: "k" });
    expect(await world.submit(service, { idempotencyKey: "k" })).toBe(run);
    expect(world.attempts).toHaveLength(1);
    world.latest(run).replies.end(value("7"));
    await world.settle();
    world.loop.stop();
    const next = await openWorld({ storage: world.storage });
    const question = {
      type: "submit",
      run,
      fresh: false,
      target: service,
      input: null,
      headers: null,
      idempotencyKey: "k",
      startAt: null,
      await: true,
    } as const;
    expect(await next.ask(question)).toMatchObject({ type: "finished", existing: true, result: { value: "7" } });
    expect(next.attempts).toEqual([]);
  });

  test("two submissions of one key in one batch are one run", async () => {
    const world = await openWorld();
    const question = {
      type: "submit",
      run: environment.idempotentId(service, "k"),
      fresh: false,
      target: service,
      input: null,
      headers: null,
      idempotencyKey: "k",
      startAt: null,
      await: false,
    } as const;
    const replies = Promise.all([world.loop.ask(question), world.loop.ask(question)]);
    await world.settle();
    expect((await replies).map((reply) => reply.type === "accepted" && reply.existing)).toEqual([false, true]);
    expect(world.attempts).toHaveLength(1);
  });
});
