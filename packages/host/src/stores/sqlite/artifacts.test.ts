import type { Mutation } from "@perdure/engine";
import { runIdOf, runOf, stepEntry, Writer } from "@perdure/engine/testing";
import { sha256, StoreDamagedError, StoreWriteError } from "@perdure/protocol";
import { describe, expect, test } from "vitest";
import { openSqliteStore } from "./open.ts";
import type { SqliteStore } from "./sqlite-store.ts";
import { damageBytes, scratch } from "./testing/scratch.ts";

const INLINE_MAX = 100;
const opened = (directory: string): Promise<SqliteStore> =>
  openSqliteStore({ directory, payloadInlineMax: INLINE_MAX });

const code = (name: string, length = 10): Uint8Array =>
  Uint8Array.from({ length }, (_, i) => (name.charCodeAt(0) + i) % 256);

async function hashes(store: SqliteStore): Promise<readonly string[]> {
  return (await store.artifacts.list()).map(({ hash }) => hash);
}

describe("artifacts", () => {
  test("R3: each is there as long as a run or an image needs it, or this process has used it", async () => {
    using directory = scratch();
    const [first, second, heap] = [code("a"), code("b", INLINE_MAX * 2), code("c", INLINE_MAX * 3)];
    const store = await opened(directory.path);
    for (const bytes of [first, second]) await store.artifacts.put("bundle", bytes, {});
    await store.artifacts.put("base", heap, {});
    const image = new Uint8Array([1, 2, 3]);
    const info = { entry: 1, hash: sha256(image), base: sha256(heap), size: 3, at: 1, name: null };
    const writer = await Writer.on(store);
    await writer.commit(
      { type: "insertRun", run: runOf(1, { deployment: sha256(first) }) },
      { type: "insertRun", run: runOf(2, { deployment: "d1" }) },
      { type: "appendEntry", run: 2, commands: 1, entry: stepEntry(1, 1) },
      { type: "addImage", run: 2, info, bytes: image },
    );
    await writer.commit({ type: "updateRun", run: runOf(2, { deployment: sha256(second) }) });
    await store.collectBlobs({ sweep: true });
    expect((await hashes(store)).length).toBe(3);
    await store.close();

    const again = await opened(directory.path);
    const later = await Writer.on(again);
    const steps: readonly [readonly Mutation[], readonly Uint8Array[]][] = [
      [[], [first, second, heap]],
      [[{ type: "dropImages", run: 2, entries: [1] }], [first, second]],
      [[{ type: "deleteRun", run: 2, id: runIdOf(2) }], [first]],
      [[{ type: "updateRun", run: runOf(1, { deployment: sha256(first), status: "succeeded" }) }], [first]],
      [[{ type: "deleteRun", run: 1, id: runIdOf(1) }], []],
    ];
    for (const [mutations, left] of steps) {
      await later.commit(...mutations);
      await again.collectBlobs();
      expect(await hashes(again), JSON.stringify(mutations)).toEqual(left.map((bytes) => sha256(bytes)).toSorted());
    }
    expect(await again.reader.stats()).toMatchObject({ artifacts: 0, images: 0, blobs: 0 });
    await again.close();
  });

  test("R3: one that was got may be about to be used", async () => {
    using directory = scratch();
    const store = await opened(directory.path);
    await store.artifacts.put("bundle", code("a"), {});
    await store.artifacts.put("bundle", code("b"), {});
    await store.close();
    const again = await opened(directory.path);
    await again.artifacts.get(sha256(code("a")));
    await again.collectBlobs();
    expect(await hashes(again)).toEqual([sha256(code("a"))]);
    await again.close();
  });

  test("R2, P0041: a damaged one is named and not handed on; the same bytes put again mend it", async () => {
    using directory = scratch();
    const store = await opened(directory.path);
    for (const bytes of [code("a"), code("b", INLINE_MAX * 2)]) {
      const hash = await store.artifacts.put("bundle", bytes, {});
      damageBytes(directory.path, "artifacts", hash);
      await expect(store.artifacts.get(hash)).rejects.toBeInstanceOf(StoreDamagedError);
      await expect(store.artifacts.get(hash)).rejects.toThrow(new RegExp(`the bundle ${hash} is damaged`));
      if (bytes.length > INLINE_MAX) continue; // A blob of that name and size is taken for whole.
      await store.artifacts.put("bundle", bytes, {});
      expect((await store.artifacts.get(hash))?.bytes).toStrictEqual(bytes);
    }
    await store.close();
  });

  test("P0043: a store that is open to be read takes none", async () => {
    using directory = scratch();
    const store = await opened(directory.path);
    await store.artifacts.put("bundle", code("a"), {});
    await store.close();
    const readOnly = await openSqliteStore({ directory: directory.path, readOnly: true });
    await expect(readOnly.artifacts.put("bundle", code("b"), {})).rejects.toBeInstanceOf(StoreWriteError);
    expect((await readOnly.artifacts.get(sha256(code("a"))))?.bytes).toStrictEqual(code("a"));
    await readOnly.close();
  });
});
