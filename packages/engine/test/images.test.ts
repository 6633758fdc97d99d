// Images: E5 and E10 by the smallest case each. What attempts say of images changes nothing but where the next one starts.

import { type CapturedImage, type RunId, sha256 } from "@perdure/protocol";
import { describe, expect, test } from "vitest";
import { openMemoryStore } from "../src/memory-store.ts";
import { openWorld, step, value, type World } from "./harness.ts";

const service = { service: "service", handler: "work" };
const VOID = { kind: "void" } as const;
const go = [{ kind: "signal", signal: "go" }] as const;

function captured(entry: number, text = `seen ${entry}`): CapturedImage {
  const bytes = new TextEncoder().encode(text);
  return { entry, hash: sha256(bytes), base: sha256("base"), bytes };
}

async function done(world: World, run: RunId, id: number): Promise<void> {
  world.latest(run).replies.command(id, step(`s${id}`));
  world.latest(run).replies.propose(id, value(`${id}`));
  await world.settle();
}

async function imaged(world: World, run: RunId, image: CapturedImage): Promise<void> {
  world.latest(run).replies.image(image);
  await world.settle();
}

async function entriesOf(world: World, run: RunId): Promise<readonly number[]> {
  return (await openMemoryStore(world.storage).reader.images(run)).map(({ entry }) => entry);
}

async function suspended(world: World, run: RunId, entriesSeen: number): Promise<void> {
  world.latest(run).replies.suspend(go, entriesSeen);
  await world.settle();
}

const signal = (world: World, run: RunId) => world.ask({ type: "signal", run, signal: "go", payload: VOID });

/** A run with two steps behind it that was captured after them. */
async function withImage(): Promise<{ readonly world: World; readonly run: RunId }> {
  const world = await openWorld();
  const run = await world.submit(service);
  await done(world, run, 1);
  await done(world, run, 2);
  await imaged(world, run, captured(2));
  return { world, run };
}

describe("E10: a run goes on from its image as from its journal", () => {
  test("the next attempt is given the image and what came after it, and nothing twice", async () => {
    const { world, run } = await withImage();
    await done(world, run, 3);
    await suspended(world, run, 3);
    await signal(world, run);
    const { start } = world.latest(run);
    expect(start.image?.info).toMatchObject({ entry: 2, hash: captured(2).hash, base: sha256("base"), name: null });
    expect(start.image?.bytes).toEqual(captured(2).bytes);
    expect(start.entries.map(({ index, kind }) => [index, kind])).toEqual([
      [3, "command"],
      [4, "signal"],
    ]);
    expect(start.deployment).toBe("d1");
    await done(world, run, 4);
    expect(world.latest(run).notified).toMatchObject([{ index: 5, id: 4, result: { value: "4" } }]);
  });

  test("after a crash it is there, with the commit that named it, or not at all", async () => {
    const { world, run } = await withImage();
    world.storage.hooks.beforeCommit = () => "lose";
    world.latest(run).replies.image(captured(2, "never stored"));
    world.latest(run).replies.command(3, step("lost"));
    await world.settle();
    world.loop.stop();
    delete world.storage.hooks.beforeCommit;
    const next = await openWorld({ storage: world.storage });
    expect(next.latest(run).start.image?.bytes).toEqual(captured(2).bytes);
    expect(next.latest(run).start.entries).toEqual([]);
    await done(next, run, 3);
    expect(next.failures).toEqual([]);
  });

  test("what stands after it are own commands: it has seen them", async () => {
    const world = await openWorld();
    const run = await world.submit(service);
    await done(world, run, 1);
    world.latest(run).replies.command(2, { type: "sleep", wakeAt: world.now + 5_000 });
    await imaged(world, run, captured(1)); // Nobody tells it where its sleep stands.
    expect(await entriesOf(world, run)).toEqual([2]);
    world.latest(run).replies.suspend([{ kind: "completion", id: 2 }], 1);
    await world.advance(5_000);
    expect(world.latest(run).start.entries).toMatchObject([{ index: 3, kind: "completion", id: 2 }]);
  });

  test("a step that it has asked for, and that was held back for its result, is written before it", async () => {
    const { world, run } = await withImage();
    world.latest(run).replies.command(3, step("held back"));
    await imaged(world, run, captured(2, "has asked for command 3"));
    expect(await entriesOf(world, run)).toEqual([2, 3]);
    expect((await world.journal(run)).at(-1)).toMatchObject({ kind: "command", id: 3 });
    // Its result is one of its own, also for an attempt that starts from the image.
    world.loop.stop();
    const next = await openWorld({ storage: world.storage });
    expect(next.latest(run).start.entries).toEqual([]);
    next.latest(run).replies.propose(3, value("3"));
    await next.settle();
    expect((await next.journal(run)).at(-1)).toMatchObject({ kind: "completion", id: 3 });
  });

  test("an image that is not what stands in the journal is passed over", async () => {
    const { world, run } = await withImage();
    // Its command stands after what it had seen, where a cut of the journal could take it away.
    world.latest(run).replies.command(3, step("3"));
    world.latest(run).replies.propose(3, value("3"));
    await imaged(world, run, captured(2, "has asked for command 3"));
    // A step was begun since.
    world.latest(run).replies.command(4, step("4"));
    await imaged(world, run, captured(2, "has asked for command 3"));
    await imaged(world, run, captured(99, "has seen what never was"));
    expect(await entriesOf(world, run)).toEqual([2]);
  });

  test("an image that is said late stands where its code was", async () => {
    const { world, run } = await withImage();
    await done(world, run, 3);
    const late = captured(3);
    await signal(world, run);
    await imaged(world, run, late);
    expect(await entriesOf(world, run)).toEqual([2, 3]);
    world.loop.stop();
    const next = await openWorld({ storage: world.storage });
    expect(next.latest(run).start.entries).toMatchObject([{ index: 4, kind: "signal" }]);
  });

  test("E4: an image of an attempt that is over is passed over", async () => {
    const { world, run } = await withImage();
    const old = world.latest(run);
    await world.ask({ type: "restart", run, from: 2 });
    old.replies.image(captured(1, "of another life"));
    await world.settle();
    expect(await entriesOf(world, run)).toEqual([]);
    // Also where it said so before, and the cut was decided first.
    const latest = world.latest(run);
    const restart = world.loop.ask({ type: "restart", run, from: 1 });
    latest.replies.image(captured(1));
    await world.settle();
    expect(await restart).toMatchObject({ type: "done" });
    expect([await entriesOf(world, run), world.failures]).toEqual([[], []]);
  });

  test("E2: the result of a step that was begun before the image is accepted once", async () => {
    const world = await openWorld();
    const run = await world.submit(service);
    world.latest(run).replies.command(1, step("long"));
    world.latest(run).replies.command(2, { type: "sleep", wakeAt: world.now + 5_000 });
    world.latest(run).replies.command(3, step("also"));
    world.latest(run).replies.command(4, { type: "sleep", wakeAt: world.now + 5_000 });
    await world.settle();
    world.latest(run).replies.propose(3, value("3"));
    await world.settle();
    await imaged(world, run, captured(5));
    expect(await entriesOf(world, run)).toEqual([5]);
    world.loop.stop();
    const next = await openWorld({ storage: world.storage });
    const { replies, start } = next.latest(run);
    expect(start.entries).toEqual([]);
    replies.propose(1, value("1"));
    replies.propose(1, value('"again"'));
    replies.propose(3, value('"another"'));
    await next.settle();
    replies.propose(1, value('"once more"'));
    await next.settle();
    const results = (await next.journal(run)).filter((entry) => entry.kind === "completion");
    expect(results).toMatchObject([
      { id: 3, result: { value: "3" } },
      { id: 1, result: { value: "1" } },
    ]);
    expect(next.latest(run).notified).toMatchObject([{ kind: "completion", id: 1 }]);
  });

  test("an image is no progress: a handler that fails again and again uses up its tries", async () => {
    const { world, run } = await withImage();
    const before = await world.journal(run);
    for (let tries = 1; tries <= 3; tries += 1) {
      await imaged(world, run, captured(before.length + tries - 1, `try ${tries}`));
      world.latest(run).replies.error({ failure: { code: 500, message: `no ${tries}` }, behavior: "retry" });
      await world.settle();
      await world.advance(60_000);
    }
    expect((await openMemoryStore(world.storage).reader.run(run))?.status).toBe("paused");
    const kinds = (await world.journal(run)).slice(before.length).map(({ kind }) => kind);
    expect(kinds).toEqual(["retry", "retry", "retry"]);
  });
});

describe("E5: what was accepted is delivered, whatever becomes of an image", () => {
  const messages: Readonly<Record<string, (world: World, run: RunId) => Promise<unknown>>> = {
    signal: (world, run) => world.loop.ask({ type: "signal", run, signal: "go", payload: VOID }),
    cancel: (world, run) => world.loop.ask({ type: "cancel", run }),
  };
  for (const [what, send] of Object.entries(messages)) {
    test(`a ${what} before, with and after the image of one batch`, async () => {
      for (const place of ["before", "after"] as const) {
        const { world, run } = await withImage();
        await done(world, run, 3);
        const { replies } = world.latest(run);
        const sent = place === "before" ? send(world, run) : null;
        replies.image(captured(3, "races it"));
        const sentAfter = place === "after" ? send(world, run) : null;
        replies.suspend(go, 3);
        await world.settle();
        expect(await (sent ?? sentAfter)).toMatchObject({ type: "done" });
        const { start } = world.latest(run);
        expect(start.image?.info.entry, place).toBe(3);
        expect(start.entries, place).toMatchObject([{ index: 4, kind: "signal" }]);
      }
    });

    test(`a ${what} while the image is made durable, and the host dies`, async () => {
      const { world, run } = await withImage();
      await done(world, run, 3);
      let release = (): void => undefined;
      world.storage.hooks.beforeCommit = () => new Promise((resolve) => void (release = () => resolve("apply")));
      world.latest(run).replies.image(captured(3));
      await world.settle();
      delete world.storage.hooks.beforeCommit;
      const sent = send(world, run);
      release();
      await world.settle();
      expect(await sent).toMatchObject({ type: "done" });
      world.loop.stop();
      const next = await openWorld({ storage: world.storage });
      expect(next.latest(run).start.image?.info.entry).toBe(3);
      expect(next.latest(run).start.entries).toMatchObject([{ index: 4, kind: "signal" }]);
    });
  }

  test("a child's end between the image and the suspend wakes the run", async () => {
    const world = await openWorld();
    const parent = await world.submit(service);
    world.latest(parent).replies.command(1, { type: "call", target: service, input: null });
    await world.settle();
    const child = world.attempts.at(-1);
    await imaged(world, parent, captured(1));
    child?.replies.end(value("7"));
    world.latest(parent).replies.suspend([{ kind: "completion", id: 1 }], 1);
    await world.settle();
    const { start } = world.latest(parent);
    expect([start.image?.info.entry, start.entries]).toMatchObject([1, [{ index: 2, kind: "completion", id: 1 }]]);
  });
});

describe("images that are of no use", () => {
  test("a damaged one is passed over for the one before, and forgotten", async () => {
    const { world, run } = await withImage();
    await done(world, run, 3);
    await imaged(world, run, captured(3));
    const stored = world.storage.data.imageBytes.get(captured(3).hash);
    if (stored !== undefined) stored.bytes[0] = 0;
    world.loop.stop();
    const next = await openWorld({ storage: world.storage });
    expect(next.latest(run).start.image?.info.entry).toBe(2);
    expect(next.latest(run).start.entries).toMatchObject([{ index: 3 }]);
    expect(next.lost).toEqual([{ run, entry: 3, reason: expect.stringContaining("not those of its hash") as string }]);
    expect(await entriesOf(next, run)).toEqual([2]);
  });

  test("one that the executor cannot read: it starts from the one before, then from the journal, then as it retries", async () => {
    const { world, run } = await withImage();
    await done(world, run, 3);
    await imaged(world, run, captured(3));
    world.loop.stop();
    const next = await openWorld({ storage: world.storage });
    const starts: (number | undefined)[] = [];
    const failure = { code: 500, message: "of another version" };
    for (let i = 0; i < 3; i += 1) {
      starts.push(next.latest(run).start.image?.info.entry);
      next.latest(run).replies.imageUnusable(failure);
      await next.settle();
    }
    expect(starts).toEqual([3, 2, undefined]);
    expect(next.of(run)).toHaveLength(3);
    expect(next.lost).toEqual([3, 2].map((entry) => ({ run, entry, reason: failure.message })));
    expect((await openMemoryStore(next.storage).reader.run(run))?.status).toBe("retrying");
    expect(await entriesOf(next, run)).toEqual([]);
  });
});

describe("which images are kept", () => {
  test("the newest two, and those with a name; at the end the newest and those with a name", async () => {
    const { world, run } = await withImage();
    expect(await world.ask({ type: "nameMoment", run, entry: 2, name: "before the mail" })).toMatchObject({
      type: "done",
    });
    for (let id = 3; id <= 6; id += 1) {
      await done(world, run, id);
      await imaged(world, run, captured(id));
    }
    expect(await entriesOf(world, run)).toEqual([2, 5, 6]);
    world.latest(run).replies.end(value("1"));
    await world.settle();
    expect(await entriesOf(world, run)).toEqual([2, 6]);
    await world.ask({ type: "nameMoment", run, entry: 2, name: null });
    expect(await entriesOf(world, run)).toEqual([6]);
    await world.ask({ type: "purge", run });
    expect(world.storage.data.imageBytes.size).toBe(0);
  });

  test("also where the run ends without an attempt of this host", async () => {
    const { world, run } = await withImage();
    await done(world, run, 3);
    await imaged(world, run, captured(3));
    await suspended(world, run, 3);
    await world.ask({ type: "kill", run });
    expect(await entriesOf(world, run)).toEqual([3]);
  });

  test("a name belongs to one moment, and to one that has an image", async () => {
    const { world, run } = await withImage();
    await done(world, run, 3);
    await imaged(world, run, captured(3));
    await world.ask({ type: "nameMoment", run, entry: 3, name: "here" });
    expect(await world.ask({ type: "nameMoment", run, entry: 2, name: "here" })).toMatchObject({
      reason: "conflict",
      message: 'the moment at entry 3 is called "here": take that name away first',
    });
    expect(await world.ask({ type: "nameMoment", run, entry: 1, name: "there" })).toMatchObject({
      reason: "conflict",
      message: "there is no image at entry 1: those of the run are at 2, 3",
    });
    const other = await world.submit(service);
    expect(await world.ask({ type: "nameMoment", run: other, entry: 1, name: "there" })).toMatchObject({
      message: "there is no image at entry 1: the run has none",
    });
  });

  test("a restart takes those that have seen what is cut off", async () => {
    const { world, run } = await withImage();
    await done(world, run, 3);
    await imaged(world, run, captured(3));
    await world.ask({ type: "restart", run, from: 3 });
    expect(await entriesOf(world, run)).toEqual([2]);
    expect(world.latest(run).start.image?.info.entry).toBe(2);
    await world.ask({ type: "restart", run, from: 1 });
    expect(world.latest(run).start).toMatchObject({ image: null, entries: [] });
  });
});
