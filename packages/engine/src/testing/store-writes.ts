// Contract: what commits do (T1, T2, T4, E1, E4).

import { AssertionError, FencedError, type Payload, type Run } from "@perdure/protocol";
import { describe, expect } from "vitest";
import type { KeyName, Timer, WaitTarget } from "../store.ts";
import { countCommands, sampleJournal } from "./sample-entries.ts";
import { append, fullRun, runIdOf, runOf, stepEntry, type StoreContract, value, Writer } from "./store-harness.ts";
import { type StoreTest, storeTest } from "./store-test.ts";

const KEY: KeyName = { service: "inbox", key: "käy 🦊" };

export function describeWrites(contract: StoreContract): void {
  const test = storeTest(contract);
  describeRuns(test);
  describeJournals(test);
  describeTruncation(test);
  describeKeyed(test);
  describePayloads(test, contract.largePayloadBytes ?? 100_000);
  describeAtomicity(test);
  describeFencing(test);
}

function describeRuns(test: StoreTest): void {
  describe("runs", () => {
    test("every field comes back, set or not", async ({ writer }) => {
      const runs = [
        runOf(1),
        fullRun(2),
        runOf(3, { input: null, watched: true }),
        runOf(4, { input: "", key: "", mode: "shared", headers: {} }),
      ];
      await writer.commit(...runs.map((run) => ({ type: "insertRun", run }) as const));
      for (const run of runs) expect(await writer.run(run.id)).toStrictEqual(run);
    });

    test("an update replaces what may change", async ({ writer }) => {
      const before = fullRun(1);
      await writer.commit({ type: "insertRun", run: before });
      const after: Run = {
        ...runOf(1),
        service: before.service,
        handler: before.handler,
        key: before.key,
        mode: before.mode,
        input: before.input,
        headers: before.headers,
        idempotencyKey: before.idempotencyKey,
        parent: { run: runIdOf(900), command: 7, awaited: false },
        status: "succeeded",
        changedAt: 8,
        arrival: 13,
        result: value('"done"'),
      };
      await writer.commit({ type: "updateRun", run: after });
      expect(await writer.run(after.id)).toStrictEqual(after);
      await writer.commit({ type: "updateRun", run: before });
      expect(await writer.run(after.id)).toStrictEqual(before);
    });

    test("a store keeps copies: what the caller changes afterwards does not reach it", async ({ writer }) => {
      const bytes = new Uint8Array([1, 2, 3]);
      const run = { ...runOf(1), input: bytes as Payload };
      await writer.commit({ type: "insertRun", run });
      run.status = "killed";
      bytes[0] = 9;
      const loaded = await writer.run(run.id);
      expect(loaded).toStrictEqual({ ...runOf(1), input: new Uint8Array([1, 2, 3]) });
    });

    test("deleteRun takes journal, timers and own waits, and nothing of others", async ({ writer }) => {
      const target: WaitTarget = { kind: "promise", service: "flow", key: "k", name: "p" };
      const timers: Timer[] = [
        { at: 5, run: 1, kind: "sleep", id: 1 },
        { at: 6, run: 2, kind: "wake", id: 0 },
        { at: 7, run: 1, kind: "retry", id: 0 },
      ];
      await writer.commit(
        { type: "insertRun", run: runOf(1) },
        { type: "insertRun", run: runOf(2) },
        append(1, 1, stepEntry(1, 1)),
        append(2, 1, stepEntry(1, 1)),
      );
      await writer.commit(...timers.map((timer) => ({ type: "addTimer", timer }) as const));
      for (const run of [runIdOf(1), runIdOf(2)])
        await writer.commit({ type: "addWaiter", waiter: { target, run, command: 1 } });
      await writer.commit({ type: "deleteRun", run: 1, id: runIdOf(1) });
      const loaded = await writer.load({
        runs: [runIdOf(1), runIdOf(2)],
        waiters: [target],
        timers: { until: 100, limit: 10 },
        tails: [
          { run: 1, from: 1 },
          { run: 2, from: 1 },
        ],
      });
      expect(loaded.runs.map(({ run }) => run.seq)).toEqual([2]);
      expect(loaded.waiters[0]?.waiters.map(({ run }) => run)).toEqual([runIdOf(2)]);
      expect(loaded.timers).toEqual([timers[1]]);
      expect(loaded.tails.map(({ entries }) => entries.length)).toEqual([0, 1]);
    });
  });
}

function describeJournals(test: StoreTest): void {
  describe("journals", () => {
    test("T4: every kind of entry comes back as it was", async ({ writer }) => {
      const entries = sampleJournal();
      await writer.commit(
        { type: "insertRun", run: runOf(1) },
        ...entries.map((entry) => append(1, countCommands(entries, entry.index), entry)),
      );
      expect(await writer.journal(runOf(1))).toStrictEqual(entries);
      const from = entries.length - 4;
      expect((await writer.load({ tails: [{ run: 1, from }] })).tails[0]?.entries).toStrictEqual(
        entries.slice(from - 1),
      );
      const [loaded] = (await writer.load({ runs: [runIdOf(1)] })).runs;
      expect([loaded?.entries, loaded?.commands]).toEqual([entries.length, countCommands(entries, entries.length)]);
    });

    test("journals of interleaved runs stay apart", async ({ writer }) => {
      await writer.commit({ type: "insertRun", run: runOf(1) }, { type: "insertRun", run: runOf(2) });
      for (let i = 1; i <= 30; i += 1)
        await writer.commit(append(1, i, stepEntry(i, i)), append(2, i, stepEntry(i, i, value(`"two ${i}"`))));
      expect((await writer.journal(runOf(1))).length).toBe(30);
      expect((await writer.journal(runOf(2))).at(-1)).toStrictEqual(stepEntry(30, 30, value('"two 30"')));
    });
  });
}

function describeTruncation(test: StoreTest): void {
  describe("truncation", () => {
    test("truncate drops the entries from an index on, with the timers and waits of what goes", async ({ writer }) => {
      const target: WaitTarget = { kind: "run", run: runIdOf(2) };
      const long = `"${"x".repeat(5_000)}"`;
      await writer.commit({ type: "insertRun", run: runOf(1, { input: long }) }, { type: "insertRun", run: runOf(2) });
      for (let i = 1; i <= 5; i += 1) await writer.commit(append(1, i, stepEntry(i, i)));
      const timers: Timer[] = [
        { at: 5, run: 1, kind: "sleep", id: 2 },
        { at: 6, run: 2, kind: "sleep", id: 9 },
        { at: 7, run: 1, kind: "sleep", id: 3 },
        { at: 8, run: 1, kind: "retry", id: 0 },
      ];
      await writer.commit(...timers.map((timer) => ({ type: "addTimer", timer }) as const));
      for (const command of [2, 3])
        await writer.commit({ type: "addWaiter", waiter: { target, run: runIdOf(1), command } });
      await writer.commit(
        { type: "truncate", run: 1, id: runIdOf(1), from: 3, commands: 2 },
        append(1, 3, stepEntry(3, 3, value('"anew"'))),
      );
      const loaded = await writer.load({
        runs: [runIdOf(1)],
        waiters: [target],
        timers: { until: 10, limit: 9 },
        commands: [
          { run: 1, id: 3 },
          { run: 1, id: 4 },
        ],
      });
      expect(loaded.runs[0]).toMatchObject({ entries: 3, commands: 3 });
      expect(loaded.waiters[0]?.waiters.map(({ command }) => command)).toEqual([2]);
      expect(loaded.timers).toEqual(timers.slice(0, 2));
      expect(loaded.commands.map(({ entry }) => entry?.result)).toEqual([value('"anew"'), undefined]);
      await writer.commit({ type: "truncate", run: 1, id: runIdOf(1), from: 1, commands: 0 });
      const [emptied] = (await writer.load({ runs: [runIdOf(1)] })).runs;
      expect([emptied?.entries, emptied?.commands, emptied?.run.input]).toEqual([0, 0, long]);
      expect((await writer.load({ timers: { until: 10, limit: 9 } })).timers).toEqual([timers[1]]);
    });
  });
}

function describeKeyed(test: StoreTest): void {
  describe("state, promises, timers and waiters", () => {
    test("state is set, replaced and cleared by name and by key", async ({ writer }) => {
      const other: KeyName = { service: "inbox", key: "other" };
      const set = (key: KeyName, name: string, payload: Payload) =>
        ({ type: "setState", key, name, value: payload }) as const;
      await writer.commit(
        set(KEY, "a", "1"),
        set(KEY, "b", new Uint8Array([1])),
        set(KEY, "", "2"),
        set(other, "a", "3"),
      );
      await writer.commit(
        set(KEY, "a", '"new"'),
        { type: "clearState", key: KEY, name: "b" },
        { type: "clearState", key: KEY, name: "never" },
      );
      const loaded = await writer.load({ states: [KEY, other, { service: "inbox", key: "none" }] });
      expect(loaded.states.map(({ state }) => [...state])).toEqual([
        [
          ["", "2"],
          ["a", '"new"'],
        ],
        [["a", "3"]],
        [],
      ]);
      await writer.commit({ type: "clearAllState", key: KEY });
      expect([...(await writer.store.reader.state(KEY))]).toEqual([]);
      expect([...(await writer.store.reader.state(other))]).toEqual([["a", "3"]]);
    });

    test("promises keep how they ended until their key is cleared", async ({ writer }) => {
      const failure = { code: 400, message: "no" };
      const results = [value("1"), value(new Uint8Array([5])), { kind: "void" }, { kind: "failure", failure }] as const;
      const asked = results.map((_, i) => ({ key: KEY, name: `p${i}` }));
      await writer.commit(
        ...results.map((result, i) => ({ type: "setPromise", key: KEY, name: `p${i}`, result }) as const),
      );
      expect((await writer.load({ promises: asked })).promises.map(({ result }) => result)).toStrictEqual(results);
      await writer.commit({ type: "clearPromises", key: KEY });
      expect((await writer.load({ promises: asked })).promises.map(({ result }) => result)).toEqual([
        null,
        null,
        null,
        null,
      ]);
    });

    test("timers are kept once, and removed by what they are", async ({ writer }) => {
      const timer: Timer = { at: 5, run: 1, kind: "sleep", id: 2 };
      await writer.commit(
        { type: "addTimer", timer },
        { type: "addTimer", timer },
        { type: "addTimer", timer: { ...timer, id: 3 } },
      );
      await writer.commit(
        { type: "removeTimer", timer: { ...timer, id: 3 } },
        { type: "removeTimer", timer: { ...timer, at: 6 } },
      );
      expect((await writer.load({ timers: { until: 9, limit: 9 } })).timers).toEqual([timer]);
      await writer.commit({ type: "removeTimer", timer });
      expect(await writer.store.nextTimer()).toBeNull();
    });

    test("waiters are kept once per command, and go together", async ({ writer }) => {
      const run: WaitTarget = { kind: "run", run: runIdOf(7) };
      const promise: WaitTarget = { kind: "promise", service: "f", key: "k", name: "p" };
      const waiters = [
        [run, 2, 4],
        [run, 1, 9],
        [run, 1, 9],
        [run, 1, 3],
        [promise, 1, 3],
      ] as const;
      await writer.commit(
        ...waiters.map(
          ([target, id, command]) => ({ type: "addWaiter", waiter: { target, run: runIdOf(id), command } }) as const,
        ),
      );
      const [found] = (await writer.load({ waiters: [run] })).waiters;
      const expected = [
        { target: run, run: runIdOf(1), command: 3 },
        { target: run, run: runIdOf(1), command: 9 },
        { target: run, run: runIdOf(2), command: 4 },
      ];
      expect([...(found?.waiters ?? [])].sort((a, b) => a.command - b.command)).toEqual(
        expected.sort((a, b) => a.command - b.command),
      );
      await writer.commit({ type: "removeWaiters", target: run });
      const loaded = await writer.load({ waiters: [run, promise] });
      expect(loaded.waiters.map((one) => one.waiters.length)).toEqual([0, 1]);
    });
  });
}

function describePayloads(test: StoreTest, largeBytes: number): void {
  describe("payloads", () => {
    test("T4: text and bytes come back as they were, however odd", async ({ writer }) => {
      const texts = [
        "",
        "\u0000",
        "a\u0000b",
        "\uFEFFbom",
        "\u{10FFFF}",
        "e\u0301",
        '{"a":"\\ud800"}',
        "\r\n",
        "'; DROP TABLE runs",
      ];
      const blobs = [
        new Uint8Array(0),
        Uint8Array.from({ length: 256 }, (_, i) => i),
        new Uint8Array([9, 8, 7, 6]).subarray(1, 3),
      ];
      const payloads: Payload[] = [...texts, ...blobs];
      await writer.commit(
        ...payloads.map(
          (payload, i) => ({ type: "setState", key: KEY, name: `${i}`.padStart(2, "0"), value: payload }) as const,
        ),
      );
      const state = await writer.store.reader.state(KEY);
      expect([...state.values()]).toStrictEqual(
        payloads.map((payload) => (typeof payload === "string" ? payload : new Uint8Array(payload))),
      );
    });

    test("T4: large payloads come back from wherever they stand", async ({ writer, reopen }) => {
      const text = (name: string): string => `"${name}${"é🦊 ".repeat(Math.ceil(largeBytes / 3))}"`;
      const bytes = Uint8Array.from({ length: largeBytes + 1 }, (_, i) => i % 251);
      const run = runOf(1, { input: text("input"), key: "k", service: "inbox", mode: "exclusive" });
      const entries = [
        { ...stepEntry(1, 1, value(bytes)) },
        {
          kind: "command",
          index: 2,
          at: 1,
          id: 2,
          command: { type: "call", target: { service: "a", handler: "b" }, input: bytes },
        },
        { kind: "signal", index: 3, at: 1, signal: "s", payload: value(text("signal")) },
        { kind: "completion", index: 4, at: 1, id: 2, result: value(text("completion")) },
      ] as const;
      await writer.commit(
        { type: "insertRun", run },
        ...entries.map((entry) => append(1, Math.min(2, entry.index), entry)),
      );
      await writer.commit({ type: "setState", key: { service: "inbox", key: "k" }, name: "big", value: text("state") });
      await writer.commit({ type: "setPromise", key: KEY, name: "big", result: value(text("promise")) });
      const done = { ...run, status: "succeeded", result: value(text("result")) } as const;
      await writer.commit({ type: "updateRun", run: done });
      const again = await Writer.on(await reopen());
      expect(await again.run(run.id)).toStrictEqual(done);
      const start = await again.store.loadStart(run);
      expect(start.entries).toStrictEqual(entries);
      expect(start.state).toStrictEqual(new Map([["big", text("state")]]));
      expect((await again.load({ promises: [{ key: KEY, name: "big" }] })).promises[0]?.result).toStrictEqual(
        value(text("promise")),
      );
      expect(await again.store.reader.journal(run.id, 2, 1)).toStrictEqual([entries[2]]);
    });

    test("commits keep the order of the calls, large payloads or not", async ({ writer }) => {
      const large = `"${"x".repeat(largeBytes + 1)}"`;
      const values = [large, "1", large, "2"];
      await Promise.all(
        values.map((payload, i) =>
          writer.commit(
            { type: "setState", key: KEY, name: "n", value: payload },
            { type: "setState", key: KEY, name: `${i}`, value: `${i}` },
          ),
        ),
      );
      const state = await writer.store.reader.state(KEY);
      expect(state.get("n")).toBe("2");
      expect(state.size).toBe(5);
    });
  });
}

function describeAtomicity(test: StoreTest): void {
  describe("atomicity", () => {
    test("T1: a batch that contradicts what is stored changes nothing", async ({ writer }) => {
      await writer.commit({ type: "insertRun", run: runOf(1) }, append(1, 1, stepEntry(1, 1)), {
        type: "setState",
        key: KEY,
        name: "a",
        value: "1",
      });
      const good = [
        append(1, 2, stepEntry(2, 2)),
        { type: "setState", key: KEY, name: "a", value: "2" },
        { type: "insertRun", run: runOf(5) },
        { type: "addTimer", timer: { at: 1, run: 1, kind: "sleep", id: 1 } },
        { type: "updateRun", run: runOf(1, { status: "suspended" }) },
        { type: "deleteRun", run: 5, id: runIdOf(5) },
      ] as const;
      const contradictions = [
        { type: "insertRun", run: runOf(1) },
        { type: "insertRun", run: { ...runOf(7), id: runIdOf(1) } },
        { type: "updateRun", run: runOf(9) },
        { type: "promoteRun", id: runIdOf(1), at: 5 },
        append(1, 1, stepEntry(1, 1)),
      ] as const;
      for (const contradiction of contradictions)
        await expect(writer.commit(...good, contradiction)).rejects.toBeInstanceOf(AssertionError);
      const loaded = await writer.load({
        runs: [runIdOf(1), runIdOf(5)],
        timers: { until: 9, limit: 9 },
        states: [KEY],
      });
      expect(loaded.runs).toStrictEqual([{ run: runOf(1), entries: 1, commands: 1 }]);
      expect(loaded.timers).toEqual([]);
      expect([...(loaded.states[0]?.state ?? [])]).toEqual([["a", "1"]]);
    });

    test("E1: what was fulfilled is there after opening again", async ({ writer, reopen }) => {
      await writer.commit(
        { type: "insertRun", run: fullRun(1) },
        { type: "addTimer", timer: { at: 44, run: 1, kind: "retry", id: 0 } },
      );
      for (let i = 1; i <= 20; i += 1) await writer.commit(append(1, i, stepEntry(i, i)));
      const again = await Writer.on(await reopen());
      expect(await again.run(runIdOf(1))).toStrictEqual(fullRun(1));
      expect((await again.journal(runOf(1))).length).toBe(20);
      expect(await again.store.nextTimer()).toBe(44);
    });

    test("an empty batch is fulfilled", async ({ writer }) => {
      await expect(writer.commit()).resolves.toBeUndefined();
    });
  });
}

function describeFencing(test: StoreTest): void {
  describe("fencing", () => {
    test("T2, E4: an older epoch is refused and changes nothing", async ({ writer, connect }) => {
      await writer.commit({ type: "insertRun", run: runOf(1) });
      const newer = await Writer.on(connect === undefined ? writer.store : await connect());
      expect(newer.epoch).toBeGreaterThan(writer.epoch);
      await expect(writer.commit(append(1, 1, stepEntry(1, 1)))).rejects.toBeInstanceOf(FencedError);
      await expect(writer.commit()).rejects.toBeInstanceOf(FencedError);
      await newer.commit({ type: "insertRun", run: runOf(2) });
      const loaded = await newer.load({ runs: [runIdOf(1), runIdOf(2)] });
      expect(loaded.runs.map(({ entries }) => entries)).toEqual([0, 0]);
    });

    test("T2: epochs grow over openings, numbers and arrivals are never given twice", async ({ writer, reopen }) => {
      await writer.commit(
        { type: "insertRun", run: runOf(3) },
        { type: "insertRun", run: runOf(8, { arrival: 70_000 }) },
        { type: "insertRun", run: runOf(9) },
      );
      await writer.commit({ type: "updateRun", run: runOf(9, { arrival: 200_000 }) });
      await writer.commit({ type: "deleteRun", run: 9, id: runIdOf(9) }, { type: "deleteRun", run: 8, id: runIdOf(8) });
      const store = await reopen();
      const acquired = await store.acquire("again");
      expect(acquired.epoch).toBeGreaterThan(writer.epoch);
      expect(acquired.lastSeq).toBe(9);
      expect(acquired.lastArrival).toBeGreaterThanOrEqual(200_000);
    });

    test("an empty store begins at zero", async ({ opened }) => {
      const acquired = await opened.store.acquire("first");
      expect([acquired.lastSeq, acquired.lastArrival]).toEqual([0, 0]);
      expect(await opened.store.nextTimer()).toBeNull();
      expect(await opened.store.running(0, 10)).toEqual([]);
    });
  });
}
