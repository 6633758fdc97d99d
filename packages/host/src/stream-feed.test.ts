import { createMemoryStorage, type Mutation, openMemoryStore, type Store, type StreamItem } from "@perdure/engine";
import type { StreamRef } from "@perdure/protocol";
import { describe, expect, test } from "vitest";
import { StreamFeed, type StreamListener } from "./stream-feed.ts";

const LOG: StreamRef = { owner: { service: "inbox", key: "k" }, name: "log" };
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** A feed over a store; `append` commits, and tells of it unless `silently`. */
class Scene {
  readonly store: Store = openMemoryStore(createMemoryStorage());
  readonly feed: StreamFeed;
  reads = 0;
  failReads = false;
  /** Pages are read at once, and arrive when this is done. */
  arrival: Promise<void> = Promise.resolve();
  #epoch = 0;
  #end = 0;

  constructor() {
    this.feed = new StreamFeed({
      stream: async (stream, from, limit) => {
        this.reads += 1;
        if (this.failReads) throw new Error("the disk is gone");
        const page = await this.store.reader.stream(stream, from, limit);
        await this.arrival;
        return page;
      },
    });
  }

  async append(
    count: number,
    options: { readonly silently?: boolean; readonly stream?: StreamRef } = {},
  ): Promise<void> {
    const { stream = LOG, silently = false } = options;
    if (this.#epoch === 0) this.#epoch = (await this.store.acquire("test")).epoch;
    const from = stream === LOG ? this.#end : 0;
    if (stream === LOG) this.#end += count;
    const items = Array.from({ length: count }, (_, i) => String(from + i));
    const mutations: readonly Mutation[] = [{ type: "appendStream", stream, from, items, writer: "1.1", at: from }];
    await this.store.commit({ epoch: this.#epoch, mutations });
    if (!silently) this.feed.committed(mutations);
  }

  async trim(before: number): Promise<void> {
    await this.store.commit({ epoch: this.#epoch, mutations: [{ type: "trimStream", stream: LOG, before }] });
  }

  watch(
    from: number,
    then: StreamListener = () => undefined,
  ): { readonly seen: StreamItem[]; close(): void; error?: unknown } {
    const seen: StreamItem[] = [];
    const watched: { readonly seen: StreamItem[]; close(): void; error?: unknown } = { seen, close: () => undefined };
    const listener: StreamListener = (items) => {
      seen.push(...items);
      return then(items);
    };
    const watch = this.feed.watch(LOG, from, listener, (error) => void (watched.error = error));
    watched.close = () => watch.close();
    return watched;
  }
}

const offsets = ({ seen }: { readonly seen: readonly StreamItem[] }): readonly number[] =>
  seen.map(({ offset }) => offset);
const upTo = (from: number, to: number): readonly number[] => Array.from({ length: to - from }, (_, i) => from + i);

describe("a watcher", () => {
  test("gets what is stored, then what is committed, as items", async () => {
    const scene = new Scene();
    await scene.append(3);
    const watched = scene.watch(1);
    await turn();
    const { reads } = scene;
    await scene.append(2);
    await scene.append(1, { stream: { ...LOG, name: "other" } });
    await scene.append(1);
    expect(offsets(watched)).toEqual([1, 2, 3, 4, 5]);
    expect(scene.reads, "commits are handed on without reading").toBe(reads);
    expect(watched.seen.at(-1)).toEqual({ offset: 5, at: 5, writer: "1.1", payload: "5" });
  });

  test("reads many pages, and misses nothing that comes meanwhile", async () => {
    const scene = new Scene();
    for (let i = 0; i < 50; i += 1) await scene.append(13, { silently: true });
    const watched = scene.watch(0);
    for (let i = 0; i < 40; i += 1) {
      await scene.append(1 + (i % 3));
      if (i % 7 === 0) await turn();
    }
    await turn();
    expect(offsets(watched)).toEqual(upTo(0, (await scene.store.reader.stream(LOG, 0, 1)).end));
  });

  test("F2: misses nothing that is committed while a page is on its way", async () => {
    const scene = new Scene();
    const arrival = Promise.withResolvers<void>();
    scene.arrival = arrival.promise;
    const watched = scene.watch(0);
    await turn();
    await scene.append(2);
    arrival.resolve();
    await turn();
    expect(offsets(watched)).toEqual([0, 1]);
  });

  test("that waits for an offset to come gets nothing before it", async () => {
    const scene = new Scene();
    const watched = scene.watch(2);
    await turn();
    await scene.append(1);
    await turn();
    expect(offsets(watched)).toEqual([]);
    await scene.append(3);
    await turn();
    expect(offsets(watched)).toEqual([2, 3]);
  });

  test("F2: finds what nobody told of by the next commit, or when asked to look again", async () => {
    const scene = new Scene();
    const watched = scene.watch(0);
    await turn();
    await scene.append(2, { silently: true });
    await scene.append(1);
    await turn();
    expect(offsets(watched)).toEqual([0, 1, 2]);
    await scene.append(1, { silently: true });
    scene.feed.reread();
    await turn();
    expect(offsets(watched)).toEqual([0, 1, 2, 3]);
  });

  test("F2: goes on after what was trimmed", async () => {
    const scene = new Scene();
    await scene.append(4);
    await scene.trim(3);
    const watched = scene.watch(0);
    await turn();
    await scene.append(1);
    expect(offsets(watched)).toEqual([3, 4]);
  });

  test("F3: that is slow is given one page at a time, and in the end everything", async () => {
    const scene = new Scene();
    let open: (() => void) | undefined;
    let calls = 0;
    const watched = scene.watch(0, () => {
      calls += 1;
      return new Promise<void>((resolve) => (open = resolve));
    });
    await turn();
    for (let i = 0; i < 20; i += 1) await scene.append(1);
    await turn();
    expect([calls, offsets(watched)]).toEqual([1, [0]]);
    open?.();
    await turn();
    expect([calls, offsets(watched)]).toEqual([2, upTo(0, 20)]);
    await scene.append(1);
    open?.();
    await turn();
    expect(offsets(watched)).toEqual(upTo(0, 21));
    open?.();
    await turn();
    await scene.append(1);
    expect(offsets(watched), "live again").toEqual(upTo(0, 22));
  });

  test("that closed, or whose listener throws, hears nothing more, and others do", async () => {
    const scene = new Scene();
    const [closed, other] = [scene.watch(0), scene.watch(0)];
    const throwing = scene.watch(0, () => {
      throw new Error("enough");
    });
    const rejecting = scene.watch(0, () => Promise.reject(new Error("later")));
    await turn();
    await scene.append(1);
    await turn();
    closed.close();
    await scene.append(1);
    await turn();
    expect(offsets(other)).toEqual([0, 1]);
    for (const watched of [closed, throwing, rejecting]) expect(offsets(watched)).toEqual([0]);
    expect([throwing.error, rejecting.error].map(String)).toEqual(["Error: enough", "Error: later"]);
  });

  test("is told where the store cannot be read", async () => {
    const scene = new Scene();
    scene.failReads = true;
    const watched = scene.watch(0);
    await turn();
    expect(String(watched.error)).toBe("Error: the disk is gone");
  });
});
