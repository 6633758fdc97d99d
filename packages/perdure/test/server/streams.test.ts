import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { openAgentWorld, type AgentWorld, type AgentWorldOptions } from "./agent-world.ts";
import { EventReader } from "./event-reader.ts";
import { ask, errorOf, post, until } from "./world.ts";

let world: AgentWorld;
const readers: EventReader[] = [];

async function open(options: AgentWorldOptions = {}): Promise<AgentWorld> {
  world = await openAgentWorld(options);
  return world;
}

async function follow(path: string, headers: Record<string, string> = {}): Promise<EventReader> {
  const reader = await EventReader.open(world.ingress + path, headers);
  readers.push(reader);
  return reader;
}

afterEach(async () => {
  for (const reader of readers.splice(0)) reader.close();
  await world.close();
});

const LOG = "/perdure/streams/notes/n1/log";
const write = (...items: unknown[]): Promise<unknown> => post(`${world.ingress}/notes/n1/write`, items);
const offsets = ({ events }: EventReader): unknown[] => events.map(({ data }) => data.offset);

describe("a page of a stream", () => {
  test("has its items with offsets, and says where the stream begins and ends", async () => {
    await open();
    await write({ a: 1 }, "two", [3]);
    const { json } = await ask(`${world.ingress}${LOG}?follow=false&from=1&limit=1`);
    expect(json).toEqual({
      items: [{ offset: 1, at: expect.stringMatching(/^20.*Z$/), writer: null, item: "two" }],
      start: 0,
      end: 3,
    });
    const asked = await ask(world.ingress + LOG, { headers: { accept: "application/json" } });
    expect(asked.json.items.map(({ item }: { item: unknown }) => item)).toEqual([{ a: 1 }, "two", [3]]);
  });

  test("names the try of a step that wrote an item while it ran", async () => {
    await open();
    await post(`${world.ingress}/notes/n1/live`, ["a"]);
    const { json } = await ask(`${world.ingress}${LOG}?follow=false`);
    expect(json.items).toMatchObject([{ item: "a", writer: expect.stringMatching(/^\d+\.\d+$/) }]);
  });

  test("is empty where nobody has written", async () => {
    await open();
    const { json } = await ask(`${world.ingress}${LOG}?follow=false`);
    expect(json).toEqual({ items: [], start: 0, end: 0 });
  });

  test.each(["from=-1", "from=x", "limit=0", "limit=1001"])("refuses ?%s", async (query) => {
    await open();
    const answer = await ask(`${world.ingress}${LOG}?follow=false&${query}`);
    expect(answer.status).toBe(400);
    expect(errorOf(answer).code).toBe("P0034");
  });
});

describe("following a stream", () => {
  test("tells what is there and what comes, each item once under its offset", async () => {
    await open();
    await write("a", "b");
    const reader = await follow(LOG);
    await reader.until(() => reader.events.length === 2);
    await write("c");
    await reader.until(() => reader.events.length === 3);
    expect(reader.events.map(({ id, type, data }) => [id, type, data.offset, data.item])).toEqual([
      ["0", "message", 0, "a"],
      ["1", "message", 1, "b"],
      ["2", "message", 2, "c"],
    ]);
  });

  test("goes on behind Last-Event-ID, also where nothing had come before", async () => {
    await open();
    const early = await follow(LOG);
    expect(early.lastId).toBe("-1");
    await write("a", "b", "c");
    const again = await follow(LOG, { "last-event-id": "-1" });
    await again.until(() => again.events.length === 3);
    const later = await follow(`${LOG}?from=0`, { "last-event-id": "1" });
    await later.until(() => later.events.length === 1);
    expect(offsets(again)).toEqual([0, 1, 2]);
    expect(offsets(later)).toEqual([2]);
  });

  test("begins with what comes from now on, where it is asked to", async () => {
    await open();
    await write("a", "b");
    const reader = await follow(`${LOG}?from=end`);
    await write("c");
    await reader.until(() => reader.events.length === 1);
    expect(offsets(reader)).toEqual([2]);
  });

  test("says that items were trimmed, and from where there are some", async () => {
    await open();
    await write("a", "b", "c", "d");
    await post(`${world.ingress}/notes/n1/trim`, 2);
    await until(
      () => ask(`${world.ingress}${LOG}?follow=false`),
      ({ json }) => json.start === 2,
    );
    const reader = await follow(LOG, { "last-event-id": "0" });
    await reader.until(() => reader.events.length === 3);
    expect(reader.events[0]).toEqual({ id: "1", type: "reset", data: { start: 2 } });
    expect(offsets(reader).slice(1)).toEqual([2, 3]);
  });

  test("says that what was seen last is not of this stream", async () => {
    await open();
    await write("a");
    const reader = await follow(LOG, { "last-event-id": "7" });
    await reader.until(() => reader.events.length === 2);
    expect(reader.events.map(({ type, id }) => [type, id])).toEqual([
      ["reset", "-1"],
      ["message", "0"],
    ]);
  });

  test("refuses a Last-Event-ID that is none", async () => {
    await open();
    const answer = await ask(world.ingress + LOG, { headers: { "last-event-id": "x-1" } });
    expect(errorOf(answer)).toMatchObject({ status: 400, message: expect.stringContaining("Last-Event-ID") });
  });

  test("is kept alive while nothing comes", async () => {
    await open({ heartbeatMs: 20 });
    const reader = await follow(LOG);
    await reader.until(() => reader.comments.length > 1);
    expect(reader.comments).toContain("alive");
  });

  test("ends when the server drains", async () => {
    await open();
    const reader = await follow(LOG);
    void world.server.close(500);
    await reader.until(() => reader.ended);
  });

  test("finds a key whatever its characters", async () => {
    await open();
    const key = encodeURIComponent("a/ü b?#");
    await post(`${world.ingress}/notes/${key}/write`, ["a"]);
    const reader = await follow(`/perdure/streams/notes/${key}/log`);
    await reader.until(() => reader.events.length === 1);
  });

  test("reaches the streams of a run", async () => {
    await open();
    const { json: run } = await post(`${world.ingress}/jobs/work`, "dig");
    const reader = await follow(`/perdure/runs/${run}/streams/progress`);
    await reader.until(() => reader.events.length === 2);
    expect(reader.events.map(({ data }) => data.item.done)).toEqual([0, 1]);
  });
});

describe("streams that are not to be read from outside", () => {
  test("are those of internal services, of keys and of runs", async () => {
    await open();
    await post(`${world.ingress}/opener/open`, "k");
    const byKey = await ask(`${world.ingress}/perdure/streams/vault/k/secrets?follow=false`);
    const { runs } = (await ask(`${world.admin}/runs?service=vault`)).json;
    const byRun = await ask(`${world.ingress}/perdure/runs/${runs[0].id}/streams/secrets?follow=false`);
    for (const answer of [byKey, byRun]) {
      expect(errorOf(answer)).toMatchObject({ code: "P0030", status: 404 });
      expect(answer.text).not.toContain("s3cret");
    }
  });

  test("are those of nobody", async () => {
    await open();
    const answer = await ask(`${world.ingress}/perdure/streams/note/n1/log`);
    expect(errorOf(answer)).toMatchObject({ code: "P0030", message: expect.stringContaining("note") });
    const run = await ask(`${world.ingress}/perdure/runs/run_1${"0".repeat(33)}/streams/log`);
    expect(run.status).toBe(404);
  });

  test("need the token where the server has one", async () => {
    await open({ token: "t0ken" });
    expect((await ask(world.ingress + LOG)).status).toBe(401);
    expect((await ask(`${world.ingress}/perdure/agents/researcher/s1/chat`)).status).toBe(401);
  });
});

describe("a reader that does not read", () => {
  async function slowReader(): Promise<{ readonly client: Socket; readonly serverSide: Socket }> {
    const sockets: Socket[] = [];
    world.server.ingress.server.on("connection", (socket: Socket) => sockets.push(socket));
    const { hostname, port } = new URL(world.ingress);
    const client = connect(Number(port), hostname);
    client.pause();
    client.write(`GET ${LOG} HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`);
    const [serverSide] = await until(
      async () => sockets,
      ({ length }) => length > 0,
    );
    if (serverSide === undefined) throw new Error("it was there just now");
    return { client, serverSide };
  }

  const many = (): Promise<unknown> => post(`${world.ingress}/notes/n1/many`, { count: 100, bytes: 4_000 });

  test("is told what was trimmed meanwhile", async () => {
    await open();
    const { client } = await slowReader();
    for (let batch = 0; batch < 60; batch += 1) await many();
    await post(`${world.ingress}/notes/n1/trim`, 5_900);
    let text = "";
    client.on("data", (data) => (text += String(data)));
    client.resume();
    await until(
      async () => text.includes("id: 5999\n"),
      (done) => done,
    );
    client.destroy();
    const told = [...text.matchAll(/^id: (-?\d+)\n(event: reset|data)/gm)].map((match) => [Number(match[1]), match[2]]);
    const reset = told.findIndex(([, type]) => type === "event: reset");
    expect(told[reset]).toEqual([5_899, "event: reset"]);
    expect(told.slice(0, reset).map(([id]) => id)).toEqual(Array.from({ length: reset }, (_, at) => at));
    expect(told.slice(reset + 1).map(([id]) => id)).toEqual(Array.from({ length: 100 }, (_, at) => 5_900 + at));
  });

  test("holds little of the stream in memory, and misses none of it", async () => {
    await open();
    const { client, serverSide } = await slowReader();
    const batches = 40;
    let most = 0;
    for (let batch = 0; batch < batches; batch += 1) {
      await many();
      most = Math.max(most, serverSide.writableLength);
    }
    // 16 MB were appended; a page of 256 items, and what was live before it fell behind, may wait.
    expect(most).toBeLessThan(3_000_000);
    let text = "";
    client.on("data", (data) => (text += String(data)));
    client.resume();
    await until(
      async () => [...text.matchAll(/^id: (\d+)$/gm)].length,
      (count) => count >= batches * 100,
    );
    client.destroy();
    const ids = [...text.matchAll(/^id: (\d+)$/gm)].map((match) => Number(match[1]));
    expect(ids).toEqual(Array.from({ length: batches * 100 }, (_, at) => at));
  });
});
