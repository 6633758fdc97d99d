// Contract: streams, and results that stand in them (T1 to T7).

import {
  AssertionError,
  type Entry,
  FencedError,
  itemList,
  ItemsTrimmedError,
  type Kept,
  type Payload,
  type Run,
  type StreamRef,
} from "@perdure/protocol";
import { describe, expect } from "vitest";
import type { Mutation } from "../store.ts";
import { append, runIdOf, runOf, stepEntry, type StoreContract, value, Writer } from "./store-harness.ts";
import { type StoreTest, storeTest } from "./store-test.ts";

const KEYED: Run = runOf(1, { service: "inbox", key: "käy 🦊", mode: "exclusive" });
const OWNER = { service: "inbox", key: "käy 🦊" } as const;
const LOG: StreamRef = { owner: OWNER, name: "log" };

export function describeStreams(contract: StoreContract): void {
  const test = storeTest(contract);
  describe("streams", () => {
    describeAppends(test, contract.largePayloadBytes ?? 100_000);
    describeTrims(test, contract.largePayloadBytes ?? 100_000);
    describeKept(test, contract.largePayloadBytes ?? 100_000);
    describeKeptAndTrimmed(test);
    describeCopies(test, contract.largePayloadBytes ?? 100_000);
  });
}

function appendItems(
  from: number,
  items: readonly Payload[],
  stream: StreamRef = LOG,
  writer: string | null = null,
): Mutation {
  return { type: "appendStream", stream, from, items, writer, at: 5_000 + from };
}

async function payloads(writer: Writer, stream: StreamRef = LOG, from = 0, limit = 1_000): Promise<readonly Payload[]> {
  return (await writer.store.reader.stream(stream, from, limit)).items.map(({ payload }) => payload);
}

function describeAppends(test: StoreTest, largeBytes: number): void {
  test("a stream that is not there is empty", async ({ writer }) => {
    expect(await writer.store.reader.stream(LOG, 3, 10)).toEqual({ start: 0, end: 0, items: [] });
    expect(await writer.store.reader.streams(OWNER)).toEqual([]);
    const loaded = await writer.load({ streams: [LOG], ranges: [{ stream: LOG, from: 0 }] });
    expect(loaded.streams).toEqual([{ stream: LOG, start: 0, end: 0 }]);
    expect(loaded.ranges).toEqual([{ stream: LOG, from: 0, items: [] }]);
  });

  test("T4: items come back as they were, with offset, time and writer, however they were put together", async ({
    writer,
    reopen,
  }) => {
    const appends: readonly (readonly Payload[])[] = [
      ['{"a": 1.0}'],
      ["1", '"two"', "3"],
      [new Uint8Array([0, 255]), '"\\n"', '{\n "pretty": true\n}', "5", ""],
      [`"${"é🦊".repeat(largeBytes)}"`, "small", new Uint8Array(largeBytes + 1).fill(7)],
      Array.from({ length: 40 }, (_, i) => `"${String(i).padStart(Math.ceil(largeBytes / 10), "x")}"`),
      ["", "", ""],
    ];
    let end = 0;
    const expected: object[] = [];
    for (const [i, items] of appends.entries()) {
      const by = i % 2 === 0 ? null : `${i}.1`;
      await writer.commit(appendItems(end, items, LOG, by));
      for (const [j, payload] of items.entries())
        expected.push({ offset: end + j, at: 5_000 + end, writer: by, payload });
      end += items.length;
    }
    const again = await Writer.on(await reopen());
    expect(await again.store.reader.stream(LOG, 0, 1_000)).toStrictEqual({ start: 0, end, items: expected });
    const loaded = await again.load({ streams: [LOG], ranges: [{ stream: LOG, from: 5 }] });
    expect(loaded.streams).toEqual([{ stream: LOG, start: 0, end }]);
    expect(loaded.ranges[0]?.items).toStrictEqual(appends.flat().slice(5));
  });

  test("T5: a range is read across rows, from any offset, as far as its limit", async ({ writer }) => {
    const all = Array.from({ length: 30 }, (_, i) => `${i}`);
    for (let from = 0, size = 1; from < all.length; from += size, size = (size % 4) + 1)
      await writer.commit(appendItems(from, all.slice(from, from + size)));
    for (const from of [0, 1, 4, 7, 28, 29, 30, 99])
      for (const limit of [1, 2, 7, 100])
        expect(await payloads(writer, LOG, from, limit), `${from}, ${limit}`).toEqual(all.slice(from, from + limit));
    expect(await payloads(writer, LOG, 0, 0)).toEqual([]);
  });

  test("T5: streams of one owner are listed by name, and apart from those of others", async ({ writer }) => {
    const run = { run: runIdOf(2) };
    const names = ["\u{1F98A}", "a", "\uFFFD", "b"];
    await writer.commit(
      { type: "insertRun", run: runOf(2) },
      ...names.map((name) => appendItems(0, [`"${name}"`], { owner: OWNER, name })),
      appendItems(0, ["1", "2"], { owner: run, name: "a" }),
      appendItems(0, ["3"], { owner: { service: "inbox", key: "" }, name: "a" }),
      appendItems(2, ["4"], { owner: run, name: "a" }),
    );
    const listed = await writer.store.reader.streams(OWNER);
    expect(listed).toEqual(["a", "b", "\uFFFD", "\u{1F98A}"].map((name) => ({ name, start: 0, end: 1 })));
    expect(await writer.store.reader.streams(run)).toEqual([{ name: "a", start: 0, end: 3 }]);
    expect(await payloads(writer, { owner: run, name: "a" })).toEqual(["1", "2", "4"]);
    expect(await payloads(writer, { owner: { service: "inbox", key: "" }, name: "a" })).toEqual(["3"]);
    const stats = await writer.store.reader.stats();
    expect([stats["streams"], stats["chunks"]]).toEqual([6, 7]);
  });

  test("T1: items that do not follow the last one contradict what is stored", async ({ writer }) => {
    await writer.commit(appendItems(0, ["0", "1"]));
    for (const from of [0, 1, 2, 4]) {
      const other = appendItems(0, ["9"], { owner: OWNER, name: "other" });
      await expect(writer.commit(other, appendItems(2, ["2"]), appendItems(from, ["x"]))).rejects.toBeInstanceOf(
        AssertionError,
      );
    }
    expect(await payloads(writer)).toEqual(["0", "1"]);
    expect(await writer.store.reader.streams(OWNER)).toEqual([{ name: "log", start: 0, end: 2 }]);
    await writer.commit(appendItems(2, ["2"]), appendItems(3, ["3"], LOG, "1.1"));
    expect(await payloads(writer)).toEqual(["0", "1", "2", "3"]);
  });

  test("T2, E4: an append under an older epoch is refused", async ({ writer, connect }) => {
    await Writer.on(connect === undefined ? writer.store : await connect());
    await expect(writer.commit(appendItems(0, ["0"]))).rejects.toBeInstanceOf(FencedError);
    expect(await payloads(writer)).toEqual([]);
  });

  test("a store keeps copies of items", async ({ writer }) => {
    const bytes = new Uint8Array([1, 2]);
    const items: Payload[] = [bytes, "1"];
    await writer.commit(appendItems(0, items));
    bytes[0] = 9;
    items.push("2");
    expect(await payloads(writer)).toStrictEqual([new Uint8Array([1, 2]), "1"]);
  });
}

function describeTrims(test: StoreTest, largeBytes: number): void {
  test("a trim drops what is before an offset; the rest keeps its offsets", async ({ writer, reopen }) => {
    await writer.commit(appendItems(0, ["0", "1", "2"]), appendItems(3, ["3"]), appendItems(4, ["4", "5"]));
    const trim = (before: number): Promise<void> => writer.commit({ type: "trimStream", stream: LOG, before });
    await trim(2);
    expect(await writer.store.reader.stream(LOG, 0, 2)).toMatchObject({ start: 2, end: 6 });
    expect((await writer.store.reader.stream(LOG, 0, 2)).items.map(({ offset }) => offset)).toEqual([2, 3]);
    await trim(1); // Nothing comes back.
    await trim(4);
    expect(await payloads(writer)).toEqual(["4", "5"]);
    expect((await writer.load({ ranges: [{ stream: LOG, from: 1 }] })).ranges[0]?.items).toEqual(["4", "5"]);
    await writer.commit({ type: "trimStream", stream: { owner: OWNER, name: "none" }, before: 3 });
    expect(await writer.store.reader.streams(OWNER)).toEqual([{ name: "log", start: 4, end: 6 }]);
    const again = await Writer.on(await reopen());
    expect(await payloads(again)).toEqual(["4", "5"]);
  });

  test("a stream that was trimmed to its end goes on from there", async ({ writer }) => {
    await writer.commit(appendItems(0, ["0", "1"]), appendItems(2, ["2"]));
    await writer.commit({ type: "trimStream", stream: LOG, before: 3 });
    expect(await writer.store.reader.stream(LOG, 0, 9)).toEqual({ start: 3, end: 3, items: [] });
    expect((await writer.store.reader.stats())["chunks"]).toBe(0);
    await writer.commit(appendItems(3, ["3"]));
    expect(await writer.store.reader.stream(LOG, 0, 9)).toMatchObject({ start: 3, end: 4, items: [{ payload: "3" }] });
    await expect(writer.commit({ type: "trimStream", stream: LOG, before: 5 })).rejects.toBeInstanceOf(AssertionError);
  });

  test("a run's end takes the streams that it owns, large items included, and nothing of its key", async ({
    writer,
  }) => {
    const own: StreamRef = { owner: { run: runIdOf(2) }, name: "log" };
    const other: StreamRef = { owner: { run: runIdOf(3) }, name: "log" };
    const large = `"${"x".repeat(largeBytes + 1)}"`;
    await writer.commit(
      { type: "insertRun", run: KEYED },
      { type: "insertRun", run: runOf(2) },
      { type: "insertRun", run: runOf(3) },
      ...[LOG, own, other].map((stream) => appendItems(0, [large, "1"], stream)),
      appendItems(0, ["2"], { ...own, name: "second" }),
    );
    await writer.commit({ type: "deleteRun", run: 1, id: KEYED.id }, { type: "deleteRun", run: 2, id: runIdOf(2) });
    expect(await writer.store.reader.streams(own.owner)).toEqual([]);
    expect(await payloads(writer, own)).toEqual([]);
    expect(await payloads(writer, other)).toEqual([large, "1"]);
    expect(await payloads(writer)).toEqual([large, "1"]);
    // A run that gets the id again begins anew.
    await writer.commit({ type: "insertRun", run: { ...runOf(4), id: runIdOf(2) } }, appendItems(0, ["9"], own));
    expect(await payloads(writer, own)).toEqual(["9"]);
  });
}

const item = (from: number): Kept => ({ stream: "log", from, count: 1, form: "item" });
const list = (from: number, count: number): Kept => ({ stream: "log", from, count, form: "list" });

/** A journal whose results stand in the stream. */
function keptJournal(items: readonly Payload[]): readonly Entry[] {
  const all = items as readonly [Payload, ...Payload[]];
  const step = { type: "step", name: "ask", into: "log" } as const;
  const read = { type: "readStream", stream: "log", from: 0 } as const;
  const head = (index: number, id: number) => ({ index, at: 3_000 + index, id });
  return [
    { kind: "command", ...head(1, 1), command: step, result: value(all[0]), kept: item(0) },
    { kind: "command", ...head(2, 2), command: read, result: value(itemList(items)), kept: list(0, items.length) },
    { kind: "command", ...head(3, 3), command: { ...step, atMostOnce: true } },
    stepEntry(4, 4, value('"plain"')),
    { kind: "completion", ...head(5, 3), result: value(all[1] ?? ""), kept: item(1) },
    {
      kind: "command",
      ...head(6, 5),
      command: read,
      result: value(itemList(items.slice(1, 3))),
      kept: list(1, 2),
      child: runIdOf(9),
    },
  ];
}

const COMMANDS = [1, 2, 3, 4, 4, 5];

function keptAppends(run: number, entries: readonly Entry[]): readonly Mutation[] {
  return entries.map((entry, i) => append(run, COMMANDS[i] ?? 0, entry));
}

function describeKept(test: StoreTest, largeBytes: number): void {
  test("T6: results that stand in a stream come back whole, wherever entries are read", async ({ writer, reopen }) => {
    const items: readonly Payload[] = [
      '{"a": 1.0}',
      new Uint8Array([1, 2, 255]),
      `"${"x".repeat(largeBytes + 1)}"`,
      "",
    ];
    const entries = keptJournal(items);
    await writer.commit(
      { type: "insertRun", run: KEYED },
      appendItems(0, items.slice(0, 1)),
      appendItems(1, items.slice(1)),
      ...keptAppends(1, entries),
    );
    const again = await Writer.on(await reopen());
    expect(await again.journal(KEYED)).toStrictEqual(entries);
    expect((await again.load({ tails: [{ run: 1, from: 5 }] })).tails[0]?.entries).toStrictEqual(entries.slice(4));
    expect(await again.store.reader.journal(KEYED.id, 1, 3)).toStrictEqual(entries.slice(1, 4));
    const loaded = await again.load({
      tails: [{ run: 1, from: 2 }],
      commands: [1, 2, 3].map((id) => ({ run: 1, id })),
    });
    expect(loaded.tails[0]?.entries).toStrictEqual(entries.slice(1));
    expect(loaded.commands.map(({ entry }) => entry)).toStrictEqual(entries.slice(0, 3));
    expect(loaded.commands.map(({ complete }) => complete)).toEqual([true, true, true]);
  });

  test("T6: a run of no key finds its own streams", async ({ writer }) => {
    const items = ["1", "2", "3"];
    const entries = keptJournal(items);
    await writer.commit(
      { type: "insertRun", run: runOf(1) },
      appendItems(0, ["no", "not", "these"]),
      appendItems(0, items, { owner: { run: runIdOf(1) }, name: "log" }),
      ...keptAppends(1, entries),
    );
    expect(await writer.journal(runOf(1))).toStrictEqual(entries);
  });

  test("T6: the bytes stand in the stream alone", async ({ writer }) => {
    // What the entry was written with is not what is stored: it shows the items, whatever it said.
    const entries = keptJournal(["1", "2", "3"]);
    const lying = entries.map((entry): Entry => ("result" in entry ? { ...entry, result: value('"other"') } : entry));
    await writer.commit({ type: "insertRun", run: KEYED }, appendItems(0, ["1", "2", "3"]), ...keptAppends(1, lying));
    const journal = await writer.journal(KEYED);
    expect(journal.filter(({ index }) => index !== 4)).toStrictEqual(entries.filter(({ index }) => index !== 4));
  });

  test("T6: truncation leaves the results that remain", async ({ writer }) => {
    const items = ["1", "2", "3"];
    const entries = keptJournal(items);
    await writer.commit({ type: "insertRun", run: KEYED }, appendItems(0, items), ...keptAppends(1, entries));
    await writer.commit({ type: "truncate", run: 1, id: KEYED.id, from: 4, commands: 3 });
    const completion = { ...(entries[4] as Entry), index: 4 } as Entry;
    await writer.commit(append(1, 3, completion));
    expect(await writer.journal(KEYED)).toStrictEqual([...entries.slice(0, 3), completion]);
    expect(await payloads(writer)).toEqual(items);
  });
}

function describeKeptAndTrimmed(test: StoreTest): void {
  test("T6: a result whose items were trimmed is a failure that says so (P0038)", async ({ writer }) => {
    const items = ["1", "2", "3", "4"];
    const entries = keptJournal(items);
    await writer.commit({ type: "insertRun", run: KEYED }, appendItems(0, items), ...keptAppends(1, entries));
    await writer.commit({ type: "trimStream", stream: LOG, before: 1 });
    const journal = await writer.journal(KEYED);
    const failed = { kind: "failure", failure: { code: 410, errorCode: ItemsTrimmedError.code } };
    for (const index of [1, 2]) expect(journal[index - 1]).toMatchObject({ result: failed });
    expect(JSON.stringify(journal[1])).toContain(
      'stream \\"log\\" as items 0 to 3, but the stream was trimmed before 1',
    );
    expect(journal.slice(2)).toStrictEqual(entries.slice(2));
    // An entry that was read so and is written again still points to where the items were.
    await writer.commit({ type: "truncate", run: 1, id: KEYED.id, from: 1, commands: 0 });
    await writer.commit(
      append(1, 1, journal[0] as Entry),
      append(1, 2, { ...(journal[5] as Entry), index: 2, id: 2 } as Entry),
    );
    const [first, second] = await writer.journal(KEYED);
    expect(first).toStrictEqual(journal[0]);
    expect(second).toMatchObject({ result: value("[2,3]") });
    await writer.commit({ type: "trimStream", stream: LOG, before: 4 });
    for (const entry of await writer.journal(KEYED)) expect(entry).toMatchObject({ result: failed });
  });
}

function describeCopies(test: StoreTest, largeBytes: number): void {
  const copy = (before: number, name = "log"): Mutation => ({
    type: "copyStream",
    from: LOG,
    to: { owner: { service: "inbox", key: "copy" }, name },
    before,
  });
  const copyOf = (name = "log"): StreamRef => ({ owner: { service: "inbox", key: "copy" }, name });

  test("a copy has the first items under their offsets, with time and writer, and a life of its own", async ({
    writer,
    reopen,
  }) => {
    const large = `"${"x".repeat(largeBytes + 1)}"`;
    await writer.commit(
      { type: "insertRun", run: KEYED },
      appendItems(0, ["1", "2", "3"], LOG, "4.1"),
      appendItems(3, [large, "5"]),
      appendItems(5, ["6", "7"]),
    );
    await writer.commit({ type: "trimStream", stream: LOG, before: 1 });
    await writer.commit(copy(6), copy(2, "short"), copy(0, "none"), copy(7, "whole"));
    await writer.commit({ type: "trimStream", stream: LOG, before: 7 });
    const again = await Writer.on(await reopen());
    const page = await again.store.reader.stream(copyOf(), 0, 10);
    expect([page.start, page.end]).toEqual([1, 6]);
    expect(page.items).toStrictEqual([
      { offset: 1, at: 5_000, writer: "4.1", payload: "2" },
      { offset: 2, at: 5_000, writer: "4.1", payload: "3" },
      { offset: 3, at: 5_003, writer: null, payload: large },
      { offset: 4, at: 5_003, writer: null, payload: "5" },
      { offset: 5, at: 5_005, writer: null, payload: "6" },
    ]);
    expect(await payloads(again, copyOf("short"))).toEqual(["2"]);
    expect(await payloads(again, copyOf("whole"))).toEqual(["2", "3", large, "5", "6", "7"]);
    expect(await again.store.reader.stream(copyOf("none"), 0, 10)).toEqual({ start: 0, end: 0, items: [] });
    await again.commit(appendItems(6, ["8"], copyOf()), appendItems(2, ["9"], copyOf("short")));
    expect(await payloads(again, copyOf(), 5)).toEqual(["6", "8"]);
    expect(await payloads(again, copyOf("short"))).toEqual(["2", "9"]);
    expect(await payloads(again)).toEqual([]);
  });

  test("T1: what is not there is not copied, and nothing is copied over", async ({ writer }) => {
    await writer.commit(appendItems(0, ["1"]));
    for (const wrong of [copy(2), { ...copy(0), from: copyOf("nothing") } as Mutation])
      await expect(writer.commit(wrong)).rejects.toBeInstanceOf(AssertionError);
    await writer.commit(copy(1));
    await expect(writer.commit(copy(1))).rejects.toBeInstanceOf(AssertionError);
  });

  test("the streams of an owner, and where they ended at an instant", async ({ writer }) => {
    await writer.commit(appendItems(0, ["1", "2"]), appendItems(2, ["3"]), appendItems(3, ["4"]));
    await writer.commit(appendItems(0, ["1"], { owner: OWNER, name: "b" }));
    const loaded = await writer.load({
      owned: [4_999, 5_000, 5_002, 9_000].map((at) => ({ owner: OWNER, at })),
    });
    expect(loaded.owned.map(({ streams }) => streams.map(({ name, end, endAt }) => [name, end, endAt]))).toEqual([
      [
        ["b", 1, 0],
        ["log", 4, 0],
      ],
      [
        ["b", 1, 1],
        ["log", 4, 2],
      ],
      [
        ["b", 1, 1],
        ["log", 4, 3],
      ],
      [
        ["b", 1, 1],
        ["log", 4, 4],
      ],
    ]);
  });
}
