// What the admin listener offers for talking to agents: sessions at a glance, messages, branches, streams, answers.

import { afterEach, describe, expect, test } from "vitest";
import { openAgentWorld, SLOWLY, steps, type AgentWorld, type AgentWorldOptions } from "./agent-world.ts";
import { ask, errorOf, post, until, type Answer } from "./world.ts";

let world: AgentWorld;
afterEach(async () => {
  await world.close();
  if (world.errors.length > 0)
    throw new Error("the server met an error that nobody expected", { cause: world.errors[0] });
});

async function open(options: AgentWorldOptions = {}): Promise<void> {
  world = await openAgentWorld(options);
}

const at = (path: string): string => `${world.admin}/agents/researcher${path}`;
const say = (session: string, body: object, headers: Record<string, string> = {}): Promise<Answer> =>
  ask(at(`/${encodeURIComponent(session)}/messages`), {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "content-type": "application/json", ...headers },
  });
const view = async (session: string): Promise<Answer["json"]> =>
  (await ask(at(`/${encodeURIComponent(session)}`))).json;
const idle = (session: string, items: number): Promise<unknown> =>
  until(
    () => view(session),
    (json) => json.state === "idle" && json.items === items,
  );
const transcriptOf = (session: string): string => `${world.admin}/streams/researcher/${session}/transcript`;

describe("a message", () => {
  test("is accepted once under its key, and its run has the answer", async () => {
    await open();
    const key = { "idempotency-key": "m1" };
    const first = await say("s1", { text: "Hello?", policy: "queue" }, key);
    expect(first.status).toBe(202);
    expect(first.json).toEqual({ runId: expect.stringMatching(/^run_1/), status: "accepted" });
    const second = await say("s1", { text: "Hello?", policy: "queue" }, key);
    expect(second.json).toEqual({ runId: first.json.runId, status: "previouslyAccepted" });
    await idle("s1", 2);
    const { json } = await ask(`${transcriptOf("s1")}?follow=false`);
    expect(json.items.map(({ item }: { item: { type: string } }) => item.type)).toEqual(["message", "assistant"]);
  });

  test.each([
    ["no text", { policy: "steer" }],
    ["an empty text", { text: "" }],
    ["a policy that is none", { text: "x", policy: "shout" }],
    ["what is not known", { text: "x", budgets: [] }],
  ])("with %s is refused, and no run is made of it", async (_, body) => {
    await open();
    expect(errorOf(await say("s1", body)).status).toBe(400);
    expect((await ask(`${world.admin}/runs?service=researcher`)).json.runs).toEqual([]);
  });

  test("to who is no agent is refused, and one from another origin too", async () => {
    await open();
    const stranger = await post(`${world.admin}/agents/notes/n1/messages`, { text: "x" });
    expect(errorOf(stranger).status).toBe(404);
    const foreign = await say("s1", { text: "x" }, { origin: "https://evil.example" });
    expect(foreign.status).toBe(403);
    expect((await ask(`${world.admin}/runs`)).json.runs).toEqual([]);
  });

  test("that nobody has seen stands with its session, and a stop lets the next one be seen", async () => {
    await open({ script: () => ({ text: "One two three.", ...SLOWLY }) });
    await say("s1", { text: "First." });
    await until(
      () => view("s1"),
      ({ items }) => items === 1,
    );
    const { json: queued } = await say("s1", { text: "Second.", policy: "queue", from: "ada" });
    const before = await until(
      () => view("s1"),
      ({ pending }) => pending.length === 1,
    );
    expect(before).toMatchObject({
      state: "working",
      queued: 1,
      pending: [{ runId: queued.runId, text: "Second.", policy: "queue", from: "ada" }],
    });
    expect((await post(at("/s1/stop"), null)).json).toEqual({ stopped: true });
    await until(
      () => view("s1"),
      ({ pending, items }) => pending.length === 0 && items >= 3,
    );
    world.pace.release(100);
    await idle("s1", 4);
    expect((await post(at("/s1/stop"), null)).json).toEqual({ stopped: false });
  });
});

test("what the turn at work has seen is pending no more, though its own run still queues", async () => {
  await open({ script: () => ({ text: "One two three.", ...SLOWLY }) });
  await say("s1", { text: "First." });
  await until(
    () => view("s1"),
    ({ items }) => items === 1,
  );
  const { json: seen } = await say("s1", { text: "No, this.", policy: "interrupt" });
  const { items } = await until(
    async () => (await ask(`${transcriptOf("s1")}?follow=false`)).json,
    (page) => page.items.some(({ item }: { item: { id?: string } }) => item.id === seen.runId),
  );
  expect(items.length).toBeGreaterThanOrEqual(2);
  const now = await until(
    () => view("s1"),
    ({ pending }) => pending.length === 0,
  );
  expect(now).toMatchObject({ queued: 1, pending: [] });
  world.pace.release(100);
});

describe("sessions at a glance", () => {
  test("say what each does and has used, those at work first, and are found by words", async () => {
    await open({
      script: ({ messages }) =>
        messages.some(({ text }) => text.includes("Publish"))
          ? { toolCalls: [{ name: "publish", input: { text: "news" } }], usage: { inputTokens: 7, outputTokens: 3 } }
          : { text: "Hi.", usage: { inputTokens: 10, outputTokens: 5 } },
    });
    await say("red", { text: "Publish the news." });
    await until(
      () => view("red"),
      ({ state, waits }) => state === "waiting" && waits.some(({ kind }: { kind: string }) => kind === "run"),
    );
    await say("green", { text: "Hello?" });
    await idle("green", 2);
    const { json } = await ask(`${world.admin}/sessions`);
    expect(json).toMatchObject({
      nextOffset: null,
      sessions: [
        {
          session: "red",
          state: "waiting",
          items: 2,
          waits: expect.arrayContaining([
            expect.objectContaining({ kind: "run", target: expect.objectContaining({ service: "perdure.approvals" }) }),
          ]),
        },
        {
          agent: "researcher",
          session: "green",
          state: "idle",
          turn: null,
          waits: [],
          activeAt: expect.stringMatching(/Z$/),
          usage: { inputTokens: 10, outputTokens: 5, calls: 1, usd: 0, unpriced: 1 },
        },
      ],
    });
    await say("green", { text: "And again?" });
    await idle("green", 4);
    const { sessions } = (await ask(`${world.admin}/sessions?find=RESEARCHER+gre`)).json;
    expect(sessions).toMatchObject([{ session: "green", usage: { inputTokens: 20, calls: 2 } }]);
    const page = (await ask(`${world.admin}/sessions?limit=1`)).json;
    expect(page).toMatchObject({ sessions: [{ session: "red" }], nextOffset: 1 });
    expect((await ask(`${world.admin}/sessions?limit=1&offset=1`)).json.sessions).toMatchObject([{ session: "green" }]);
    expect((await ask(`${world.admin}/sessions?agent=nobody`)).status).toBe(404);
    await say("green/writer", { text: "Hello?" });
    await idle("green/writer", 2);
    const names = async (query: string): Promise<string[]> =>
      (await ask(`${world.admin}/sessions?${query}`)).json.sessions.map(({ session }: { session: string }) => session);
    expect(await names("find=green")).toEqual(["green/writer", "green"]);
    expect(await names("find=green&top=true")).toEqual(["green"]);
  });
});

describe("branches", () => {
  test("a fork takes a beginning along, a rewind hides an end", async () => {
    await open();
    await say("s1", { text: "Hello?" });
    await idle("s1", 2);
    expect((await post(at("/s1/fork"), { to: "s2", at: 1 })).json).toEqual({ items: 1 });
    await until(
      () => view("s2"),
      ({ items }) => items === 1,
    );
    expect(errorOf(await post(at("/s1/fork"), { to: "s2" })).status).toBe(409);
    const { status, json } = await post(at("/s1/rewind"), { to: 1 });
    expect([status, json.status]).toEqual([202, "accepted"]);
    await until(
      () => view("s1"),
      ({ items }) => items === 3,
    );
    const page = (await ask(`${transcriptOf("s1")}?follow=false&from=2`)).json;
    expect(page.items).toMatchObject([{ offset: 2, item: { type: "restart", from: 1 } }]);
    expect(errorOf(await post(at("/s1/rewind"), { to: -1 })).status).toBe(400);
  });
});

describe("streams on the admin listener", () => {
  test("are followed behind the last item that was seen", async () => {
    await open();
    await say("s1", { text: "Hello?" });
    await idle("s1", 2);
    const stop = new AbortController();
    const response = await fetch(transcriptOf("s1"), { headers: { "last-event-id": "0" }, signal: stop.signal });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (!text.includes("assistant")) text += (await reader?.read())?.value ?? "";
    stop.abort();
    expect(text).toContain("id: 1\n");
    expect(text).not.toContain('"type":"message"');
  });

  test("show what is internal, too, and nothing of services that are not there", async () => {
    await open();
    await post(`${world.ingress}/opener/open`, "v1");
    const { json } = await ask(`${world.admin}/streams/vault/v1/secrets?follow=false`);
    expect(json).toMatchObject({ items: [{ offset: 0, item: "s3cret" }], start: 0, end: 1 });
    expect((await ask(`${world.ingress}/perdure/streams/vault/v1/secrets?follow=false`)).status).toBe(404);
    expect(errorOf(await ask(`${world.admin}/streams/nobody/x/y`)).status).toBe(404);
    expect(errorOf(await ask(`${world.admin}/streams/vault/v1/secrets?from=x`)).status).toBe(400);
  });

  test("of a run are read by its id", async () => {
    await open();
    const { json: run } = await post(`${world.ingress}/jobs/work`, "dig");
    const { json } = await ask(`${world.admin}/runs/${run}/streams/progress?follow=false`);
    expect(json.items).toMatchObject([{ item: { done: 0 } }, { item: { done: 1 } }]);
    expect((await ask(`${world.admin}/runs/${run.slice(0, -3)}xyz/streams/progress`)).status).toBe(404);
  });
});

describe("an approval on the admin listener", () => {
  test("is shown and answered by who may, and its end says who did", async () => {
    await open({
      script: steps({ toolCalls: [{ name: "publish", input: { text: "news" } }] }, { text: "It is out." }),
    });
    const { json: sent } = await say("s1", { text: "Publish the news." });
    const { approvals } = await until(
      () => view("s1"),
      (json) => json.approvals.length === 1,
    );
    expect(approvals).toMatchObject([
      { state: "open", askedBy: sent.runId, decision: null, details: { why: expect.anything() } },
    ]);
    const url = `${world.admin}/approvals/${approvals[0].id}`;
    await until(
      () => ask(url),
      ({ status }) => status === 200,
    );
    expect(errorOf(await post(url, { decision: "approved", by: "eve" }))).toMatchObject({ status: 403, code: "P0082" });
    expect((await post(url, { decision: "perhaps", by: "ada" })).status).toBe(400);
    const answer = { decision: "approved", by: "ada", comment: "Fine.", input: { text: "better news" } };
    expect((await post(url, answer)).json).toMatchObject({ decision: "approved", by: "ada" });
    await idle("s1", 5);
    const closed = (await ask(`${world.admin}/approvals?status=closed`)).json.approvals;
    expect(closed).toMatchObject([
      {
        state: "approved",
        input: { text: "news" },
        decision: { by: "ada", comment: "Fine.", input: { text: "better news" }, at: expect.stringMatching(/Z$/) },
      },
    ]);
    expect(errorOf(await post(url, { decision: "rejected", by: "bob" })).status).toBe(409);
    expect((await ask(`${world.admin}/approvals/apr_1`)).status).toBe(404);
  });
});
