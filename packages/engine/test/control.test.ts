// What people do to runs, and what runs do to each other besides calls.

import { CANCEL_SIGNAL, encodeAwakeableId, FIRST_AWAKEABLE_SIGNAL, type RunId } from "@perdure/protocol";
import { describe, expect, test } from "vitest";
import { openMemoryStore } from "../src/memory-store.ts";
import { environment, openWorld, step, value, type ManualAttempt, type World } from "./harness.ts";

const service = { service: "service", handler: "work" };
const flow = (handler: string) => ({ service: "flow", handler, key: "f" });

type Change = readonly (readonly [string, string | null])[];

async function status(world: World, run: RunId): Promise<string | undefined> {
  return (await openMemoryStore(world.storage).reader.run(run))?.status;
}

async function steps(world: World, run: RunId, names: readonly string[]): Promise<ManualAttempt> {
  const attempt = world.latest(run);
  const first = attempt.start.entries.filter((entry) => entry.kind === "command").length;
  for (const [place, name] of names.entries()) {
    attempt.replies.command(first + place + 1, step(name));
    attempt.replies.propose(first + place + 1, value(JSON.stringify(name)));
    await world.settle();
  }
  return attempt;
}

describe("restart from an entry", () => {
  test("keeps what stands before it and drops the rest", async () => {
    const world = await openWorld();
    const run = await world.submit(service);
    await steps(world, run, ["a", "b", "c"]);
    await world.ask({ type: "restart", run, from: 2 });
    expect(world.of(run)[0]?.aborted).toBe("restarted");
    expect(world.latest(run).start).toMatchObject({ generation: 1, entries: [{ id: 1, command: { name: "a" } }] });
    await steps(world, run, ["b2"]);
    expect(await world.journal(run)).toMatchObject([{ command: { name: "a" } }, { command: { name: "b2" } }]);
  });

  test("revives a finished run, whose caller is not told twice", async () => {
    const world = await openWorld();
    const parent = await world.submit(service);
    world.latest(parent).replies.command(1, { type: "call", target: service, input: null });
    await world.settle();
    const child = world.attempts.at(-1)?.start.run as RunId;
    world.latest(child).replies.end(value("1"));
    await world.settle();
    await world.ask({ type: "restart", run: child, from: 1 });
    expect(await status(world, child)).toBe("running");
    world.latest(child).replies.end(value("2"));
    await world.settle();
    const completions = (await world.journal(parent)).filter((entry) => entry.kind === "completion");
    expect(completions).toMatchObject([{ id: 1, result: { value: "1" } }]);
  });

  test("keeps results of commands before the cut, wherever they stand, and signals, but not a cancel", async () => {
    const world = await openWorld();
    const run = await world.submit(service);
    const { replies } = world.latest(run);
    replies.command(1, { type: "sleep", wakeAt: world.now + 10 });
    replies.command(2, step("after"));
    replies.propose(2, value("1"));
    await world.settle();
    await world.advance(10);
    await world.ask({ type: "signal", run, signal: "note", payload: value("7") });
    await world.ask({ type: "cancel", run });
    await world.ask({ type: "restart", run, from: 2 });
    expect(world.latest(run).start.entries).toMatchObject([
      { kind: "command", id: 1, index: 1 },
      { kind: "completion", id: 1, index: 2 },
      { kind: "signal", signal: "note", index: 3 },
    ]);
  });

  test("lets calls after the cut go and cancels them; the new call is a new run", async () => {
    const world = await openWorld();
    const run = await world.submit(service);
    world.latest(run).replies.command(1, { type: "call", target: service, input: null });
    await world.settle();
    const old = world.attempts.at(-1) as ManualAttempt;
    await world.ask({ type: "restart", run, from: 1 });
    expect(old.notified).toMatchObject([{ kind: "signal", signal: CANCEL_SIGNAL }]);
    world.latest(run).replies.command(1, { type: "call", target: service, input: null });
    await world.settle();
    const fresh = world.attempts.at(-1) as ManualAttempt;
    expect(fresh.start.run).not.toBe(old.start.run);
    old.replies.end(value('"old"'));
    fresh.replies.end(value('"new"'));
    await world.settle();
    expect((await world.journal(run)).filter((entry) => entry.kind === "completion")).toMatchObject([
      { result: { value: '"new"' } },
    ]);
  });

  test("of an entry that is not there is refused", async () => {
    const world = await openWorld();
    const run = await world.submit(service);
    expect(await world.ask({ type: "restart", run, from: 5 })).toMatchObject({ type: "refused", reason: "conflict" });
    expect(await world.ask({ type: "restart", run, from: 0 })).toMatchObject({ type: "refused", reason: "conflict" });
  });
});

describe("an effect whose outcome is unknown", () => {
  async function unknown(world: World): Promise<RunId> {
    const run = await world.submit(service);
    world.latest(run).replies.command(1, { type: "step", name: "pay", atMostOnce: true });
    await world.settle();
    expect(world.latest(run).notified).toMatchObject([{ kind: "command", id: 1 }]); // The intent is durable before the effect.
    world
      .latest(run)
      .replies.error({ failure: { code: 500, message: "unknown", errorCode: "P0011" }, behavior: "pause", command: 1 });
    await world.settle();
    expect(await status(world, run)).toBe("paused");
    return run;
  }

  test("is settled by a person with its result", async () => {
    const world = await openWorld();
    const run = await unknown(world);
    expect(await world.ask({ type: "settleEffect", run, command: 1, result: value('"receipt"') })).toMatchObject({
      type: "done",
    });
    expect(world.latest(run).start.entries).toMatchObject([
      { id: 1 },
      { kind: "retry" },
      { kind: "completion", id: 1, result: { value: '"receipt"' } },
      { kind: "resumed" },
    ]);
  });

  test("may be run again when a person says that it did not happen", async () => {
    const world = await openWorld();
    const run = await unknown(world);
    await world.ask({ type: "settleEffect", run, command: 1 });
    expect(world.latest(run).start.entries.at(-1)).toMatchObject({ kind: "resumed", forget: 1 });
    world.latest(run).replies.propose(1, value('"done"'));
    await world.settle();
    expect((await world.journal(run)).at(-1)).toMatchObject({ kind: "completion", id: 1 });
  });

  test("cannot be settled twice, nor for another kind of command", async () => {
    const world = await openWorld();
    const run = await unknown(world);
    expect(await world.ask({ type: "settleEffect", run, command: 9, result: value("1") })).toMatchObject({
      type: "refused",
    });
    await world.ask({ type: "settleEffect", run, command: 1, result: value("1") });
    expect(await world.ask({ type: "settleEffect", run, command: 1, result: value("2") })).toMatchObject({
      type: "refused",
    });
  });
});

describe("workflow promises", () => {
  test("wake whoever waits, and are settled once", async () => {
    const world = await openWorld();
    const run = await world.submit(flow("run"));
    world.latest(run).replies.command(1, { type: "getPromise", key: "approval" });
    world.latest(run).replies.suspend([{ kind: "completion", id: 1 }], 1);
    await world.settle();
    const other = await world.submit({ service: "flow", handler: "run", key: "g" });
    world.latest(other).replies.command(1, { type: "completePromise", key: "approval", completion: value("0") }); // Another key.
    await world.settle();
    expect(await status(world, run)).toBe("suspended");
    await openMemoryStore(world.storage).reader.run(run);
    const { replies } = world.latest(other);
    replies.command(2, { type: "peekPromise", key: "approval" });
    replies.command(3, { type: "completePromise", key: "approval", completion: value("1") });
    await world.settle();
    expect(world.latest(other).notified).toMatchObject([
      { id: 1, result: { kind: "void" } },
      { id: 2, result: { value: "0" } },
      { id: 3, result: { kind: "failure", failure: { errorCode: "P0033" } } },
    ]);
  });

  test("a promise that a shared handler settles reaches the suspended workflow", async () => {
    const modes = environment.mode.bind(environment);
    Object.assign(environment, {
      mode: (target: Parameters<typeof modes>[0]) => (target.handler === "approve" ? "shared" : modes(target)),
    });
    try {
      const world = await openWorld();
      const run = await world.submit(flow("run"));
      world.latest(run).replies.command(1, { type: "getPromise", key: "approval" });
      world.latest(run).replies.suspend([{ kind: "completion", id: 1 }], 1);
      await world.settle();
      const question = {
        type: "submit",
        run: environment.idempotentId(flow("approve"), "1"),
        fresh: true,
        target: flow("approve"),
        input: null,
        headers: null,
        idempotencyKey: null,
        startAt: null,
        await: false,
      } as const;
      await world.ask(question);
      world
        .latest(question.run)
        .replies.command(1, { type: "completePromise", key: "approval", completion: value("true") });
      await world.settle();
      expect(world.latest(run).start.entries.at(-1)).toMatchObject({
        kind: "completion",
        id: 1,
        result: { value: "true" },
      });
    } finally {
      Object.assign(environment, { mode: modes });
    }
  });
});

describe("messages between runs", () => {
  test("awakeables are resolved by their id, attaches see the end, outputs do not wait", async () => {
    const world = await openWorld();
    const waiter = await world.submit(service);
    const other = await world.submit(service);
    const { replies } = world.latest(other);
    replies.command(1, {
      type: "completeAwakeable",
      awakeable: encodeAwakeableId({ run: waiter, signal: FIRST_AWAKEABLE_SIGNAL }),
      completion: value("5"),
    });
    replies.command(2, { type: "output", ref: { run: waiter } });
    replies.command(3, { type: "attach", ref: { run: waiter } });
    replies.command(4, { type: "sendSignal", run: waiter, signal: "note", payload: value("6") });
    replies.suspend([{ kind: "completion", id: 3 }], 2);
    await world.settle();
    expect(world.latest(waiter).notified).toMatchObject([
      { kind: "signal", signal: FIRST_AWAKEABLE_SIGNAL, payload: { value: "5" } },
      { kind: "signal", signal: "note", payload: { value: "6" } },
    ]);
    world.latest(waiter).replies.end(value("9"));
    await world.settle();
    expect(world.latest(other).start.entries.at(-1)).toMatchObject({
      kind: "completion",
      id: 3,
      result: { value: "9" },
    });
  });

  test("an attach to a run that never was fails with its own code", async () => {
    const world = await openWorld();
    const run = await world.submit(service);
    world.latest(run).replies.command(1, { type: "attach", ref: { target: service, idempotencyKey: "nobody" } });
    await world.settle();
    expect(world.latest(run).notified).toMatchObject([
      { id: 1, result: { kind: "failure", failure: { errorCode: "P0031" } } },
    ]);
  });

  test("an edit of state waits for nobody, but does not go behind the back of the key's holder", async () => {
    const world = await openWorld();
    const key = { service: "object", key: "k" };
    const edit = { type: "editState", key, changes: new Map([["n", "1"]]), expected: new Map(), force: false } as const;
    expect(await world.ask(edit)).toMatchObject({ type: "done" });
    const run = await world.submit({ service: "object", handler: "work", key: "k" });
    expect(world.latest(run).start.state?.get("n")).toBe("1");
    expect(await world.ask(edit)).toMatchObject({ type: "refused", reason: "conflict" });
    expect(await world.ask({ ...edit, force: true })).toMatchObject({ type: "done" });
  });

  test("an edit of state that expects what was changed meanwhile changes nothing", async () => {
    const world = await openWorld();
    const key = { service: "object", key: "k" };
    const edit = (changes: Change, expected: Change) =>
      world.ask({ type: "editState", key, changes: new Map(changes), expected: new Map(expected), force: false });
    // While the first is made durable the others gather in one batch, where each sees what the one before it did.
    const [, first, second, third] = await Promise.all([
      edit([["m", "0"]], []),
      edit([["n", "1"]], [["n", null]]),
      edit([["n", "2"]], [["n", null]]),
      edit([["m", "3"]], [["n", "1"]]),
    ]);
    expect(first).toMatchObject({ type: "done" });
    expect(second).toMatchObject({ type: "refused", reason: "conflict" });
    expect(third).toMatchObject({ type: "done" });
    expect(await edit([["n", null]], [["n", "0"]])).toMatchObject({ type: "refused", reason: "conflict" });
    const state = await openMemoryStore(world.storage).reader.state(key);
    expect(Object.fromEntries(state)).toEqual({ n: "1", m: "3" });
  });
});

describe("askers", () => {
  test("one that has gone leaves nothing behind, and what it asked for happens all the same", async () => {
    const world = await openWorld();
    const run = await world.submit(service);
    let withdraw = (): void => undefined;
    let answered = false;
    void world.loop.ask({ type: "attach", run }, (gone) => (withdraw = gone)).then(() => (answered = true));
    const stays = world.loop.ask({ type: "attach", run });
    await world.settle();
    expect(world.loop.figures.watchers).toBe(2);
    withdraw();
    expect(world.loop.figures.watchers).toBe(1);
    world.latest(run).replies.end(value("1"));
    await world.settle();
    expect(await stays).toMatchObject({ type: "finished" });
    expect(answered).toBe(false);
    expect(world.loop.figures.watchers).toBe(0);
  });
});

describe("resume", () => {
  test("of a run that is suspended until a step's next try makes the try now", async () => {
    const world = await openWorld();
    const run = await world.submit(service);
    world.latest(run).replies.command(1, step("flaky"));
    world.latest(run).replies.retrying(1, 3, { code: 500, message: "no" }, world.now + 60_000);
    world.latest(run).replies.suspend([{ kind: "time", at: world.now + 60_000 }], 1);
    await world.settle();
    await world.ask({ type: "resume", run });
    expect(world.latest(run).start.entries.at(-1)).toMatchObject({ kind: "resumed" });
    expect(world.of(run)).toHaveLength(2);
  });
});

describe("room", () => {
  test("submissions beyond the bound are refused, calls of handlers are not", async () => {
    const world = await openWorld({ limits: { attemptsLiveMax: 1, readyRunsMax: 2 } });
    const run = await world.submit(service);
    await world.submit(service);
    await world.submit(service);
    const question = {
      type: "submit",
      run: environment.idempotentId(service, "x"),
      fresh: false,
      target: service,
      input: null,
      headers: null,
      idempotencyKey: "x",
      startAt: null,
      await: false,
    } as const;
    expect(await world.ask(question)).toMatchObject({ type: "refused", reason: "overloaded" });
    world.latest(run).replies.command(1, { type: "call", target: service, input: null });
    await world.settle();
    expect(await world.journal(run)).toMatchObject([{ command: { type: "call" } }]);
  });

  test("an unknown target is refused from outside and fails the call from inside", async () => {
    const world = await openWorld();
    const target = { service: "nobody", handler: "work" };
    const question = {
      type: "submit",
      run: environment.idempotentId(service, "y"),
      fresh: true,
      target,
      input: null,
      headers: null,
      idempotencyKey: null,
      startAt: null,
      await: false,
    } as const;
    expect(await world.ask(question)).toMatchObject({ type: "refused", reason: "unknown_target" });
    const run = await world.submit(service);
    world.latest(run).replies.command(1, { type: "call", target, input: null });
    await world.settle();
    expect(world.latest(run).notified).toMatchObject([
      { id: 1, result: { kind: "failure", failure: { errorCode: "P0030" } } },
    ]);
  });

  test("a drain lets running attempts end and begins no others", async () => {
    const world = await openWorld();
    const run = await world.submit(service);
    const drained = world.loop.drain(() => undefined);
    expect(world.latest(run).yielded).toBe(true);
    world.latest(run).replies.command(1, step("last"));
    world.latest(run).replies.propose(1, value("1"));
    await world.settle();
    world.latest(run).replies.suspend([], 1);
    await world.settle();
    await drained;
    expect(world.loop.state).toBe("stopped");
    expect(await world.journal(run)).toHaveLength(1);
  });
});
