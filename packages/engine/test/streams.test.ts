// Streams, by the smallest cases: where items get their offsets, what journals say of them, and when they go.

import { type Entry, ItemsTrimmedError, type RunId, type StreamOwner } from "@perdure/protocol";
import { describe, expect, test } from "vitest";
import { createMemoryStorage, openMemoryStore } from "../src/memory-store.ts";
import type { Needs } from "../src/store.ts";
import { type ManualAttempt, openWorld, value, type World } from "./harness.ts";

const work = { service: "service", handler: "work" };
const object = { service: "object", handler: "work", key: "k" };
const view = { service: "view", handler: "look", key: "k" };
const KEY: StreamOwner = { service: "view", key: "k" };

async function items(world: World, owner: StreamOwner, name = "log"): Promise<readonly unknown[]> {
  const { items: found } = await openMemoryStore(world.storage).reader.stream({ owner, name }, 0, 1_000);
  return found.map(({ offset, writer, payload }) => [offset, payload, ...(writer === null ? [] : [writer])]);
}

/** Says things in an attempt's name, counting its commands. */
class Code {
  readonly attempt: ManualAttempt;
  #commands: number;

  constructor(world: World, run: RunId) {
    this.attempt = world.latest(run);
    this.#commands = this.attempt.start.entries.filter(({ kind }) => kind === "command").length;
  }

  append(...payloads: readonly string[]): this {
    this.attempt.replies.command(
      ++this.#commands,
      { type: "append", stream: "log", count: payloads.length },
      undefined,
      payloads,
    );
    return this;
  }

  read(from = 0): this {
    this.attempt.replies.command(++this.#commands, { type: "readStream", stream: "log", from });
    return this;
  }

  trim(before: number): this {
    this.attempt.replies.command(++this.#commands, { type: "trimStream", stream: "log", before });
    return this;
  }

  step(atMostOnce = false): number {
    const base = { type: "step", name: "s", into: "log" } as const;
    this.attempt.replies.command(++this.#commands, atMostOnce ? { ...base, atMostOnce: true } : base);
    return this.#commands;
  }

  write(...payloads: readonly string[]): this {
    this.attempt.replies.append("log", payloads, "1.1");
    return this;
  }

  end(): void {
    this.attempt.replies.end({ kind: "void" });
  }
}

async function open(world: World, target: { service: string; handler: string; key?: string }): Promise<[RunId, Code]> {
  const run = await world.submit(target);
  return [run, new Code(world, run)];
}

const resultsOf = (entries: readonly Entry[]): readonly unknown[] =>
  entries.map((entry) => ("result" in entry ? (entry.result as { value?: unknown }).value : undefined));

describe("appends", () => {
  test("a journal says how many items and from where, and holds none of them", async () => {
    const world = await openWorld();
    const [run, code] = await open(world, work);
    code.append('"a"', '"b"').append('"c"');
    await world.settle();
    const journal = await world.journal(run);
    expect(journal).toMatchObject([
      { command: { type: "append", stream: "log", count: 2 }, result: value("0") },
      { command: { type: "append", stream: "log", count: 1 }, result: value("2") },
    ]);
    expect(JSON.stringify(journal)).not.toContain("a\\");
    expect(await items(world, { run })).toEqual([
      [0, '"a"'],
      [1, '"b"'],
      [2, '"c"'],
    ]);
  });

  test("several attempts in one batch get offsets of their own, and each run without a key its own stream", async () => {
    const world = await openWorld();
    const [, first] = await open(world, view);
    const [, second] = await open(world, view);
    const [own, third] = await open(world, work);
    const step = first.step();
    second.append("1", "2");
    third.append("9");
    first.attempt.replies.propose(step, value("3"));
    second.write("4");
    first.append("5");
    await world.settle();
    expect(await items(world, KEY)).toEqual([
      [0, "1"],
      [1, "2"],
      [2, "3"],
      [3, "4", "1.1"],
      [4, "5"],
    ]);
    expect(await items(world, { run: own })).toEqual([[0, "9"]]);
  });

  test("the end of a stream is loaded once while an attempt uses it, and not kept after it", async () => {
    const loads: Needs[] = [];
    const world = await openWorld({ onLoad: (needs) => void loads.push(needs) });
    const streamsLoaded = (): number => loads.reduce((sum, needs) => sum + needs.streams.length, 0);
    const [run, code] = await open(world, object);
    for (let i = 0; i < 5; i += 1) {
      const step = code.step();
      await world.settle();
      code.attempt.replies.propose(step, value("1"));
      code.write("2").append("3");
      await world.settle();
    }
    expect(streamsLoaded()).toBe(1);
    code.end();
    await world.settle();
    const [again, next] = await open(world, object);
    next.append("4");
    await world.settle();
    expect(streamsLoaded()).toBe(2);
    expect((await items(world, { service: "object", key: "k" })).at(-1)).toEqual([15, "4"]);
    expect([world.failures, again === run]).toEqual([[], false]);
  });

  test("a stream stays known as long as one of its attempts lives", async () => {
    const loads: Needs[] = [];
    const world = await openWorld({ onLoad: (needs) => void loads.push(needs) });
    const [, first] = await open(world, view);
    const [, second] = await open(world, view);
    first.append("1");
    second.append("2");
    await world.settle();
    first.end();
    await world.settle();
    loads.length = 0;
    second.append("3");
    await world.settle();
    expect(loads).toEqual([]);
    expect(await items(world, KEY)).toEqual([
      [0, "1"],
      [1, "2"],
      [2, "3"],
    ]);
  });

  test("E4: an attempt that is over appends nothing", async () => {
    const world = await openWorld();
    const [run, code] = await open(world, work);
    const { replies } = code.attempt;
    code.write("1");
    await world.settle();
    await world.ask({ type: "pause", run });
    code.write("2").append("3");
    await world.ask({ type: "resume", run });
    code.write("4");
    // As an attempt would that has not heard of its end yet.
    world.loop.enqueue({ type: "append", run, attempt: 1, stream: "log", items: ["5"], writer: "1.1" });
    replies.append("log", [], "1.1");
    await world.settle();
    expect(await items(world, { run })).toEqual([[0, "1", "1.1"]]);
    expect(world.failures).toEqual([]);
  });

  test("E1: what a lost commit was to append is appended once, whatever became of it", async () => {
    for (const [fate, expected] of [
      [
        "refuse",
        [
          [0, "1"],
          [1, "2"],
        ],
      ],
      [
        "uncertain",
        [
          [0, "1"],
          [1, "lost"],
          [2, "2"],
        ],
      ],
    ] as const) {
      const storage = createMemoryStorage();
      const world = await openWorld({ storage });
      const [run, code] = await open(world, work);
      code.append("1");
      await world.settle();
      storage.hooks.beforeCommit = () => fate;
      code.append("lost");
      await world.settle();
      delete storage.hooks.beforeCommit;
      const next = await openWorld({ storage, now: world.now });
      new Code(next, run).append("2");
      await next.settle();
      expect(await items(next, { run })).toEqual(expected);
    }
  });
});

describe("results that go into a stream", () => {
  test("stand there, and the step is one row", async () => {
    const world = await openWorld();
    const [run, code] = await open(world, work);
    code.append("0");
    code.attempt.replies.propose(code.step(), value('{"a":1}'));
    await world.settle();
    const journal = await world.journal(run);
    const kept = { stream: "log", from: 1, count: 1, form: "item" };
    expect(journal.slice(1)).toMatchObject([{ command: { into: "log" }, result: value('{"a":1}'), kept }]);
    expect(code.attempt.notified.at(-1)).toEqual(journal[1]);
    expect(await items(world, { run })).toEqual([
      [0, "0"],
      [1, '{"a":1}'],
    ]);
    const stored = [...world.storage.data.runs.values()][0]?.entries[1];
    expect(JSON.stringify(stored)).not.toContain('{\\"a\\":1}');
  });

  test("also where the command was written before, by this attempt or an earlier one, and only once (E2)", async () => {
    const world = await openWorld();
    const [run, code] = await open(world, work);
    const [held, announced] = [code.step(), code.step(true)];
    await world.settle();
    code.attempt.replies.propose(announced, value("1"));
    code.attempt.replies.propose(announced, value("late"));
    await world.settle();
    code.attempt.replies.error({ failure: { code: 500, message: "x" }, behavior: "retry" });
    await world.settle();
    await world.advance(120_000);
    const next = new Code(world, run);
    next.attempt.replies.propose(held, value("2"));
    await world.settle();
    expect((await world.journal(run)).filter(({ kind }) => kind === "completion")).toMatchObject([
      { id: announced, result: value("1"), kept: { from: 0 } },
      { id: held, result: value("2"), kept: { from: 1 } },
    ]);
    expect(await items(world, { run })).toEqual([
      [0, "1"],
      [1, "2"],
    ]);
  });

  test("failures and nothing are not appended", async () => {
    const world = await openWorld();
    const [run, code] = await open(world, work);
    code.attempt.replies.propose(code.step(), { kind: "failure", failure: { code: 400, message: "no" } });
    code.attempt.replies.propose(code.step(), { kind: "void" });
    await world.settle();
    for (const entry of await world.journal(run)) expect(entry).not.toHaveProperty("kept");
    expect(await items(world, { run })).toEqual([]);
  });

  test("a person's word about an unknown effect goes there too", async () => {
    const world = await openWorld();
    const [run, code] = await open(world, work);
    const step = code.step(true);
    code.append("0");
    await world.settle();
    code.attempt.replies.error({ failure: { code: 500, message: "?", errorCode: "P0011" }, behavior: "pause" });
    await world.settle();
    await world.ask({ type: "settleEffect", run, command: step, result: value('"it happened"') });
    expect(await items(world, { run })).toEqual([
      [0, "0"],
      [1, '"it happened"'],
    ]);
    expect(world.latest(run).start.entries.find((entry) => entry.kind === "completion")).toMatchObject({
      result: value('"it happened"'),
      kept: { stream: "log", from: 1, count: 1, form: "item" },
    });
  });

  test("a restart from an entry keeps the results of the steps before it", async () => {
    const world = await openWorld();
    const [run, code] = await open(world, work);
    const step = code.step(true);
    await world.settle();
    code.append("0"); // Entry 2 is cut; the result of the step stands behind it.
    code.attempt.replies.propose(step, value("1"));
    await world.settle();
    await world.ask({ type: "restart", run, from: 2 });
    const { entries } = world.latest(run).start;
    expect(entries.map(({ kind }) => kind)).toEqual(["command", "completion"]);
    expect(entries[1]).toMatchObject({ index: 2, result: value("1"), kept: { from: 1, count: 1 } });
    new Code(world, run).append("again");
    await world.settle();
    expect(await items(world, { run })).toEqual([
      [0, "0"],
      [1, "1"],
      [2, "again"],
    ]);
  });
});

describe("reads", () => {
  test("see what stands in the stream by then, appends of the same batch included, and are told again as they were", async () => {
    const world = await openWorld();
    const [run, code] = await open(world, view);
    const [, other] = await open(world, view);
    code.append("0");
    await world.settle();
    code.append("1").read();
    other.append("2", "3");
    code.append("4").read(2).read(4).read(5).read(99).append("5");
    await world.settle();
    const results = [undefined, undefined, "[0,1]", undefined, "[2,3,4]", "[4]", "[]", "[]", undefined];
    expect(resultsOf(code.attempt.notified)).toEqual(results.filter((result) => result !== undefined));
    const journal = await world.journal(run);
    expect(resultsOf(journal).map((result, i) => (results[i] === undefined ? undefined : result))).toEqual(results);
    expect(journal[4]).toMatchObject({ kept: { stream: "log", from: 2, count: 3, form: "list" } });
    expect(journal[6]).not.toHaveProperty("kept");
  });

  test("one of the length says what the next item gets", async () => {
    const world = await openWorld();
    const [, code] = await open(world, work);
    code.append("0", "1");
    code.attempt.replies.command(2, { type: "streamLength", stream: "log" });
    code.attempt.replies.command(3, { type: "streamLength", stream: "other" });
    await world.settle();
    expect(resultsOf(code.attempt.notified)).toEqual(["2", "0"]);
  });
});

describe("trims", () => {
  async function trimmed(world: World): Promise<[RunId, Code]> {
    const [run, code] = await open(world, object);
    code.append("0", "1", "2").read().trim(2).read();
    await world.settle();
    return [run, code];
  }
  const owner = { service: "object", key: "k" };

  test("the run does not see the items any more, and whoever replays it does until it has ended", async () => {
    const world = await openWorld();
    const [run, code] = await trimmed(world);
    expect(resultsOf(code.attempt.notified)).toEqual(["[0,1,2]", "[2]"]);
    expect(await items(world, owner)).toHaveLength(3);
    const next = await openWorld({ storage: world.storage, now: world.now });
    expect(resultsOf(next.latest(run).start.entries)).toEqual(["0", "[0,1,2]", undefined, "[2]"]);
    new Code(next, run).trim(1).read(1); // No less than before.
    await next.settle();
    expect(resultsOf(next.latest(run).notified)).toEqual(["[2]"]);
    next.latest(run).replies.end({ kind: "void" });
    await next.settle();
    expect(await items(next, owner)).toEqual([[2, "2"]]);
    const [, later] = await open(next, object);
    later.append("3").read();
    await next.settle();
    expect(resultsOf(later.attempt.notified)).toEqual(["[2,3]"]);
  });

  test("whatever ends the run, they go", async () => {
    const world = await openWorld();
    const [run] = await trimmed(world);
    await world.ask({ type: "kill", run });
    expect(await items(world, owner)).toEqual([[2, "2"]]);
    expect((await openMemoryStore(world.storage).reader.run(run))?.trims).toBeNull();
  });

  test("a trim beyond the end takes what is there; one that is cut off by a restart takes nothing", async () => {
    const world = await openWorld();
    const [run, code] = await trimmed(world);
    code.trim(99).append("3").read();
    await world.settle();
    expect(resultsOf(code.attempt.notified).at(-1)).toBe("[3]");
    await world.ask({ type: "restart", run, from: 3 });
    const again = new Code(world, run);
    again.read();
    await world.settle();
    expect(resultsOf(again.attempt.notified)).toEqual(["[0,1,2,3]"]);
    again.end();
    await world.settle();
    expect(await items(world, owner)).toHaveLength(4);
  });

  test("what points to items that are gone is a failure with a code of its own (P0038)", async () => {
    const world = await openWorld();
    const [run, code] = await trimmed(world);
    code.end();
    await world.settle();
    await world.ask({ type: "restart", run, from: 4 });
    const failed = { kind: "failure", failure: { errorCode: ItemsTrimmedError.code } };
    expect(world.latest(run).start.entries[1]).toMatchObject({ command: { type: "readStream" }, result: failed });
  });

  test("a run that is purged takes its own streams with it", async () => {
    const world = await openWorld();
    const [run, code] = await open(world, work);
    code.append("0").end();
    await world.settle();
    await world.ask({ type: "purge", run });
    expect(await items(world, { run })).toEqual([]);
    expect(world.storage.data.streams.size).toBe(0);
  });
});
