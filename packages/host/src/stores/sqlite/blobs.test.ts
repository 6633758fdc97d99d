import type { BlobHash, BlobStore, Mutation } from "@perdure/engine";
import { runIdOf, runOf, stepEntry, Writer } from "@perdure/engine/testing";
import { AssertionError, FencedError, StoreWriteError } from "@perdure/protocol";
import { describe, expect, test } from "vitest";
import { openDirectoryBlobs } from "../../blobs/directory.ts";
import { layoutOf } from "./layout.ts";
import { openSqliteStore } from "./open.ts";
import { scratch } from "./testing/scratch.ts";

const KEY = { service: "s", key: "k" };
const INLINE_MAX = 100;
const big = (name: string): string => `"${name}${"x".repeat(INLINE_MAX)}"`;
const set = (name: string, value: string | Uint8Array): Mutation => ({ type: "setState", key: KEY, name, value });

async function names(blobs: BlobStore): Promise<readonly BlobHash[]> {
  const found: BlobHash[] = [];
  for await (const hash of blobs.list()) found.push(hash);
  return found.toSorted();
}

function methodsOf(blobs: BlobStore): BlobStore {
  return {
    put: (bytes) => blobs.put(bytes),
    get: (hash) => blobs.get(hash),
    delete: (hash) => blobs.delete(hash),
    list: () => blobs.list(),
  };
}

async function opened(path: string, blobs?: BlobStore) {
  const own = blobs ?? (await openDirectoryBlobs({ directory: layoutOf(path).blobs }));
  const store = await openSqliteStore({ directory: path, blobs: own, payloadInlineMax: INLINE_MAX });
  return { store, blobs: own, writer: await Writer.on(store) };
}

describe("large payloads", () => {
  test("C1: each goes when its last reference goes, and not before", async () => {
    using directory = scratch();
    const { store, blobs, writer } = await opened(directory.path);
    const shared = big("shared");
    await writer.commit(
      { type: "insertRun", run: runOf(1, { input: shared }) },
      { type: "insertRun", run: runOf(2, { input: shared }) },
    );
    await writer.commit(
      { type: "appendEntry", run: 1, commands: 1, entry: stepEntry(1, 1, { kind: "value", value: big("one") }) },
      set("a", shared),
      set("b", Buffer.from(shared)),
    );
    await writer.commit({ type: "updateRun", run: runOf(1, { result: { kind: "value", value: big("result") } }) });
    await writer.commit({ type: "setPromise", key: KEY, name: "p", result: { kind: "value", value: big("promise") } });
    const steps: readonly [readonly Mutation[], number][] = [
      [[], 4],
      [[{ type: "updateRun", run: runOf(1) }], 3],
      [[{ type: "truncate", run: 1, id: runIdOf(1), from: 1, commands: 0 }], 2],
      [[{ type: "clearPromises", key: KEY }], 1],
      [[{ type: "deleteRun", run: 1, id: runIdOf(1) }], 1],
      [[set("a", "1"), set("a", shared), set("a", "2")], 1],
      [[{ type: "deleteRun", run: 2, id: runIdOf(2) }], 1],
      [[{ type: "clearAllState", key: KEY }], 0],
    ];
    for (const [mutations, left] of steps) {
      await writer.commit(...mutations);
      await store.collectBlobs();
      expect((await names(blobs)).length, JSON.stringify(mutations)).toBe(left);
    }
    await store.close();
  });

  test("C1: an item of a stream is put once, however many results stand there, and goes with its row", async () => {
    using directory = scratch();
    const { store, blobs, writer } = await opened(directory.path);
    const owner = { run: runIdOf(1) };
    const append = (from: number, ...items: readonly string[]): Mutation => ({
      type: "appendStream",
      stream: { owner, name: "log" },
      from,
      items,
      writer: null,
      at: 1,
    });
    const kept = { stream: "log", from: 1, count: 1, form: "item" } as const;
    const entry = { ...stepEntry(1, 1, { kind: "value", value: big("b") }), kept };
    await writer.commit({ type: "insertRun", run: runOf(1) }, append(0, big("a"), big("b"), "1"), append(3, big("c")), {
      type: "appendEntry",
      run: 1,
      commands: 1,
      entry,
    });
    expect(await writer.journal(runOf(1))).toEqual([entry]);
    const steps: readonly [readonly Mutation[], number][] = [
      [[], 3],
      [[{ type: "truncate", run: 1, id: runIdOf(1), from: 1, commands: 0 }], 3],
      [[{ type: "trimStream", stream: { owner, name: "log" }, before: 1 }], 2],
      [[{ type: "trimStream", stream: { owner, name: "log" }, before: 3 }], 1],
      [[{ type: "deleteRun", run: 1, id: runIdOf(1) }], 0],
    ];
    for (const [mutations, left] of steps) {
      await writer.commit(...mutations);
      await store.collectBlobs();
      expect((await names(blobs)).length, JSON.stringify(mutations)).toBe(left);
    }
    await store.close();
  });

  test("C1: a batch that is refused leaves references as they were; a sweep removes its files", async () => {
    using directory = scratch();
    const { store, blobs, writer } = await opened(directory.path);
    await writer.commit(set("a", big("kept")));
    await expect(
      writer.commit(set("a", big("refused")), set("b", big("kept")), { type: "updateRun", run: runOf(9) }),
    ).rejects.toBeInstanceOf(AssertionError);
    await expect(store.commit({ epoch: writer.epoch - 1, mutations: [set("a", big("stale"))] })).rejects.toBeInstanceOf(
      FencedError,
    );
    expect(await store.collectBlobs()).toEqual({ unused: 0, orphans: 0 });
    expect((await names(blobs)).length).toBe(3);
    expect(await store.collectBlobs({ sweep: true })).toEqual({ unused: 0, orphans: 2 });
    expect((await store.reader.state(KEY)).get("a")).toBe(big("kept"));
    await writer.commit(set("a", "1"));
    expect(await store.collectBlobs()).toEqual({ unused: 1, orphans: 0 });
    await store.close();
  });

  test("C1: after a crash between the commit and the deletion nothing dangles, and the rest is swept", async () => {
    using directory = scratch();
    const inner = await openDirectoryBlobs({ directory: layoutOf(directory.path).blobs });
    const dying: BlobStore = { ...methodsOf(inner), delete: () => Promise.reject(new StoreWriteError("died")) };
    const first = await opened(directory.path, dying);
    await first.writer.commit(set("a", big("a")), set("b", big("b")));
    await first.writer.commit(set("a", "1"));
    await expect(first.store.collectBlobs()).rejects.toThrow("died");
    await first.store.close();
    const second = await opened(directory.path);
    expect((await second.store.reader.state(KEY)).get("b")).toBe(big("b"));
    expect(await second.store.collectBlobs({ sweep: true })).toEqual({ unused: 0, orphans: 1 });
    expect((await second.store.reader.state(KEY)).get("b")).toBe(big("b"));
    await second.store.close();
  });

  test("P0043: what the blob store refuses fails the commit, and those before and after are not touched", async () => {
    using directory = scratch();
    const inner = await openDirectoryBlobs({ directory: layoutOf(directory.path).blobs });
    const failing: BlobStore = { ...methodsOf(inner), put: () => Promise.reject(new StoreWriteError("full")) };
    const { store, writer } = await opened(directory.path, failing);
    const commits = [writer.commit(set("a", "1")), writer.commit(set("b", big("b"))), writer.commit(set("c", "3"))];
    expect((await Promise.allSettled(commits)).map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      "fulfilled",
    ]);
    expect([...(await store.reader.state(KEY)).keys()]).toEqual(["a", "c"]);
    await store.close();
  });

  test("C1: a collection waits for commits before it, whose blobs no row names yet", async () => {
    using directory = scratch();
    const inner = await openDirectoryBlobs({ directory: layoutOf(directory.path).blobs });
    const [written, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const put: BlobStore["put"] = async (bytes) => {
      const hash = await inner.put(bytes);
      written.resolve();
      return held.promise.then(() => hash);
    };
    const slow: BlobStore = { ...methodsOf(inner), put };
    const { store, writer } = await opened(directory.path, slow);
    const commit = writer.commit(set("a", big("a")));
    await written.promise;
    const collection = store.collectBlobs({ sweep: true });
    await new Promise((resolve) => setTimeout(resolve, 50));
    held.resolve();
    await Promise.all([commit, collection]);
    expect((await store.reader.state(KEY)).get("a")).toBe(big("a"));
    await store.close();
  });

  test("C1: a commit waits for a collection before it, which may be deleting the same bytes", async () => {
    using directory = scratch();
    const inner = await openDirectoryBlobs({ directory: layoutOf(directory.path).blobs });
    const held = Promise.withResolvers<void>();
    const slow: BlobStore = {
      ...methodsOf(inner),
      delete: async (hash) => held.promise.then(() => inner.delete(hash)),
    };
    const { store, writer } = await opened(directory.path, slow);
    await writer.commit(set("a", big("a")));
    await writer.commit(set("a", "1"));
    const collection = store.collectBlobs();
    await new Promise((resolve) => setTimeout(resolve, 20));
    const commit = writer.commit(set("a", big("a")));
    await new Promise((resolve) => setTimeout(resolve, 50));
    held.resolve();
    await Promise.all([commit, collection]);
    expect((await store.reader.state(KEY)).get("a")).toBe(big("a"));
    await store.close();
  });

  test("collecting while payloads come and go never loses one", async () => {
    using directory = scratch();
    const { store, writer } = await opened(directory.path);
    const pending: Promise<unknown>[] = [];
    for (let i = 0; i < 150; i += 1) {
      pending.push(writer.commit(set("a", big(`${i % 3}`)), set("b", i % 2 === 0 ? "1" : big(`${i % 5}`))));
      if (i % 4 === 0) pending.push(store.collectBlobs({ sweep: i % 8 === 0 }));
      if (i % 3 === 0) pending.push(writer.load({ states: [KEY] }));
      if (i % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(pending);
    expect([...(await store.reader.state(KEY))]).toEqual([
      ["a", big(`${149 % 3}`)],
      ["b", big(`${149 % 5}`)],
    ]);
    await store.close();
  }, 20_000);
});
