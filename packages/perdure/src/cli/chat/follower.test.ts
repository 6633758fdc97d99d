// The follower, against a server that says what a test has it say, in the order in which it says it.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { AgentEvent } from "@perdure/agents";
import type { RunId } from "@perdure/protocol";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { IngressClient } from "../api/ingress-client.ts";
import { AgentSession } from "./agent-session.ts";
import { Follower } from "./follower.ts";

const run = (name: string): RunId => `run_1${name}` as RunId;
const start = (turn: string): AgentEvent => ({ type: "turn-start", turn: run(turn) });
const usage = { inputTokens: 0, outputTokens: 0, usd: 0, calls: 1 };
const end = (turn: string): AgentEvent => ({ type: "turn-end", turn: run(turn), reason: "answered", usage });
const toolEnd = (callId: string): AgentEvent => ({
  type: "tool-end",
  callId,
  name: "t",
  outcome: "ok",
  output: callId,
});
const child: AgentEvent = { type: "child", child: "kid", agent: "clerk", key: "s/kid", run: run("kid"), callId: "c1" };

/** One stream of events: what it has, and who follows it now. */
class FakeStream {
  readonly events: AgentEvent[] = [];
  readonly lastIds: (string | undefined)[] = [];
  readonly #followers: ServerResponse[] = [];
  #waiting: (() => void)[] = [];

  follow(request: IncomingMessage, response: ServerResponse): void {
    const last = request.headers["last-event-id"];
    this.lastIds.push(last === undefined ? undefined : String(last));
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(": here\n\n");
    this.#followers.push(response);
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Until somebody has connected for the n-th time. */
  async connected(times: number): Promise<void> {
    while (this.lastIds.length < times) await new Promise<void>((resolve) => void this.#waiting.push(resolve));
  }

  /** @param from tells from this event on, also what was told before. */
  tell(from = this.events.length, ...more: readonly AgentEvent[]): void {
    this.events.push(...more);
    for (const [offset, item] of this.events.entries())
      if (offset >= from)
        this.say(`id: ${offset}\ndata: ${JSON.stringify({ offset, at: "", writer: null, item })}\n\n`);
  }

  say(text: string): void {
    this.#followers.at(-1)?.write(text);
  }

  breakOff(): void {
    this.#followers.at(-1)?.destroy();
  }
}

let server: Server;
let follower: Follower;
let streams: Map<string, FakeStream>;
let told: string[];
let heard: () => void;
const failures: unknown[] = [];

const stream = (name: string): FakeStream => {
  const known = streams.get(name) ?? new FakeStream();
  streams.set(name, known);
  return known;
};

beforeEach(async () => {
  streams = new Map();
  told = [];
  heard = () => undefined;
  failures.length = 0;
  server = createServer((request, response) => {
    const url = new URL(request.url ?? "", "http://fake");
    const [, , , agent = "", session = ""] = url.pathname.split("/").map(decodeURIComponent);
    const found = streams.get(`${agent}/${session}`);
    if (found === undefined) response.writeHead(404).end("{}");
    else if (url.searchParams.get("follow") === "false")
      response.end(JSON.stringify({ items: [], start: 0, end: found.events.length }));
    else found.follow(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const connection = { url, token: undefined, signal: new AbortController().signal };
  const note = (text: string): void => {
    told.push(text);
    heard();
  };
  follower = new Follower({
    connection,
    session: new AgentSession(new IngressClient(connection), { agent: "boss", session: "s" }, () => undefined),
    onEvent: ({ child: name = "boss", offset, event }) => note(`${name} ${offset} ${event.type}`),
    onGap: () => note("gap"),
    onLost: () => undefined,
    onBack: () => undefined,
    onFailure: (error) => {
      failures.push(error);
      heard();
    },
  });
});
afterEach(() => {
  follower.close();
  server.closeAllConnections();
  server.close();
});

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise<void>((resolve) => (heard = resolve));
}

const boss = { agent: "boss", session: "s" };

describe("following a session", () => {
  it("F1: goes on after the last event that it was told, and tells none twice", async () => {
    const events = stream("boss/s");
    events.tell(0, start("old"));
    await follower.begin(boss, "now");
    events.tell(1, start("a"), toolEnd("x"));
    await until(() => told.length === 2);
    events.breakOff();
    await events.connected(2);
    expect(events.lastIds).toEqual([undefined, "2"]);
    events.tell(0, end("a")); // From the beginning, whatever was asked for.
    await until(() => told.length === 3);
    expect(told).toEqual(["boss 1 turn-start", "boss 2 tool-end", "boss 3 turn-end"]);
  });

  it("says that events are gone which it was not told", async () => {
    const events = stream("boss/s");
    events.tell(0, start("a"), toolEnd("x"));
    await follower.begin(boss, "now");
    events.say('event: reset\ndata: {"start": 7}\n\n');
    await until(() => told.length === 1);
    expect(told).toEqual(["gap"]);
  });

  it("tells a turn that is under way from its beginning, and nothing from before", async () => {
    const events = stream("boss/s");
    await follower.begin(boss, { turn: run("b") });
    events.tell(0, start("a"), toolEnd("x"), end("a"), start("b"), toolEnd("y"));
    await until(() => told.length === 2);
    expect(told).toEqual(["boss 3 turn-start", "boss 4 tool-end"]);
  });

  it("F2: what a sub-agent has said comes before its parent goes on", async () => {
    const events = stream("boss/s");
    const kid = stream("clerk/s/kid");
    kid.events.push(start("before"), end("before"), start("kid"), toolEnd("c1"), end("kid"));
    await follower.begin(boss, "now");
    events.tell(0, start("a"), child, toolEnd("c1"), end("a"));
    await kid.connected(1);
    kid.tell(0);
    await until(() => told.includes("boss 3 turn-end"));
    expect(told).toEqual([
      "boss 0 turn-start",
      "boss 1 child",
      "kid 2 turn-start",
      "kid 3 tool-end",
      "kid 4 turn-end",
      "boss 2 tool-end",
      "boss 3 turn-end",
    ]);
  });

  it("a sub-agent that cannot be read holds nobody up", async () => {
    const events = stream("boss/s");
    await follower.begin(boss, "now");
    events.tell(0, start("a"), child, toolEnd("c1"), end("a"));
    await until(() => told.includes("boss 3 turn-end"));
    expect(told).toEqual(["boss 0 turn-start", "boss 1 child", "boss 2 tool-end", "boss 3 turn-end"]);
    expect(failures).not.toEqual([]);
  });

  it("F3: has caught up when all that was there is told", async () => {
    const events = stream("boss/s");
    await follower.begin(boss, "now");
    events.events.push(start("a"), end("a")); // Durable, and on its way.
    let isDone = false;
    const done = follower.caughtUp().then(() => (isDone = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(isDone).toBe(false);
    events.tell(0);
    await done;
    expect(told).toEqual(["boss 0 turn-start", "boss 1 turn-end"]);
  });
});
