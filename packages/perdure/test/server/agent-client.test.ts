// client.agent() against a real server.

import { agent, type AgentAnswer, type AgentEvent, type AgentStatus, type TranscriptItem } from "@perdure/agents";
import { createClient, RequestFailedError, type AgentSession, type FetchLike, type StreamEvent } from "perdure/client";
import { scriptedModel } from "perdure/testing";
import { afterEach, describe, expect, expectTypeOf, test } from "vitest";
import { openAgentWorld, SLOWLY, type AgentWorld, type AgentWorldOptions } from "./agent-world.ts";
import { until } from "./world.ts";

/** For its type: what is served is the world's. */
const researcher = agent("researcher", { model: scriptedModel(() => "") });

let world: AgentWorld;
afterEach(() => world.close());

async function open(
  options: AgentWorldOptions = {},
  fetching: FetchLike = fetch,
): Promise<AgentSession<typeof researcher>> {
  world = await openAgentWorld(options);
  const delay = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.min(ms, 20)));
  return createClient({ url: world.ingress, fetch: fetching, delay }).agent<typeof researcher>("researcher", "s1");
}

const twoWords = (): { text: string } & typeof SLOWLY => ({ text: "One two.", ...SLOWLY });

describe("a message", () => {
  test("is accepted, seen and answered, each in its time", async () => {
    const session = await open({ script: twoWords });
    const first = await session.send("one");
    const second = await session.send({ text: "two", policy: "queue" }, { idempotencyKey: "k" });
    expectTypeOf(await session.status()).toEqualTypeOf<AgentStatus>();
    expect(second.accepted).toBe("accepted");
    expect((await session.send({ text: "two", policy: "queue" }, { idempotencyKey: "k" })).id).toBe(second.id);
    expect(await first.seen()).toEqual({ offset: 0 });
    let seen = false;
    const seeing = second.seen().then((where) => ((seen = true), where));
    expect(seen).toBe(false);
    world.pace.release(100);
    expect(await seeing).toEqual({ offset: 2 });
    const answer = await second.answered();
    expectTypeOf(answer).toEqualTypeOf<AgentAnswer>();
    expect(answer).toMatchObject({ text: "One two.", reason: "answered" });
  });

  test("that is cancelled before it was seen says so", async () => {
    const session = await open({ script: twoWords });
    await (await session.send("one")).seen();
    const second = await session.send({ text: "two", policy: "queue" });
    const problem = second.seen().catch(String);
    await second.cancel();
    expect(await problem).toMatch(/cancelled.*without having been seen/);
    await expect(second.answered()).rejects.toThrow();
    world.pace.release(100);
  });

  test("need not be waited for for ever", async () => {
    const session = await open({ script: twoWords });
    await (await session.send("one")).seen();
    const second = await session.send({ text: "two", policy: "queue" });
    const controller = new AbortController();
    const problem = second.seen({ signal: controller.signal }).catch(String);
    controller.abort();
    expect(await problem).toMatch(/abort/);
    world.pace.release(100);
    await second.answered();
  });

  test("is typed as the agent's", async () => {
    const session = await open();
    expectTypeOf(session.send).parameter(0).not.toBeAny();
    // @ts-expect-error no such policy
    await expect(session.send({ text: "one", policy: "shout" })).rejects.toThrow();
    expectTypeOf(await session.history({ last: 1 })).toEqualTypeOf<readonly TranscriptItem[]>();
  });
});

describe("a session", () => {
  test("is stopped, and remembers what was said", async () => {
    const session = await open({ script: twoWords });
    const receipt = await session.send("one");
    await until(
      () => session.status(),
      ({ items, state }) => state === "working" && items > 0,
    );
    await until(
      async () => (await eventsUntil(session, ({ type }) => type === "part")).length,
      (count) => count > 0,
    );
    expect(await session.stop()).toEqual({ stopped: true });
    expect(await receipt.answered()).toMatchObject({ reason: "stopped" });
    expect((await session.history()).map(({ type }) => type)).toEqual(["message", "assistant"]);
    expect(await session.status()).toMatchObject({ state: "idle" });
  });

  test("tells what it does from any offset, each event once, across broken connections", async () => {
    let connections = 0;
    // Every connection breaks after what comes first.
    const breaking: FetchLike = async (url, init) => {
      const response = await fetch(url, init as RequestInit);
      if (!url.includes("/streams/") || response.body === null) return response;
      connections += 1;
      const reader = response.body.getReader();
      let reads = 0;
      const read = async (): ReturnType<typeof reader.read> => {
        reads += 1;
        if (reads <= 2) return reader.read();
        await reader.cancel();
        throw new TypeError("terminated");
      };
      return { ...kept(response), body: { getReader: () => ({ read, cancel: () => reader.cancel() }) } };
    };
    const session = await open({ script: () => ({ text: "One two three four.", ...SLOWLY }) }, breaking);
    const receipt = await session.send("one");
    const reading = eventsUntil(session, ({ type }) => type === "turn-end");
    for (let piece = 0; piece < 10; piece += 1) {
      world.pace.release(1);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await receipt.answered();
    const events = await reading;
    expect(connections).toBeGreaterThan(1);
    expect(events.map(({ offset }) => offset)).toEqual(events.map((_, at) => at));
    const later = await eventsUntil(session, ({ type }) => type === "turn-end", 3);
    expect(later).toEqual(events.slice(3));
  });

  test("of an agent that is not there says so", async () => {
    await open();
    const client = createClient({ url: world.ingress, fetch });
    await expect(client.agent("resarcher", "s1").send("hello")).rejects.toThrow(/researcher/);
    await expect(client.stream({ owner: { service: "vault", key: "k" }, name: "secrets" }).next()).rejects.toThrow(
      /internal/,
    );
    const gone = createClient({ url: "http://127.0.0.1:9", fetch });
    await expect(gone.agent("researcher", "s1").send("hello")).rejects.toThrow(RequestFailedError);
  });
});

function kept({ ok, status, headers, text, arrayBuffer }: Response): Omit<Awaited<ReturnType<FetchLike>>, "body"> {
  return { ok, status, headers, text, arrayBuffer };
}

type Item = Extract<StreamEvent<AgentEvent>, { type: "item" }>;

async function eventsUntil(
  session: AgentSession<typeof researcher>,
  isLast: (event: AgentEvent) => boolean,
  from = 0,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  for await (const event of session.events({ from })) {
    if (event.type === "reset") throw new Error("nothing was trimmed");
    items.push(event);
    if (isLast(event.item)) break;
  }
  return items;
}
