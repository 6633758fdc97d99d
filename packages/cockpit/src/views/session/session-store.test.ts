import { afterEach, describe, expect, test, vi } from "vitest";
import type { StreamItemView, StreamPageAnswer } from "@perdure/protocol";
import type { ApiClient, AskOptions, Query } from "../../api/client.ts";
import { at, runId } from "../../testing/samples.ts";
import { SessionStore, type SessionStoreOptions } from "./session-store.ts";

const item = (offset: number): StreamItemView => ({
  offset,
  at: at(offset),
  writer: null,
  item: { type: "message", id: runId(offset), text: `m${offset}`, policy: "steer" },
});

interface Connection {
  readonly path: string;
  readonly query: Query;
  readonly lastId: string | undefined;
  say(text: string): void;
  tell(...items: readonly StreamItemView[]): void;
  end(): void;
}

/** A server with a transcript, whose connections a test feeds and ends. */
class Server {
  readonly connections: Connection[] = [];
  readonly pages: Query[] = [];
  start = 0;
  end = 0;

  readonly get = (async (path: string, options: AskOptions): Promise<StreamPageAnswer> => {
    const { query = {} } = options;
    if (!path.endsWith("transcript")) return { items: [], start: 0, end: 0 };
    if (query["from"] === "end") return { items: [], start: this.start, end: this.end };
    this.pages.push(query);
    const from = Math.max(this.start, Number(query["from"]));
    const to = Math.min(this.end, from + Number(query["limit"]));
    const items = Array.from({ length: Math.max(0, to - from) }, (_, index) => item(from + index));
    return { items, start: this.start, end: this.end };
  }) as ApiClient["get"];

  readonly open: ApiClient["open"] = async (_method, path, { query = {} }, headers) => {
    const encoder = new TextEncoder();
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
    const body = new ReadableStream<Uint8Array>({ start: (made) => void (controller = made) });
    const say = (text: string): void => controller?.enqueue(encoder.encode(text));
    this.connections.push({
      path,
      query,
      lastId: headers?.["last-event-id"],
      say,
      // In one piece, as a commit's items come.
      tell: (...items) => say(items.map((one) => `id: ${one.offset}\ndata: ${JSON.stringify(one)}\n\n`).join("")),
      end: () => controller?.close(),
    });
    return new Response(body);
  };

  of(name: string): Connection {
    const found = this.connections.findLast(({ path }) => path.endsWith(name));
    if (found === undefined) throw new Error(`nobody follows ${name}`);
    return found;
  }
}

const stores: SessionStore[] = [];
afterEach(() => stores.splice(0).forEach((store) => store.stop()));

async function follow(server: Server, options: Partial<SessionStoreOptions> = {}): Promise<SessionStore> {
  const store = new SessionStore(server, "researcher", "a/b", {
    schedule: (flush) => queueMicrotask(flush),
    pace: { pauseMinMs: 1, pauseMaxMs: 1 },
    pageItems: 3,
    ...options,
  });
  stores.push(store);
  await store.start();
  return store;
}

const offsets = (store: SessionStore): readonly number[] => store.snapshot.get().items.map(({ offset }) => offset);

describe("a session's streams", () => {
  test("an empty session is there at once, and its first message comes live", async () => {
    const server = new Server();
    const store = await follow(server);
    expect(store.snapshot.get()).toMatchObject({ isLoading: false, hasEarlier: false, items: [] });
    expect(server.of("transcript").path).toBe("/streams/researcher/a%2Fb/transcript");
    server.of("transcript").tell(item(0));
    await vi.waitFor(() => expect(offsets(store)).toEqual([0]));
  });

  test("C1: the newest page is followed from its beginning; what is told twice counts once", async () => {
    const server = new Server();
    server.end = 10;
    const store = await follow(server);
    expect(store.snapshot.get()).toMatchObject({ isLoading: true, hasEarlier: true });
    expect(server.of("transcript").query).toEqual({ from: 7 });
    server.of("transcript").tell(item(7), item(8), item(8), item(9), item(7), item(10));
    await vi.waitFor(() => expect(offsets(store)).toEqual([7, 8, 9, 10]));
    expect(store.snapshot.get().isLoading).toBe(false);
  });

  test("C1: a connection that ended is taken up behind the last item", async () => {
    const server = new Server();
    server.end = 2;
    const store = await follow(server);
    const first = server.of("transcript");
    first.tell(item(0), item(1));
    await vi.waitFor(() => expect(offsets(store)).toEqual([0, 1]));
    first.end();
    await vi.waitFor(() => expect(server.of("transcript")).not.toBe(first));
    expect([server.of("transcript").lastId, server.of("transcript").query]).toEqual(["1", {}]);
    server.of("transcript").tell(item(2));
    await vi.waitFor(() => expect(offsets(store)).toEqual([0, 1, 2]));
  });

  test("pages further back are put before the others, down to where the transcript begins", async () => {
    const server = new Server();
    server.end = 8;
    server.start = 1;
    const store = await follow(server);
    server.of("transcript").tell(item(5), item(6), item(7));
    await vi.waitFor(() => expect(offsets(store)).toHaveLength(3));
    await store.loadEarlier();
    expect([offsets(store), store.snapshot.get().hasEarlier]).toEqual([[2, 3, 4, 5, 6, 7], true]);
    await store.loadEarlier();
    expect([offsets(store), store.snapshot.get().hasEarlier]).toEqual([[1, 2, 3, 4, 5, 6, 7], false]);
    expect(server.pages).toEqual([
      { follow: false, from: 2, limit: 3 },
      { follow: false, from: 0, limit: 2 },
    ]);
  });

  test("an offset that is asked for is among the first that are read", async () => {
    const server = new Server();
    server.end = 100;
    await follow(server, { reach: 40 });
    expect(server.of("transcript").query).toEqual({ from: 30 });
  });

  test("C2: whoever looks is told once per frame", async () => {
    const server = new Server();
    let flush: () => void = () => undefined;
    const store = await follow(server, { schedule: (next) => (flush = next) });
    const listener = vi.fn<() => void>();
    store.snapshot.subscribe(listener);
    server.of("transcript").tell(item(0), item(1));
    server.of("transcript").tell(item(2));
    await vi.waitFor(() => {
      flush();
      expect(offsets(store)).toEqual([0, 1, 2]);
    });
    expect(listener.mock.calls.length).toBeLessThanOrEqual(3);
  });

  test("C3: a session that was begun anew is read anew", async () => {
    const server = new Server();
    server.end = 2;
    const store = await follow(server);
    server.of("transcript").tell(item(0), item(1));
    await vi.waitFor(() => expect(offsets(store)).toEqual([0, 1]));
    const first = server.of("transcript");
    server.end = 1;
    first.say('id: 4\nevent: reset\ndata: {"start":5}\n\n');
    await vi.waitFor(() => expect(server.of("transcript")).not.toBe(first));
    server.of("transcript").tell(item(0));
    await vi.waitFor(() => expect(offsets(store)).toEqual([0]));
  });

  test("a session that cannot be read says why", async () => {
    class Refusing extends Server {
      override readonly get = (() => Promise.reject(new Error("no such agent"))) as ApiClient["get"];
    }
    const store = await follow(new Refusing());
    expect(store.snapshot.get()).toMatchObject({ isLoading: false, error: { message: "no such agent" } });
  });
});
