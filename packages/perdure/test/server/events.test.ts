import { connect } from "node:net";
import type { Mutation } from "@perdure/engine";
import { afterAll, beforeAll, expect, it } from "vitest";
import { EventReader } from "./event-reader.ts";
import { ask, errorOf, openWorld, post, rawAsk, until, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await openWorld({ heartbeatMs: 30 });
});
afterAll(() => world.close());

const change = (name: string): Mutation => ({
  type: "setState",
  key: { service: "inbox", key: "made" },
  name,
  value: "1",
});

it("tells everything that changes, in order, once", async () => {
  const reader = await EventReader.open(`${world.admin}/events`);
  const run = (await post(`${world.ingress}/inbox/e1/add`, "x")).headers.get("x-perdure-run") ?? "";
  await reader.next(({ type, data }) => type === "run" && data.run.id === run && data.run.status === "succeeded");
  const mine = reader.events.filter(({ data }) => data.run?.id === run || data.runId === run || data.key === "e1");
  expect(mine.map(({ type }) => type)).toEqual(expect.arrayContaining(["run", "entry", "state"]));
  expect(mine[0]).toMatchObject({
    type: "run",
    data: { created: true, at: expect.stringMatching(/Z$/), run: { status: "running", service: "inbox" } },
  });
  const entries = mine.filter(({ type }) => type === "entry");
  expect(entries.map(({ data }) => data.entry.index)).toEqual(entries.map((_, at) => at + 1));
  expect(entries.at(-1)).toMatchObject({
    data: { runId: run, entry: { kind: "command", command: { type: "setState", key: "notes", value: ["x"] } } },
  });
  expect(mine.find(({ type }) => type === "state")).toMatchObject({
    data: { service: "inbox", key: "e1", name: "notes" },
  });
  const ids = reader.events.map(({ id }) => Number(id?.split("-").at(-1)));
  expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b));
  reader.close();
});

it("tells of promises, cuts, promotions and ends", async () => {
  const reader = await EventReader.open(`${world.admin}/events`);
  const sent = async (path: string, input?: unknown): Promise<string> =>
    (await post(`${world.ingress}${path}/send`, input)).json.runId;
  await sent("/order/e2/run", "x");
  await post(`${world.ingress}/order/e2/approve`);
  await reader.next(
    ({ type, data }) => type === "promise" && data.service === "order" && data.key === "e2" && data.name === "approved",
  );
  const first = await sent("/inbox/e2/hold");
  const second = await sent("/inbox/e2/hold");
  await post(`${world.admin}/runs/${first}/kill`);
  await reader.next(({ type, data }) => type === "promoted" && data.runId === second);
  await post(`${world.admin}/runs/${first}/restart`, { from: 1 });
  await reader.next(({ type, data }) => type === "truncated" && data.runId === first && data.from === 1);
  await post(`${world.admin}/runs/${first}/kill`);
  await post(`${world.admin}/runs/${first}/purge`);
  expect(await reader.next(({ type }) => type === "deleted")).toMatchObject({ data: { runId: first } });
  reader.close();
});

it("tells of images and their names, by the run's id", async () => {
  const reader = await EventReader.open(`${world.admin}/events`);
  const { runId } = (await post(`${world.ingress}/inbox/moments/hold/send`)).json;
  const { run } = (await ask(`${world.admin}/runs/${runId}`)).json;
  const info = { entry: 1, hash: "0".repeat(64), base: "1".repeat(64), size: 9, at: Date.now(), name: null };
  const taken: Mutation = { type: "addImage", run: run.seq, info, bytes: null };
  const named: Mutation = { type: "nameImage", run: run.seq, entry: 1, name: "before the mail" };
  world.runtime.changes.committed([taken, named], Date.now());
  expect(await reader.next(({ type }) => type === "moment")).toMatchObject({ data: { runId, entry: 1, name: null } });
  expect(await reader.next(({ type, data }) => type === "moment" && data.name !== null)).toMatchObject({
    data: { runId, entry: 1, name: "before the mail", at: expect.stringMatching(/Z$/) },
  });
  await post(`${world.admin}/runs/${runId}/kill`);
  reader.close();
});

it("goes on after the last event that was seen, by header and by query", async () => {
  const reader = await EventReader.open(`${world.admin}/events`);
  for (const note of ["a", "b"]) await post(`${world.ingress}/inbox/e3/add`, note);
  await reader.until(
    () =>
      reader.events.filter(
        ({ type, data }) => type === "run" && data.run.key === "e3" && data.run.status === "succeeded",
      ).length === 2,
  );
  reader.close();
  const [first] = reader.events;
  await post(`${world.ingress}/inbox/e3/add`, "c");
  for (const again of [
    await EventReader.open(`${world.admin}/events`, { "last-event-id": first?.id ?? "" }),
    await EventReader.open(`${world.admin}/events?after=${first?.id}`),
    await EventReader.open(`${world.admin}/events?after=long-gone-1`, { "last-event-id": first?.id ?? "" }),
  ]) {
    await again.until(
      () =>
        again.events.filter(
          ({ type, data }) => type === "run" && data.run.key === "e3" && data.run.status === "succeeded",
        ).length === 3,
    );
    expect(again.events.slice(0, reader.events.length - 1)).toEqual(reader.events.slice(1));
    expect(again.events.some(({ type }) => type === "reset")).toBe(false);
    again.close();
  }
});

it("gives an id before anything has happened, from which a reader can go on", async () => {
  const reader = await EventReader.open(`${world.admin}/events`);
  const { lastId } = reader;
  expect(reader.events).toEqual([]);
  reader.close();
  await post(`${world.ingress}/inbox/e4/add`, "x");
  const again = await EventReader.open(`${world.admin}/events?after=${lastId}&service=inbox`);
  expect(await again.next(({ type }) => type === "run")).toMatchObject({ data: { created: true, run: { key: "e4" } } });
  again.close();
});

it.each(["elsewhere-5", "nonsense", "99999999999"])("says when it cannot go on from %s", async (after) => {
  const reader = await EventReader.open(`${world.admin}/events?after=${after}`);
  const reset = await reader.next(({ type }) => type === "reset");
  expect(reset.data.last).toBe(reset.id);
  expect(reader.lastId).toBe(reset.id);
  await post(`${world.ingress}/inbox/e5/add`, "x");
  await reader.next(({ data }) => data.run?.key === "e5");
  reader.close();
});

it("filters by run and by service", async () => {
  const run = (await post(`${world.ingress}/mailer/listen/send`, "go")).json.runId;
  const byRun = await EventReader.open(`${world.admin}/events?run=${run}`);
  const byService = await EventReader.open(`${world.admin}/events?service=inbox`);
  await post(`${world.ingress}/inbox/e6/add`, "x");
  await post(`${world.admin}/runs/${run}/signals/go`, 1);
  await byRun.next(({ type, data }) => type === "run" && data.run.status === "succeeded");
  await byService.next(({ data }) => data.run?.key === "e6" && data.run.status === "succeeded");
  expect(byRun.events.every(({ data }) => (data.run?.id ?? data.runId) === run)).toBe(true);
  // The entry's run had begun before anybody watched: its name was looked up.
  expect(byRun.events.some(({ type, data }) => type === "entry" && data.entry.kind === "signal")).toBe(true);
  expect(
    byService.events.every(({ data }) => (data.run?.service ?? "inbox") === "inbox" && data.service !== "mailer"),
  ).toBe(true);
  expect(byService.events.some(({ type }) => type === "state")).toBe(true);
  byRun.close();
  byService.close();
  expect(errorOf(await ask(`${world.admin}/events?run=x`))).toMatchObject({ status: 400 });
});

it("measures large payloads instead of sending them", async () => {
  const reader = await EventReader.open(`${world.admin}/events?service=inbox`);
  await post(`${world.ingress}/inbox/e7/add`, "x".repeat(50_000));
  const event = await reader.next(({ type, data }) => type === "entry" && data.entry.command?.type === "setState");
  expect(event.data.entry.command.value).toEqual({ omitted: 50_004 });
  reader.close();
});

it("sends signs of life", async () => {
  const reader = await EventReader.open(`${world.admin}/events?service=nobody`);
  await reader.until(() => reader.comments.length >= 2);
  expect(reader.comments).toContain("alive");
  reader.close();
});

it("disconnects a reader that does not read, and tells it so", async () => {
  const slow = await openWorld({ sseQueueMax: 500 });
  const { hostname, port } = new URL(slow.admin);
  const socket = connect(Number(port), hostname);
  socket.pause();
  socket.write(`GET /events HTTP/1.1\r\nhost: localhost:${port}\r\n\r\n`);
  const fast = await EventReader.open(`${slow.admin}/events`);
  await until(
    async () => (await ask(`${slow.admin}/metrics`)).text,
    (text) => text.includes("perdure_event_streams 2\n"),
  );
  const long = "x".repeat(10_000);
  for (let round = 0; round < 400; round += 1) {
    slow.runtime.changes.committed(
      Array.from({ length: 10 }, (_, at) => change(`${round}.${at}.${long}`)),
      Date.now(),
    );
    await new Promise((resolve) => setImmediate(resolve));
  }
  await until(
    async () => (await ask(`${slow.admin}/metrics`)).text,
    (text) => text.includes("perdure_event_streams 1\n"),
  );
  let text = "";
  socket.on("data", (data) => {
    text = (text + String(data)).slice(-2_000);
  });
  await new Promise((resolve) => {
    socket.on("close", resolve);
    socket.resume();
  });
  expect(text).toContain("event: overflow\ndata: ");
  await fast.until(() => fast.events.length === 4_000);
  expect(fast.ended).toBe(false);
  fast.close();
  await slow.close();
});

it("ends when the server drains", async () => {
  const other = await openWorld();
  const reader = await EventReader.open(`${other.admin}/events`);
  await other.close();
  await reader.until(() => reader.ended);
  expect(reader.events.some(({ type }) => type === "overflow")).toBe(false);
});

it("is closed to pages of other origins", async () => {
  const answer = await rawAsk(`${world.admin}/events`, { headers: { host: "evil.example" } });
  expect(answer.status).toBe(403);
});
