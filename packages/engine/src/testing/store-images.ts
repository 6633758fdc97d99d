// Contract: images and artifacts (T7, R1, R2).

import { AssertionError, type ImageInfo, type RunId, sha256 } from "@perdure/protocol";
import { describe, expect, test as plainTest } from "vitest";
import type { Mutation } from "../store.ts";
import { append, needs, runIdOf, runOf, stepEntry, type StoreContract, value, Writer } from "./store-harness.ts";
import { type StoreTest, storeTest } from "./store-test.ts";

const BASE = sha256("base");

export function describeImages(contract: StoreContract): void {
  const test = storeTest(contract);
  describeStarts(test, contract.largePayloadBytes ?? 100_000);
  describeSharing(test);
  describeDamage(contract);
  describeArtifacts(test, contract.largePayloadBytes ?? 100_000);
}

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
}

function imageOf(entry: number, bytes: Uint8Array, over: Partial<ImageInfo> = {}): ImageInfo {
  return { entry, hash: sha256(bytes), base: BASE, size: bytes.byteLength, at: 3_000 + entry, name: null, ...over };
}

function add(run: number, entry: number, bytes: Uint8Array, over: Partial<ImageInfo> = {}): Mutation {
  return { type: "addImage", run, info: imageOf(entry, bytes, over), bytes };
}

/** A run with a journal of so many steps. */
function withSteps(seq: number, entries: number, over: Parameters<typeof runOf>[1] = {}): readonly Mutation[] {
  const steps = Array.from({ length: entries }, (_, i) => append(seq, i + 1, stepEntry(i + 1, i + 1)));
  return [{ type: "insertRun", run: runOf(seq, over) }, ...steps];
}

async function infosOf(writer: Writer, seq: number, id: RunId = runIdOf(seq)): Promise<readonly ImageInfo[]> {
  const loaded = await writer.store.load(needs({ images: [{ run: seq, id }] }));
  return loaded.images[0]?.images ?? [];
}

function describeStarts(test: StoreTest, largeBytes: number): void {
  describe("images", () => {
    test("a start has the newest image and the entries after it; the state is in the image", async ({
      writer,
      reopen,
    }) => {
      const keyed = { service: "inbox", key: "k", mode: "exclusive" } as const;
      const run = runOf(1, keyed);
      const [older, newer] = [bytesOf("older"), bytesOf("newer")];
      await writer.commit(
        ...withSteps(1, 4, keyed),
        { type: "setState", key: keyed, name: "n", value: "1" },
        add(1, 2, older),
        add(1, 3, newer, { name: "before the mail" }),
      );
      const again = await Writer.on(await reopen());
      const infos = [imageOf(2, older), imageOf(3, newer, { name: "before the mail" })];
      expect(await again.store.loadStart(run)).toStrictEqual({
        image: { info: infos[1], bytes: newer },
        entries: [stepEntry(4, 4)],
        state: null,
        images: infos,
        damaged: [],
      });
      expect(await again.store.reader.images(run.id)).toStrictEqual(infos);
      expect(await again.store.reader.imageBytes(imageOf(3, newer).hash)).toEqual(newer);
      expect(await again.store.reader.imageBytes("none")).toBeNull();
      await again.commit({ type: "dropImages", run: 1, entries: [2, 3, 7] });
      const whole = await again.store.loadStart(run);
      expect([whole.image, whole.entries.length, whole.images]).toEqual([null, 4, []]);
      expect(whole.state).toStrictEqual(new Map([["n", "1"]]));
    });

    test("T4: large images come back as they were, and go", async ({ writer, reopen }) => {
      const large = Uint8Array.from({ length: largeBytes * 2 }, (_, i) => (i * 31) % 253);
      await writer.commit(...withSteps(1, 1), add(1, 1, large));
      const again = await Writer.on(await reopen());
      expect((await again.store.loadStart(runOf(1))).image).toStrictEqual({ info: imageOf(1, large), bytes: large });
      await again.commit({ type: "dropImages", run: 1, entries: [1] });
      expect((await again.store.loadStart(runOf(1))).image).toBeNull();
    });

    test("an image can be named, and the name taken away", async ({ writer }) => {
      const bytes = bytesOf("a");
      await writer.commit(...withSteps(1, 2), add(1, 1, bytes));
      await writer.commit({ type: "nameImage", run: 1, entry: 1, name: "käse 🧀" });
      expect(await infosOf(writer, 1)).toStrictEqual([imageOf(1, bytes, { name: "käse 🧀" })]);
      await writer.commit({ type: "nameImage", run: 1, entry: 1, name: null });
      expect(await infosOf(writer, 1)).toStrictEqual([imageOf(1, bytes)]);
      await expect(writer.commit({ type: "nameImage", run: 1, entry: 2, name: "x" })).rejects.toBeInstanceOf(
        AssertionError,
      );
    });

    test("a cut of the journal takes the images that have seen what goes, and no others", async ({ writer }) => {
      const [a, b, c] = [bytesOf("a"), bytesOf("b"), bytesOf("c")];
      await writer.commit(...withSteps(1, 5), add(1, 2, a), add(1, 3, b), add(1, 5, c, { name: "kept as long as it" }));
      await writer.commit({ type: "truncate", run: 1, id: runIdOf(1), from: 3, commands: 2 });
      expect(await infosOf(writer, 1)).toStrictEqual([imageOf(2, a)]);
      const start = await writer.store.loadStart(runOf(1));
      expect([start.image?.info.entry, start.entries]).toEqual([2, []]);
    });

    test("T1: images are added in order, to runs that are there; a refused batch leaves none", async ({ writer }) => {
      const [a, b] = [bytesOf("a"), bytesOf("b")];
      await writer.commit(...withSteps(1, 3), add(1, 2, a));
      for (const wrong of [add(1, 2, b), add(1, 1, b)])
        await expect(writer.commit(add(1, 3, b), wrong), JSON.stringify(wrong)).rejects.toBeInstanceOf(AssertionError);
      expect(await infosOf(writer, 1)).toStrictEqual([imageOf(2, a)]);
      // The bytes of the refused batch are not there either.
      const known: Mutation = { type: "addImage", run: 1, info: imageOf(3, b), bytes: null };
      await expect(writer.commit(known)).rejects.toBeInstanceOf(AssertionError);
    });
  });
}

function describeSharing(test: StoreTest): void {
  describe("equal images", () => {
    const shared = bytesOf("shared by several");
    const byHash = (run: number, entry: number): Mutation => ({
      type: "addImage",
      run,
      info: imageOf(entry, shared),
      bytes: null,
    });

    test("T7: are stored once, and are there as long as one run has them", async ({ writer }) => {
      await writer.commit(...withSteps(1, 3), ...withSteps(2, 3), ...withSteps(3, 3), add(1, 1, shared));
      await writer.commit(byHash(2, 2), byHash(2, 3), byHash(3, 1));
      const steps: readonly [Mutation, number, readonly number[]][] = [
        [{ type: "deleteRun", run: 1, id: runIdOf(1) }, 2, [2, 3]],
        [{ type: "truncate", run: 2, id: runIdOf(2), from: 3, commands: 2 }, 2, [2]],
        [{ type: "dropImages", run: 2, entries: [2] }, 3, [1]],
      ];
      for (const [mutation, run, left] of steps) {
        await writer.commit(mutation);
        expect((await infosOf(writer, run)).map(({ entry }) => entry)).toEqual(left);
        expect((await writer.store.loadStart(runOf(run))).image?.bytes, JSON.stringify(mutation)).toStrictEqual(shared);
      }
      await writer.commit({ type: "deleteRun", run: 3, id: runIdOf(3) });
      // The last of them has gone, and the bytes with it.
      await expect(writer.commit(byHash(2, 2))).rejects.toBeInstanceOf(AssertionError);
      await writer.commit(add(2, 2, shared));
      expect((await writer.store.loadStart(runOf(2))).image?.bytes).toStrictEqual(shared);
    });
  });
}

function describeDamage(contract: StoreContract): void {
  const large = contract.largePayloadBytes ?? 100_000;
  describe("damaged images", () => {
    for (const [how, size] of [
      ["small", 40],
      ["large", large * 2],
    ] as const) {
      plainTest(`T7: a ${how} one is passed over for the one before, and named`, async () => {
        const opened = await contract.open();
        try {
          const writer = await Writer.on(opened.store);
          const make = (fill: number): Uint8Array => new Uint8Array(size).fill(fill);
          await writer.commit(...withSteps(1, 4), add(1, 1, make(1)), add(1, 2, make(2)), add(1, 3, make(3)));
          await opened.damageImage(sha256(make(3)));
          const start = await writer.store.loadStart(runOf(1));
          expect([start.image, start.entries.length]).toStrictEqual([{ info: imageOf(2, make(2)), bytes: make(2) }, 2]);
          expect(start.damaged.map(({ entry }) => entry)).toEqual([3]);
          expect(start.images.map(({ entry }) => entry)).toEqual([1, 2, 3]);
          for (const fill of [1, 2]) await opened.damageImage(sha256(make(fill)));
          const none = await writer.store.loadStart(runOf(1));
          expect([none.image, none.entries.length]).toEqual([null, 4]);
          expect(none.damaged.map(({ entry }) => entry)).toEqual([3, 2, 1]);
        } finally {
          await opened.dispose();
        }
      });
    }
  });
}

function describeArtifacts(test: StoreTest, largeBytes: number): void {
  describe("artifacts", () => {
    test("R1, R2: come back as they were put, by the hash of their bytes", async ({ writer, reopen }) => {
      const code = bytesOf("export default 1");
      const heap = Uint8Array.from({ length: largeBytes * 2 }, (_, i) => i % 7);
      const { artifacts } = writer.store;
      expect(await artifacts.put("bundle", code, { name: "mail", "of süd": "☃" })).toBe(sha256(code));
      expect(await artifacts.put("base", heap, {})).toBe(sha256(heap));
      expect(await artifacts.put("bundle", code, { name: "mail", "of süd": "☃" })).toBe(sha256(code));
      const again = await reopen();
      expect(await again.artifacts.get(sha256(code))).toStrictEqual({
        kind: "bundle",
        bytes: code,
        about: { name: "mail", "of süd": "☃" },
      });
      expect((await again.artifacts.get(sha256(heap)))?.bytes).toStrictEqual(heap);
      expect(await again.artifacts.get(sha256("none"))).toBeNull();
      const listed = [
        { hash: sha256(code), kind: "bundle", about: { name: "mail", "of süd": "☃" }, size: code.byteLength },
        { hash: sha256(heap), kind: "base", about: {}, size: heap.byteLength },
      ];
      expect(await again.artifacts.list()).toStrictEqual(listed.sort((a, b) => (a.hash < b.hash ? -1 : 1)));
    });

    test("an artifact is put between commits, and changes nothing of theirs", async ({ writer }) => {
      const large = value(`"${"x".repeat(largeBytes + 1)}"`);
      const done = [
        writer.commit(...withSteps(1, 1), append(1, 2, stepEntry(2, 2, large))),
        writer.store.artifacts.put("base", new Uint8Array(largeBytes + 1), {}),
        writer.commit(append(1, 3, stepEntry(3, 3))),
      ];
      await Promise.all(done);
      expect((await writer.journal(runOf(1))).length).toBe(3);
    });
  });
}
