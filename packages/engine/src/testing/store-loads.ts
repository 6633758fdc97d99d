// Contract: what a load brings (T3, T5, E3).

import { encodeRunId, type Run, type RunStatus } from "@perdure/protocol";
import { describe, expect } from "vitest";
import { KEY_QUEUE_PAGE, type KeyName, type Mutation, type Timer } from "../store.ts";
import { append, needs, runIdOf, runOf, stepEntry, type StoreContract, value } from "./store-harness.ts";
import { type StoreTest, storeTest } from "./store-test.ts";

const insert = (run: Run): Mutation => ({ type: "insertRun", run });

export function describeLoads(contract: StoreContract): void {
  const test = storeTest(contract);
  describeLoadedRuns(test);
  describeQueues(test);
  describeCommands(test);
  describeTimers(test);
}

function describeLoadedRuns(test: StoreTest): void {
  describe("loading runs", () => {
    test("by id and by number, each once, missing ones not at all", async ({ writer }) => {
      await writer.commit(insert(runOf(1)), insert(runOf(2)), insert(runOf(3)), append(2, 1, stepEntry(1, 1)));
      const loaded = await writer.load({ runs: [runIdOf(3), runIdOf(77), runIdOf(2)], runsBySeq: [2, 1, 99] });
      const found = loaded.runs.map(({ run, entries, commands }) => [run.seq, entries, commands]);
      expect(found.sort((a, b) => Number(a[0]) - Number(b[0]))).toEqual([
        [1, 0, 0],
        [2, 1, 1],
        [3, 0, 0],
      ]);
    });

    test("ids that are alike but for their partition key are two runs", async ({ writer }) => {
      const bytes = new Uint8Array(24).fill(7);
      const one = encodeRunId(bytes);
      bytes[0] = 8;
      const two = encodeRunId(bytes);
      await writer.commit(insert({ ...runOf(1), id: one }), insert({ ...runOf(2), id: two }));
      expect((await writer.load({ runs: [one] })).runs.map(({ run }) => run.seq)).toEqual([1]);
      expect((await writer.load({ runs: [two] })).runs.map(({ run }) => run.seq)).toEqual([2]);
    });

    test("E7: children are the unfinished ones that are awaited", async ({ writer }) => {
      const parent = { run: runIdOf(1), command: 1, awaited: true };
      await writer.commit(
        insert(runOf(1)),
        insert(runOf(4, { parent, status: "suspended" })),
        insert(runOf(2, { parent })),
        insert(runOf(3, { parent, status: "succeeded" })),
        insert(runOf(5, { parent: { ...parent, awaited: false } })),
        insert(runOf(6, { parent: { ...parent, run: runIdOf(9) } })),
        append(2, 1, stepEntry(1, 1)),
      );
      const asked = async () => (await writer.load({ children: [runIdOf(1), runIdOf(8)] })).children;
      expect((await asked()).map(({ children }) => children.map(({ run, entries }) => [run.seq, entries]))).toEqual([
        [
          [2, 1],
          [4, 0],
        ],
        [],
      ]);
      await writer.commit(
        { type: "updateRun", run: runOf(4, { parent, status: "cancelled", finishedAt: 1 }) },
        { type: "updateRun", run: runOf(2, { parent: { ...parent, awaited: false } }) },
      );
      expect((await asked())[0]?.children).toEqual([]);
      await writer.commit({ type: "updateRun", run: runOf(3, { parent, status: "running" }) });
      expect((await asked())[0]?.children.map(({ run }) => run.seq)).toEqual([3]);
    });

    test("running runs and finished runs are paged by number", async ({ writer }) => {
      const statuses: readonly RunStatus[] = [
        "running",
        "suspended",
        "succeeded",
        "running",
        "failed",
        "queued",
        "killed",
        "running",
        "cancelled",
        "retrying",
        "paused",
        "scheduled",
      ];
      await writer.commit(...statuses.map((status, i) => insert(runOf(i + 1, { status, key: "k", mode: "shared" }))));
      expect(await writer.store.running(0, 2)).toEqual([
        { id: runIdOf(1), seq: 1 },
        { id: runIdOf(4), seq: 4 },
      ]);
      expect(await writer.store.running(4, 9)).toEqual([{ id: runIdOf(8), seq: 8 }]);
      const finished = async (afterSeq: number, limit: number) =>
        (await writer.load({ finished: { afterSeq, limit } })).finished.map(({ seq }) => seq);
      expect(await finished(0, 10)).toEqual([3, 5, 7, 9]);
      expect(await finished(3, 2)).toEqual([5, 7]);
      await writer.commit(
        { type: "updateRun", run: runOf(4, { status: "suspended", key: "k", mode: "shared" }) },
        { type: "updateRun", run: runOf(2, { status: "running", key: "k", mode: "shared" }) },
      );
      expect((await writer.store.running(0, 9)).map(({ seq }) => seq)).toEqual([1, 2, 8]);
    });

    test("T3: a load sees every commit before it, and none of it in part", async ({ writer }) => {
      await writer.commit(insert(runOf(1)));
      for (let i = 1; i <= 40; i += 1) {
        const commit = writer.commit(append(1, i, stepEntry(i, i)), {
          type: "setState",
          key: { service: "s", key: "k" },
          name: "n",
          value: `${i}`,
        });
        const racing = writer.load({ runs: [runIdOf(1)], states: [{ service: "s", key: "k" }] });
        await commit;
        const after = await writer.load({ runs: [runIdOf(1)] });
        expect(after.runs[0]?.entries).toBe(i);
        const seen = await racing;
        expect(Number(seen.states[0]?.state.get("n") ?? 0)).toBe(seen.runs[0]?.entries);
      }
    });

    test("nothing is needed, nothing is loaded", async ({ writer }) => {
      const empty = {
        runs: [],
        keys: [],
        promises: [],
        waiters: [],
        states: [],
        children: [],
        commands: [],
        tails: [],
        images: [],
        timers: [],
        finished: [],
        streams: [],
        ranges: [],
        owned: [],
      };
      expect(await writer.store.load(needs({}))).toEqual(empty);
    });

    test("a start brings the state of a keyed run, and null for others", async ({ writer }) => {
      const keyed = runOf(1, { service: "inbox", key: "k", mode: "shared" });
      await writer.commit(insert(keyed), insert(runOf(2)), {
        type: "setState",
        key: { service: "inbox", key: "k" },
        name: "\u{1F98A}",
        value: "1",
      });
      await writer.commit({ type: "setState", key: { service: "inbox", key: "k" }, name: "\uFFFD", value: "2" });
      expect([...((await writer.store.loadStart(keyed)).state ?? [])]).toEqual([
        ["\uFFFD", "2"],
        ["\u{1F98A}", "1"],
      ]);
      const migrated = { entry: 4, commands: 3, told: 6, point: "idle", kept: [2], awakeables: 17, at: 9 };
      const run = runOf(3, { migrated });
      await writer.commit({ type: "insertRun", run });
      for (let index = 1; index <= 7; index += 1)
        await writer.commit({
          type: "appendEntry",
          run: 3,
          commands: 0,
          entry: { kind: "signal", index, at: index, signal: "s", payload: { kind: "void" } },
        });
      const { entries } = await writer.store.loadStart(run);
      expect(entries.map(({ index }) => index)).toEqual([2, 5, 6, 7]); // M1
      expect(await writer.store.loadStart(runOf(2))).toEqual({
        image: null,
        entries: [],
        state: null,
        images: [],
        damaged: [],
      });
    });
  });
}

const KEY: KeyName = { service: "inbox", key: "k" };

function exclusive(seq: number, status: RunStatus, arrival: number): Run {
  return runOf(seq, { ...KEY, handler: "add", mode: "exclusive", status, arrival });
}

function describeQueues(test: StoreTest): void {
  describe("keys", () => {
    test("E3: the holder is the exclusive run that has its turn; the queue is in order of arrival", async ({
      writer,
    }) => {
      await writer.commit(
        insert(exclusive(1, "queued", 4)),
        insert(exclusive(2, "suspended", 1)),
        insert(exclusive(3, "queued", 3)),
        insert(exclusive(4, "scheduled", 0)),
        insert(exclusive(5, "succeeded", 0)),
        insert({ ...exclusive(6, "running", 0), mode: "shared" }),
        insert({ ...exclusive(7, "queued", 1), key: "other" }),
        insert({ ...exclusive(8, "queued", 9), mode: "workflow" }),
      );
      const [key, none] = (await writer.load({ keys: [KEY, { service: "inbox", key: "none" }] })).keys;
      expect(key).toEqual({ key: KEY, holder: runIdOf(2), queue: [runIdOf(3), runIdOf(1), runIdOf(8)], more: false });
      expect(none).toEqual({ key: { service: "inbox", key: "none" }, holder: null, queue: [], more: false });
    });

    test("E3: turns are given by promoting, also runs that were never loaded", async ({ writer }) => {
      await writer.commit(
        insert(exclusive(1, "running", 1)),
        insert(exclusive(2, "queued", 2)),
        insert(exclusive(3, "queued", 3)),
      );
      await writer.commit(
        { type: "updateRun", run: exclusive(1, "succeeded", 1) },
        { type: "promoteRun", id: runIdOf(2), at: 555 },
      );
      const loaded = await writer.load({ keys: [KEY], runs: [runIdOf(2)] });
      expect(loaded.keys[0]).toMatchObject({ holder: runIdOf(2), queue: [runIdOf(3)] });
      expect(loaded.runs[0]?.run).toStrictEqual({ ...exclusive(2, "running", 2), changedAt: 555 });
      expect((await writer.store.running(0, 9)).map(({ seq }) => seq)).toEqual([2]);
    });

    test("E3: a run that arrives again stands at the end", async ({ writer }) => {
      await writer.commit(
        insert(exclusive(1, "succeeded", 1)),
        insert(exclusive(2, "running", 2)),
        insert(exclusive(3, "queued", 3)),
      );
      await writer.commit({ type: "updateRun", run: exclusive(1, "queued", 4) });
      expect((await writer.load({ keys: [KEY] })).keys[0]).toMatchObject({
        holder: runIdOf(2),
        queue: [runIdOf(3), runIdOf(1)],
      });
      await writer.commit({ type: "deleteRun", run: 3, id: runIdOf(3) });
      expect((await writer.load({ keys: [KEY] })).keys[0]).toMatchObject({ queue: [runIdOf(1)] });
    });

    test("a long queue comes a page at a time", async ({ writer }) => {
      const count = KEY_QUEUE_PAGE + 2;
      await writer.commit(
        insert(exclusive(1, "running", 1)),
        ...Array.from({ length: count }, (_, i) => insert(exclusive(i + 2, "queued", i + 2))),
      );
      const before = (await writer.load({ keys: [KEY] })).keys[0];
      expect([before?.queue.length, before?.more, before?.queue[0]]).toEqual([KEY_QUEUE_PAGE, true, runIdOf(2)]);
      await writer.commit(
        ...[2, 3].map((seq): Mutation => ({ type: "updateRun", run: exclusive(seq, "killed", seq) })),
      );
      expect((await writer.load({ keys: [KEY] })).keys[0]?.more).toBe(false);
    });
  });
}

function describeCommands(test: StoreTest): void {
  describe("commands", () => {
    test("a command is found by its id, with whether it is complete", async ({ writer }) => {
      await writer.commit(insert(runOf(1)));
      let index = 0;
      for (let id = 1; id <= 60; id += 1) {
        const open = { ...stepEntry(++index, id), command: { type: "sleep", wakeAt: id } as const };
        const { result: _result, ...unfinished } = open;
        await writer.commit(append(1, id, id % 3 === 0 ? stepEntry(index, id) : unfinished));
        for (let signals = id % 4; signals > 0; signals -= 1)
          await writer.commit(
            append(1, id, { kind: "signal", index: ++index, at: 1, signal: "s", payload: value("1") }),
          );
        if (id % 3 === 1)
          await writer.commit(
            append(1, id, {
              kind: "completion",
              index: ++index,
              at: 1,
              id: Math.max(1, id - 3),
              result: { kind: "void" },
            }),
          );
      }
      const asked = Array.from({ length: 62 }, (_, id) => ({ run: 1, id }));
      const { commands } = await writer.load({ commands: [...asked, { run: 9, id: 1 }] });
      expect(commands.map(({ entry }) => entry?.id ?? null)).toEqual([
        null,
        ...Array.from({ length: 60 }, (_, i) => i + 1),
        null,
        null,
      ]);
      const complete = commands.filter((command) => command.complete).map(({ id }) => id);
      expect(complete).toEqual(
        Array.from({ length: 60 }, (_, i) => i + 1).filter(
          (id) => id % 3 === 0 || (id % 3 === 1 && id <= 55) || id === 1,
        ),
      );
    });

    test("tails begin where they are asked to", async ({ writer }) => {
      await writer.commit(insert(runOf(1)), ...[1, 2, 3].map((i) => append(1, i, stepEntry(i, i))));
      const { tails } = await writer.load({
        tails: [
          { run: 1, from: 2 },
          { run: 1, from: 4 },
          { run: 5, from: 1 },
        ],
      });
      expect(tails).toEqual([
        { run: 1, from: 2, entries: [stepEntry(2, 2), stepEntry(3, 3)] },
        { run: 1, from: 4, entries: [] },
        { run: 5, from: 1, entries: [] },
      ]);
    });
  });
}

function describeTimers(test: StoreTest): void {
  describe("timers", () => {
    test("E6: due timers come soonest first, none early, at most so many", async ({ writer }) => {
      const timers: readonly Timer[] = [
        { at: 30, run: 1, kind: "sleep", id: 2 },
        { at: 10, run: 2, kind: "wake", id: 0 },
        { at: 20, run: 9, kind: "sleep", id: 1 },
        { at: 20, run: 3, kind: "start", id: 0 },
        { at: 20, run: 3, kind: "retry", id: 0 },
        { at: 20, run: 3, kind: "sleep", id: 7 },
        { at: 20, run: 3, kind: "sleep", id: 6 },
      ];
      await writer.commit(...timers.map((timer): Mutation => ({ type: "addTimer", timer })));
      const due = async (until: number, limit: number) => (await writer.load({ timers: { until, limit } })).timers;
      expect(await writer.store.nextTimer()).toBe(10);
      expect(await due(9, 10)).toEqual([]);
      expect(await due(10, 10)).toEqual([timers[1]]);
      expect(await due(29, 3)).toEqual([timers[1], timers[4], timers[6]]);
      expect(await due(30, 10)).toEqual([timers[1], timers[4], timers[6], timers[5], timers[3], timers[2], timers[0]]);
      expect(await due(30, 0)).toEqual([]);
    });
  });
}
