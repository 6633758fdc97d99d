// Forks and rewinds, by the smallest case each.

import {
  CANCEL_SIGNAL,
  type CapturedImage,
  type Entry,
  type Run,
  type RunId,
  sha256,
  type Target,
} from "@perdure/protocol";
import { describe, expect, test } from "vitest";
import { openMemoryStore } from "../src/memory-store.ts";
import type { Fork } from "../src/events.ts";
import { environment, openWorld, step, value, type World } from "./harness.ts";

const service = { service: "service", handler: "work" };
const object = (key: string): Target => ({ service: "object", handler: "work", key });
const flow = (key: string): Target => ({ service: "flow", handler: "work", key });
const VOID = { kind: "void" } as const;

let names = 0;
const newId = (): RunId => environment.idempotentId(service, `fork ${++names}`);

async function forked(world: World, run: RunId, more: Partial<Fork> = {}): Promise<RunId> {
  const id = more.id ?? newId();
  const reply = await world.ask({ type: "fork", run, id, ...more });
  expect(reply, JSON.stringify(reply)).toMatchObject({ type: "accepted", run: id, existing: false });
  return id;
}

async function refused(world: World, run: RunId, more: Partial<Fork>): Promise<string> {
  const reply = await world.ask({ type: "fork", run, id: newId(), ...more });
  expect(reply.type).toBe("refused");
  return reply.type === "refused" ? reply.message : "";
}

async function recordOf(world: World, run: RunId): Promise<Run> {
  const record = await openMemoryStore(world.storage).reader.run(run);
  if (record === null) throw new Error(`there is no run ${run}`);
  return record;
}

const stateOf = async (world: World, key: string) =>
  Object.fromEntries(await openMemoryStore(world.storage).reader.state({ service: "object", key }));

async function done(world: World, run: RunId, id: number): Promise<void> {
  world.latest(run).replies.command(id, step(`s${id}`));
  world.latest(run).replies.propose(id, value(`${id}`));
  await world.settle();
}

function captured(entry: number): CapturedImage {
  const bytes = new TextEncoder().encode(`seen ${entry}`);
  return { entry, hash: sha256(bytes), base: sha256("base"), bytes };
}

/** What of entries is the same in a copy: all of it. */
const prefixOf = async (world: World, run: RunId, at: number): Promise<readonly Entry[]> =>
  (await world.journal(run)).slice(0, at);

describe("fork: what is shared", () => {
  test("F1: the prefix is the origin's; what follows is its own; unfinished steps are begun again", async () => {
    const world = await openWorld();
    const run = await world.submit(service);
    await done(world, run, 1);
    await done(world, run, 2);
    world.latest(run).replies.command(3, step("under way"));
    await world.ask({ type: "pause", run });
    const fork = await forked(world, run, { at: 3 });
    const { start } = world.latest(fork);
    expect(start.entries).toEqual(await prefixOf(world, run, 3));
    expect(start.origin).toEqual({ run, key: null, until: 3, origin: null });
    expect(start.createdAt).toBe((await recordOf(world, run)).createdAt);
    expect([start.input, start.deployment, start.generation]).toEqual([null, "d1", 0]);
    // E2: results are accepted for what has none, and for nothing else.
    world.latest(fork).replies.propose(1, value('"another"'));
    world.latest(fork).replies.propose(3, value("3"));
    await done(world, fork, 4);
    world.latest(fork).replies.end(value("7"));
    await world.settle();
    expect((await world.journal(fork)).slice(3)).toMatchObject([
      { index: 4, kind: "completion", id: 3, result: { value: "3" } },
      { index: 5, kind: "command", id: 4 },
    ]);
    expect(await world.journal(run)).toHaveLength(3);
    expect(await recordOf(world, fork)).toMatchObject({
      status: "succeeded",
      parent: null,
      forkedFrom: { run, key: null, entry: 3, origin: null },
    });
  });

  test("at the journal's end where no entry is named, also of a run that has ended", async () => {
    const world = await openWorld();
    const run = await world.submit(service);
    await done(world, run, 1);
    world.latest(run).replies.end(value("1"));
    await world.settle();
    const fork = await forked(world, run);
    expect(world.latest(fork).start.entries).toEqual(await world.journal(run));
    expect(await recordOf(world, fork)).toMatchObject({ status: "running", result: null, finishedAt: null });
  });

  test("the newest image that has seen no more is shared by its hash", async () => {
    const world = await openWorld();
    const run = await world.submit(service);
    for (let id = 1; id <= 4; id += 1) {
      await done(world, run, id);
      if (id > 1) world.latest(run).replies.image(captured(id));
      await world.settle();
      if (id === 2) await world.ask({ type: "nameMoment", run, entry: 2, name: "two" });
    }
    const fork = await forked(world, run, { at: 3 });
    const { start } = world.latest(fork);
    expect(start.image?.info).toMatchObject({ entry: 3, name: null });
    expect(start.entries).toEqual([]);
    const before = await forked(world, run, { at: 2 });
    expect(world.latest(before).start.image?.bytes).toEqual(captured(2).bytes);
    expect((await forked(world, run, { at: 1 }).then((id) => world.latest(id).start)).image).toBeNull();
    await world.ask({ type: "kill", run });
    await world.ask({ type: "purge", run });
    world.loop.stop();
    const next = await openWorld({ storage: world.storage });
    expect(next.latest(fork).start.image?.bytes).toEqual(captured(3).bytes);
  });

  test("a fork of a fork knows who made which of its entries", async () => {
    const world = await openWorld();
    const run = await world.submit(service);
    await done(world, run, 1);
    const first = await forked(world, run, { at: 1 });
    await done(world, first, 2);
    await done(world, first, 3);
    const second = await forked(world, first, { at: 2 });
    const origin = { run, key: null, until: 1, origin: null };
    expect(world.latest(second).start.origin).toEqual({ run: first, key: null, until: 2, origin });
    const early = await forked(world, first, { at: 1 });
    expect(world.latest(early).start.origin).toEqual(origin);
    expect(world.latest(await forked(world, first, { at: 0 })).start.origin).toBeNull();
    // What is cut off is not the origin's any more.
    await world.ask({ type: "restart", run: second, from: 2 });
    expect(world.latest(second).start.origin).toEqual(origin);
    await world.ask({ type: "restart", run: second, from: 1 });
    expect(world.latest(second).start.origin).toBeNull();
    expect(world.latest(second).start.createdAt).toBe((await recordOf(world, second)).createdAt);
  });

  test("a note is given as a signal behind the prefix; another input begins anew", async () => {
    const world = await openWorld();
    const run = await world.submit(service);
    await done(world, run, 1);
    const noted = await forked(world, run, { at: 1, note: '{"tools":[]}' });
    expect(world.latest(noted).start.entries[1]).toMatchObject({
      kind: "signal",
      signal: "perdure.fork",
      payload: { value: '{"tools":[]}' },
    });
    const anew = await forked(world, run, { at: 0, input: '"other"' });
    expect(world.latest(anew).start).toMatchObject({ input: '"other"', entries: [] });
    expect(await refused(world, run, { at: 1, input: '"other"' })).toBe(
      'the entries up to 1 follow from the input that the run had, so a fork at 1 cannot have another. Fork at 0 to begin anew with another input, or give a note, which the fork gets as the signal "perdure.fork"',
    );
  });

  test("what cannot be forked is refused, with what to do", async () => {
    const world = await openWorld();
    const run = await world.submit(service);
    await done(world, run, 1);
    expect(await refused(world, newId(), {})).toContain("it never was, or its retention is over");
    expect(await refused(world, run, { at: 2 })).toContain("entry 2 is not among them");
    expect(await refused(world, run, { key: "k" })).toContain("leave the key out");
    expect(await refused(world, run, { id: run })).toContain(`there is a run ${run} already`);
    expect(world.failures).toEqual([]);
  });

  test("a run that is submitted, works on and is forked in one batch", async () => {
    const world = await openWorld();
    const run = newId();
    const id = newId();
    const submitted = world.loop.ask({
      type: "submit",
      run,
      fresh: true,
      target: service,
      input: null,
      headers: null,
      idempotencyKey: null,
      startAt: null,
      await: false,
    });
    const reply = world.loop.ask({ type: "fork", run, id });
    await world.settle();
    expect([(await submitted).type, (await reply).type]).toEqual(["accepted", "accepted"]);
    const { replies } = world.latest(run);
    replies.command(1, step("a"));
    replies.propose(1, value("1"));
    const later = world.loop.ask({ type: "fork", run, id: newId() });
    await world.settle();
    expect(await later).toMatchObject({ type: "accepted" });
    expect(world.attempts.at(-1)?.start.entries).toHaveLength(1);
    expect(world.failures).toEqual([]);
  });
});

describe("fork: what is under way", () => {
  test("F2: a child is shared: the fork gets its result, also later, and does not own it", async () => {
    const world = await openWorld();
    const run = await world.submit(service);
    world.latest(run).replies.command(1, { type: "call", target: service, input: null });
    await world.settle();
    const child = world.attempts.at(-1);
    const fork = await forked(world, run, { at: 1 });
    await world.ask({ type: "cancel", run: fork });
    expect(world.latest(fork).notified).toMatchObject([{ kind: "signal", signal: CANCEL_SIGNAL }]);
    expect(child?.notified).toEqual([]);
    child?.replies.end(value("7"));
    await world.settle();
    for (const id of [run, fork])
      expect(world.latest(id).notified.at(-1)).toMatchObject({ kind: "completion", id: 1, result: { value: "7" } });
    // One that has ended since, and one that is not there any more.
    const late = await forked(world, run, { at: 1 });
    expect(world.latest(late).start.entries[1]).toMatchObject({ kind: "completion", id: 1, result: { value: "7" } });
    await world.ask({ type: "purge", run: child?.start.run ?? run });
    const last = await forked(world, run, { at: 1 });
    expect(world.latest(last).start.entries[1]).toMatchObject({ id: 1, result: { value: "7" } });
    expect(world.attempts.filter((attempt) => attempt.start.run === child?.start.run)).toHaveLength(1);
  });

  test("sleeps and attaches go on; what came after the prefix did not happen", async () => {
    const world = await openWorld();
    const other = await world.submit(service);
    const run = await world.submit(service);
    const { replies } = world.latest(run);
    replies.command(1, { type: "sleep", wakeAt: world.now + 5_000 });
    replies.command(2, { type: "attach", ref: { run: other } });
    await world.settle();
    await world.ask({ type: "signal", run, signal: "go", payload: VOID });
    const fork = await forked(world, run, { at: 2 });
    expect(world.latest(fork).start.entries).toHaveLength(2);
    world.latest(other).replies.end(value("1"));
    await world.settle();
    await world.advance(5_000);
    expect(world.latest(fork).notified).toMatchObject([
      { kind: "completion", id: 2, result: { value: "1" } },
      { kind: "completion", id: 1 },
    ]);
  });
});

describe("fork: a key of its own", () => {
  test("F3: state and streams are taken along as they were; the key's turn is not waited for", async () => {
    const world = await openWorld();
    const run = await world.submit(object("k"));
    const { replies } = world.latest(run);
    await world.ask({
      type: "editState",
      key: { service: "object", key: "k" },
      changes: new Map([
        ["kept", "0"],
        ["read", '"before"'],
        ["unknown", '"before"'],
      ]),
      expected: new Map(),
      force: true,
    });
    replies.command(1, { type: "setState", key: "n", value: "1" });
    replies.command(2, { type: "append", stream: "log", count: 2 }, undefined, ["1", "2"]);
    replies.command(3, { type: "getState", key: "read" });
    await world.settle();
    world.now += 10;
    replies.command(4, { type: "setState", key: "n", value: "2" });
    for (const [id, key] of [
      [5, "read"],
      [6, "unknown"],
      [7, "later"],
    ] as const)
      replies.command(id, { type: "setState", key, value: '"after"' });
    replies.command(8, { type: "append", stream: "log", count: 1 }, undefined, ["3"]);
    await world.settle();
    const id = newId();
    const fork = await forked(world, run, { id, at: 3 });
    const key = `k~${id.slice(-6)}`;
    expect(world.latest(fork).start).toMatchObject({ key, origin: { run, key: "k", until: 3 } });
    expect(Object.fromEntries(world.latest(fork).start.state ?? [])).toEqual({ kept: "0", n: "1", read: '"before"' });
    const { reader } = openMemoryStore(world.storage);
    const log = await reader.stream({ owner: { service: "object", key }, name: "log" }, 0, 10);
    expect([log.start, log.end, log.items.map(({ payload }) => payload)]).toEqual([0, 2, ["1", "2"]]);
    expect(await stateOf(world, "k")).toMatchObject({ n: "2", later: '"after"' });
    // From here on each has its own.
    world.latest(fork).replies.command(4, { type: "append", stream: "log", count: 1 }, undefined, ['"mine"']);
    await world.settle();
    expect((await reader.stream({ owner: { service: "object", key: "k" }, name: "log" }, 0, 10)).end).toBe(3);
    expect(world.failures).toEqual([]);
  });

  test("a key that is in use is refused, and so is the run's own", async () => {
    const world = await openWorld();
    const run = await world.submit(object("k"));
    await world.submit(object("busy"));
    await world.ask({
      type: "editState",
      key: { service: "object", key: "full" },
      changes: new Map([["a", "1"]]),
      expected: new Map(),
      force: false,
    });
    for (const key of ["busy", "full"])
      expect(await refused(world, run, { key })).toContain(`"${key}" of object is in use`);
    expect(await refused(world, run, { key: "k" })).toContain("is the one of the run itself");
    const shared = await world.submit({ service: "view", handler: "work", key: "k" });
    expect(await refused(world, shared, { key: "other" })).toContain('stays with the key "k"');
    expect(world.latest(await forked(world, shared)).start.key).toBe("k");
    expect(world.latest(await forked(world, run, { key: "free" })).start.key).toBe("free");
  });

  test("a workflow's promises are taken along as the run knew them", async () => {
    const world = await openWorld();
    const run = await world.submit(flow("k"));
    const { replies } = world.latest(run);
    replies.command(1, { type: "completePromise", key: "mine", completion: value("1") });
    replies.command(2, { type: "getPromise", key: "awaited" });
    await world.settle();
    replies.command(3, { type: "completePromise", key: "later", completion: value("2") });
    await world.settle();
    const id = environment.workflowId("flow", "other");
    expect(await refused(world, run, { key: "other" })).toContain("has another id");
    const fork = await forked(world, run, { id, key: "other", at: 2 });
    world.latest(fork).replies.command(3, { type: "peekPromise", key: "mine" });
    world.latest(fork).replies.command(4, { type: "peekPromise", key: "later" });
    world.latest(fork).replies.command(5, { type: "completePromise", key: "awaited", completion: value("3") });
    await world.settle();
    const results = world
      .latest(fork)
      .notified.map((entry) => ("id" in entry ? [entry.id, "result" in entry && entry.result] : []));
    expect(results).toEqual([
      [3, value("1")],
      [4, VOID],
      [5, VOID],
      [2, value("3")],
    ]);
    expect(world.latest(run).notified.filter((entry) => entry.kind === "completion")).toEqual([]);
  });
});

describe("rewind", () => {
  test("the run goes on from the entry, in place; what it was is kept as a branch", async () => {
    const world = await openWorld();
    const run = await world.submit(service);
    for (let id = 1; id <= 3; id += 1) {
      await done(world, run, id);
      world.latest(run).replies.image(captured(id));
      await world.settle();
    }
    world.latest(run).replies.command(4, { type: "call", target: service, input: null });
    await world.settle();
    const child = world.attempts.at(-1);
    const before = await world.journal(run);
    const branch = newId();
    expect(await world.ask({ type: "rewind", run, at: 2, branch })).toMatchObject({ type: "done", status: "running" });
    expect(child?.notified).toMatchObject([{ kind: "signal", signal: CANCEL_SIGNAL }]);
    expect(world.latest(run).start).toMatchObject({ image: { info: { entry: 2 } }, entries: [], generation: 1 });
    expect(await world.journal(branch)).toEqual(before);
    expect(await recordOf(world, branch)).toMatchObject({
      status: "cancelled",
      forkedFrom: { run, entry: 4 },
      result: { kind: "failure", failure: { message: expect.stringContaining("was rewound to entry 2") as string } },
    });
    const { reader } = openMemoryStore(world.storage);
    expect((await reader.images(branch)).map(({ entry }) => entry)).toEqual([3]);
    // The branch can be forked from, with what was cut off.
    const fork = await forked(world, branch, { at: 3 });
    expect(world.latest(fork).start.image?.info.entry).toBe(3);
    expect(world.latest(fork).start.origin).toEqual({ run, key: null, until: 3, origin: null });
    await done(world, run, 3);
    expect(world.failures).toEqual([]);
  });

  test("an exclusive run that has its turn gets the key's state back, with its images", async () => {
    const world = await openWorld();
    const run = await world.submit(object("k"));
    const { replies } = world.latest(run);
    replies.command(1, { type: "setState", key: "n", value: "1" });
    await world.settle();
    replies.image(captured(0));
    replies.command(2, { type: "setState", key: "n", value: "2" });
    await world.settle();
    await world.ask({ type: "rewind", run, at: 1, branch: newId() });
    expect(await stateOf(world, "k")).toEqual({ n: "1" });
    expect(world.latest(run).start.image?.info.entry).toBe(1);
    // What was there before the first write is not known where nobody has read it: then the image may know more.
    world.latest(run).replies.command(2, { type: "setState", key: "new", value: "2" });
    await world.settle();
    await world.ask({ type: "rewind", run, at: 1, branch: newId() });
    expect(await stateOf(world, "k")).toEqual({ n: "1" });
    expect(world.latest(run).start.image).toBeNull();
  });

  test("I2: where the state stays as it is, images that hold another go", async () => {
    const world = await openWorld();
    const run = await world.submit(object("k"));
    await done(world, run, 1);
    world.latest(run).replies.image(captured(1));
    world.latest(run).replies.command(2, { type: "setState", key: "n", value: "2" });
    await world.settle();
    await world.ask({ type: "restart", run, from: 2 });
    expect(Object.fromEntries(world.latest(run).start.state ?? [])).toEqual({ n: "2" });
    world.latest(run).replies.command(2, step("s2"));
    world.latest(run).replies.propose(2, value("2"));
    await world.settle();
    world.latest(run).replies.image(captured(2));
    await world.settle();
    expect(await openMemoryStore(world.storage).reader.images(run)).toHaveLength(1);
    await world.ask({
      type: "editState",
      key: { service: "object", key: "k" },
      changes: new Map([["n", "3"]]),
      expected: new Map(),
      force: true,
    });
    expect(await openMemoryStore(world.storage).reader.images(run)).toEqual([]);
  });

  test("a run that has ended lives again; its branch is as it ended", async () => {
    const world = await openWorld();
    const run = await world.submit(flow("k"));
    world.latest(run).replies.command(1, { type: "completePromise", key: "p", completion: value("1") });
    world.latest(run).replies.end(value('"done"'));
    await world.settle();
    const branch = newId();
    await world.ask({ type: "rewind", run, at: 0, branch });
    expect(await recordOf(world, branch)).toMatchObject({ status: "succeeded", result: value('"done"') });
    expect(await recordOf(world, run)).toMatchObject({ status: "running", result: null });
    await world.ask({ type: "purge", run: branch });
    expect(world.storage.data.promises.size).toBe(1); // They are the workflow's, not the branch's.
    expect(world.failures).toEqual([]);
  });

  test("what cannot be rewound is refused, with what to do", async () => {
    const world = await openWorld();
    const run = await world.submit(object("k"));
    const queued = await world.submit(object("k"));
    const asked = async (id: RunId, at: number, branch = newId()): Promise<string> => {
      const reply = await world.ask({ type: "rewind", run: id, at, branch });
      return reply.type === "refused" ? reply.message : reply.type;
    };
    expect(await asked(queued, 0)).toContain("the run is queued: it has not begun");
    expect(await asked(run, 1)).toContain("entry 1 is not among them");
    expect(await asked(run, 0, queued)).toContain(`there is a run ${queued} already`);
    expect(await asked(newId(), 0)).toContain("it never was");
  });
});
