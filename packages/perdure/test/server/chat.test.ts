// The chat of an agent as clients of the AI SDK have it: its own transport and reader, against a real server.

import type { AgentUIMessage } from "@perdure/agents";
import type { RunId } from "@perdure/protocol";
import { DefaultChatTransport, readUIMessageStream, type UIMessageChunk } from "ai";
import { afterEach, describe, expect, test } from "vitest";
import {
  openAgentWorld,
  slowlyReadStore,
  SLOWLY,
  steps,
  type AgentWorld,
  type AgentWorldOptions,
} from "./agent-world.ts";
import { ask, errorOf, post, until } from "./world.ts";

let world: AgentWorld;
const controllers: AbortController[] = [];

async function open(options: AgentWorldOptions = {}): Promise<AgentWorld> {
  world = await openAgentWorld(options);
  return world;
}

afterEach(async () => {
  for (const controller of controllers.splice(0)) controller.abort();
  await world.close();
});

const at = (path: string): string => `${world.ingress}/perdure/agents/researcher/s1${path}`;
const transport = (): DefaultChatTransport<AgentUIMessage> => new DefaultChatTransport({ api: at("/chat") });
const userMessage = (id: string, text: string): AgentUIMessage => ({
  id,
  role: "user",
  parts: [{ type: "text", text }],
});

/** What a client sees of one stream. */
class Watched {
  readonly chunks: UIMessageChunk[] = [];
  message: AgentUIMessage | undefined;
  error: unknown;
  ended = false;
  #wake: () => void = () => undefined;

  constructor(stream: ReadableStream<UIMessageChunk>) {
    const [one, two] = stream.tee();
    void this.#collect(one);
    void this.#build(two);
  }

  get text(): string {
    return (this.message?.parts ?? []).flatMap((part) => (part.type === "text" ? [part.text] : [])).join("|");
  }

  get types(): string[] {
    return this.chunks.map(({ type }) => type);
  }

  async until(done: () => boolean): Promise<this> {
    const end = Date.now() + 10_000;
    while (!done()) {
      if (Date.now() > end)
        throw new Error(`waited too long; there is ${JSON.stringify(this.message)} ${this.types.join(" ")}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 50);
        this.#wake = () => (clearTimeout(timer), resolve());
      });
    }
    return this;
  }

  whole(): Promise<this> {
    return this.until(() => this.ended);
  }

  async #collect(stream: ReadableStream<UIMessageChunk>): Promise<void> {
    try {
      for await (const chunk of stream) {
        this.chunks.push(chunk);
        this.#wake();
      }
    } catch {
      // The other reader tells of it.
    }
  }

  async #build(stream: ReadableStream<UIMessageChunk>): Promise<void> {
    try {
      const onError = (error: unknown): void => void (this.error = error);
      for await (const message of readUIMessageStream<AgentUIMessage>({ stream, onError })) {
        this.message = structuredClone(message);
        this.#wake();
      }
    } catch (error) {
      this.error = error;
    }
    this.ended = true;
    this.#wake();
  }
}

async function say(id: string, text: string, body: object = {}): Promise<Watched> {
  const controller = new AbortController();
  controllers.push(controller);
  const stream = await transport().sendMessages({
    trigger: "submit-message",
    chatId: "s1",
    messageId: undefined,
    messages: [userMessage("earlier", "what was said before"), userMessage(id, text)],
    abortSignal: controller.signal,
    body,
  });
  return new Watched(stream);
}

async function resume(): Promise<Watched | null> {
  const stream = await transport().reconnectToStream({ chatId: "s1" });
  return stream === null ? null : new Watched(stream);
}

const messages = async (): Promise<AgentUIMessage[]> => (await ask(at("/messages"))).json;
const textsOf = ({ parts }: AgentUIMessage): string[] =>
  parts.flatMap((part) => (part.type === "text" ? [part.text] : []));

describe("saying something", () => {
  test("is answered by a UI message stream of the turn", async () => {
    await open({ script: () => ({ reasoning: "Hm.", text: "Tides come twice a day." }) });
    const answer = await (await say("m1", "Tides?")).whole();
    expect(answer.error).toBeUndefined();
    expect(answer.message).toMatchObject({ id: expect.stringMatching(/^run_1\w+\.answer$/), role: "assistant" });
    expect(answer.message?.parts.map(({ type }) => type)).toEqual(["data-receipt", "step-start", "reasoning", "text"]);
    expect(answer.text).toBe("Tides come twice a day.");
    expect(answer.types.filter((type) => type === "text-delta").length).toBeGreaterThan(1);
    expect(answer.chunks.at(0)).toMatchObject({ type: "start" });
    expect(answer.chunks.at(-1)).toMatchObject({ type: "finish", finishReason: "stop" });
    expect(answer.message?.metadata).toMatchObject({ reason: "answered", usage: { calls: 1 } });
    expect(answer.message?.parts[0]).toMatchObject({ data: { state: "seen" } });
  });

  test("shows the calls of tools, what they report, and their results", async () => {
    await open({
      script: steps(
        { text: "I look.", toolCalls: [{ name: "search", input: { query: "tides" } }] },
        { text: "Found." },
      ),
    });
    const answer = await (await say("m1", "Tides?")).whole();
    expect(answer.types).toEqual(
      expect.arrayContaining(["tool-input-start", "tool-input-delta", "tool-input-available"]),
    );
    expect(answer.message?.parts.find(({ type }) => type === "tool-search")).toMatchObject({
      state: "output-available",
      input: { query: "tides" },
      output: { hits: ["about tides"] },
    });
    expect(answer.message?.parts.find(({ type }) => type === "data-tool-progress")).toMatchObject({
      data: { progress: { looked: 1 } },
    });
    expect(answer.text).toBe("I look.|Found.");
  });

  test("twice under one id is one message, with one answer", async () => {
    await open({ script: () => "Once." });
    const first = await (await say("m1", "Tides?")).whole();
    const second = await (await say("m1", "Tides?")).whole();
    expect(second.chunks).toEqual(first.chunks);
    expect((await messages()).map(({ role }) => role)).toEqual(["user", "assistant"]);
  });

  test("twice is told all of it twice, also where it takes long to read", async () => {
    const text = Array.from({ length: 300 }, (_, at) => `${at} `).join("");
    await open({ script: () => text, store: slowlyReadStore(50) });
    const first = await (await say("m1", "Count.")).whole();
    const second = await (await say("m1", "Count.")).whole();
    expect(second.text).toBe(text);
    expect(second.chunks).toEqual(first.chunks);
  });

  test("with another text under the same id is refused", async () => {
    await open();
    await (await say("m1", "Tides?")).whole();
    await expect(say("m1", "Winds?")).rejects.toThrow(/another text/);
  });

  test.each([
    ["a file", { messages: [{ id: "m", role: "user", parts: [{ type: "file", url: "data:," }] }] }, "file"],
    ["no text", { messages: [{ id: "m", role: "user", parts: [] }] }, "no text"],
    ["no id", { messages: [{ id: "", role: "user", parts: [{ type: "text", text: "x" }] }] }, "id"],
    ["an answer of its own", { messages: [{ id: "m", role: "assistant", parts: [] }] }, "approvals"],
    ["nothing", { messages: [] }, "$.messages"],
    [
      "a wish for another answer",
      {
        trigger: "regenerate-message",
        messages: [{ id: "m", role: "user", parts: [{ type: "text", text: "x" }] }],
      },
      "restart",
    ],
  ])("refuses %s, and says why", async (_, body, why) => {
    await open();
    const answer = await post(at("/chat"), body);
    expect(errorOf(answer)).toMatchObject({ status: 400, message: expect.stringContaining(why) });
  });

  test("is for agents only", async () => {
    await open();
    const answer = await post(`${world.ingress}/perdure/agents/notes/n1/chat`, { messages: [] });
    expect(errorOf(answer)).toMatchObject({ status: 404, message: expect.stringContaining("no agent") });
  });

  test("ends with the failure of the turn", async () => {
    await open({
      script: () => ({ error: "bad-request", message: "no such thing" }),
      agent: { retry: { maxAttempts: 1, onExhausted: "throw" } },
    });
    const answer = await (await say("m1", "Tides?")).whole();
    expect(answer.chunks.at(-1)).toMatchObject({ type: "error", errorText: expect.stringContaining("no such thing") });
    expect(String(answer.error)).toContain("no such thing");
  });
});

test("a summary that is made for the model is not shown as an answer", async () => {
  await open({
    script: ({ messages: said, tools }) =>
      tools.length === 0 ? "A SUMMARY." : { text: `Answer to ${said.length}. ${"x".repeat(400)}` },
    agent: { context: { maxTokens: 400, keepTokens: 50 } },
  });
  let parts: AgentUIMessage["parts"] = [];
  for (let turn = 1; turn <= 6; turn += 1) {
    const answer = await (await say(`m${turn}`, `Question ${turn}`)).whole();
    parts = [...parts, ...(answer.message?.parts ?? [])];
  }
  expect(parts.map(({ type }) => type)).toContain("data-compaction");
  expect(JSON.stringify(parts)).not.toContain("A SUMMARY");
});

describe("a reader that was cut off", () => {
  test("is told the whole answer again, and the turn has gone on meanwhile", async () => {
    await open({ script: () => ({ text: "One two three four five.", ...SLOWLY }) });
    const first = await say("m1", "Count.");
    world.pace.release(2);
    await first.until(() => first.text.startsWith("One two three"));
    controllers.at(-1)?.abort();
    await first.whole();
    world.pace.release(1);
    const second = await resume();
    await second?.until(() => second.text.startsWith("One two three four"));
    expect(second?.message?.id).toBe(first.message?.id);
    world.pace.release(10);
    await second?.whole();
    expect(second?.text).toBe("One two three four five.");
    expect(await resume()).toBeNull();
    expect((await messages()).map(textsOf)).toEqual([["Count."], ["One two three four five."]]);
  });

  test("is told the answer to the newest message, not those before it", async () => {
    await open({ script: ({ messages: said }) => ({ text: `One two, ${said.length}.`, ...SLOWLY }) });
    await (await say("m1", "one")).until(() => true);
    const second = await say("m2", "two");
    world.pace.release(3);
    await second.until(() => second.text !== "");
    const resumed = await resume();
    await resumed?.until(() => resumed.text !== "");
    expect(resumed?.message?.id).toBe(second.message?.id);
    world.pace.release(100);
    await Promise.all([second.whole(), resumed?.whole()]);
    expect(resumed?.text).toBe(second.text);
  });

  test("waits for the answer where the turn has not begun yet", async () => {
    await open({ script: () => ({ text: "One two.", ...SLOWLY }), limits: { attemptsLiveMax: 1 } });
    const busy = `${world.ingress}/perdure/streams/researcher/busy/events?follow=false`;
    await post(`${world.ingress}/researcher/busy/send/send`, "Take the only room.");
    await until(
      () => ask(busy),
      ({ text }) => text.includes("text-delta"),
    );
    const first = await say("m1", "Count.");
    const second = await resume();
    expect(second).not.toBeNull();
    world.pace.release(100);
    await Promise.all([first.whole(), second?.whole()]);
    expect(second?.text).toBe("One two.");
  });

  test("is told nothing where nothing is under way", async () => {
    await open();
    expect((await ask(at("/chat"))).status).toBe(204);
    expect(await resume()).toBeNull();
  });

  test("learns from the broken connection that the server drains", async () => {
    await open({ script: () => ({ text: "One two three.", ...SLOWLY }) });
    const answer = await say("m1", "Count.");
    await answer.until(() => answer.text !== "");
    await world.close();
    await answer.whole();
    expect(answer.error).toBeDefined();
    expect(answer.types).not.toContain("finish");
  });
});

describe("tries of a model call that fail", () => {
  test("leave nothing behind but a mark: the new text stands alone, under another id", async () => {
    await open({
      script: (_, seen) => ({
        text: "Tides come twice a day.",
        toolCalls: seen === 1 ? [{ name: "search", input: { query: "half" } }] : [],
        ...(seen === 1 ? { fault: { kind: "cut" as const, afterTokens: 7 } } : {}),
      }),
      agent: { timeouts: {} },
    });
    const answer = await (await say("m1", "Tides?")).whole();
    expect(answer.text).toBe("Tides come twice a day.");
    expect(answer.message?.parts.filter(({ type }) => type.startsWith("tool-"))).toEqual([]);
    const starts = answer.chunks.flatMap((chunk) => (chunk.type === "text-start" ? [chunk.id] : []));
    const ends = answer.chunks.flatMap((chunk) => (chunk.type === "text-end" ? [chunk.id] : []));
    expect(new Set(starts).size).toBe(2);
    expect(ends).toEqual(starts);
    expect(answer.message?.parts.find(({ type }) => type === "data-attempt-failed")).toMatchObject({
      data: { attempts: 1, model: "scripted/model" },
    });
  });
});

describe("stopping", () => {
  test("keeps what was said, and whoever watches sees it", async () => {
    await open({ script: () => ({ text: "One two three four five.", ...SLOWLY }) });
    const first = await say("m1", "Count.");
    world.pace.release(2);
    await first.until(() => first.text.startsWith("One two three"));
    const second = await resume();
    const stopped = await post(at("/stop"));
    expect(stopped.json).toEqual({ stopped: true });
    await Promise.all([first.whole(), second?.whole()]);
    for (const reader of [first, second]) {
      expect(reader?.text).toMatch(/^One two three\s*$/);
      expect(reader?.types.slice(-2)).toEqual(["abort", "finish"]);
      expect(reader?.message?.metadata?.reason).toBe("stopped");
      expect(reader?.message?.parts.map(({ type }) => type)).toContain("data-interrupted");
    }
    expect((await messages()).at(-1)?.parts).toEqual([
      { type: "step-start" },
      expect.objectContaining({ type: "text", text: expect.stringMatching(/^One two three\s*$/) }),
      expect.objectContaining({ type: "data-interrupted" }),
    ]);
    expect((await post(at("/stop"))).json).toEqual({ stopped: false });
  });

  test("does not happen because a reader goes away", async () => {
    await open({ script: () => ({ text: "One two three.", ...SLOWLY }) });
    const answer = await say("m1", "Count.");
    await answer.until(() => answer.text !== "");
    controllers.at(-1)?.abort();
    await answer.whole();
    world.pace.release(10);
    await until(messages, (all) => all.length === 2);
    expect(textsOf((await messages())[1] as AgentUIMessage)).toEqual(["One two three."]);
  });
});

describe("a message that comes while the agent is at work", () => {
  const script = ({ messages: said }: { messages: readonly { role: string; text: string }[] }) => {
    const last = said.filter(({ role }) => role === "user").at(-1)?.text ?? "";
    return { text: `About ${last.split("\n").at(-1)} I know much.`, ...SLOWLY };
  };

  test("has an answer of its own, and ends the one before it", async () => {
    await open({ script });
    const first = await say("m1", "tides");
    await first.until(() => first.text !== "");
    const second = await say("m2", "winds");
    world.pace.release(100);
    await Promise.all([first.whole(), second.whole()]);
    expect(first.text).toBe("About tides I know much.");
    expect(first.message?.metadata?.reason).toBe("continued");
    expect(second.text).toBe("About winds I know much.");
    expect(second.message?.metadata?.turn).toBe(first.message?.metadata?.turn);
    const all = await messages();
    expect(all.map(({ id, role }) => [role, id])).toEqual([
      ["user", "m1"],
      ["assistant", first.message?.id],
      ["user", "m2"],
      ["assistant", second.message?.id],
    ]);
  });

  test("interrupts what is being said, where it says so", async () => {
    await open({ script });
    const first = await say("m1", "tides");
    world.pace.release(1);
    await first.until(() => first.text.startsWith("About tides"));
    const second = await say("m2", "winds", { policy: "interrupt" });
    await first.whole();
    world.pace.release(100);
    await second.whole();
    expect(first.text).toMatch(/^About tides\s*$/);
    expect(first.message?.parts.map(({ type }) => type)).toContain("data-interrupted");
    expect(second.text).toBe("About winds I know much.");
  });

  test("that waits for its turn is shown meanwhile, and answered then", async () => {
    await open({ script });
    const first = await say("m1", "tides");
    await first.until(() => first.text !== "");
    const second = await say("m2", "winds", { policy: "queue" });
    await second.until(() => second.types.includes("data-receipt"));
    expect((await messages()).map(({ id }) => id)).toEqual(["m1", "m2"]);
    world.pace.release(100);
    await Promise.all([first.whole(), second.whole()]);
    expect(first.message?.metadata?.reason).toBe("answered");
    expect(second.text).toBe("About winds I know much.");
    expect(second.message?.metadata?.turn).not.toBe(first.message?.metadata?.turn);
  });

  test("from elsewhere stands in the answer under way", async () => {
    await open({ script });
    const first = await say("m1", "tides");
    await first.until(() => first.text !== "");
    await post(`${world.ingress}/researcher/s1/send/send`, { text: "winds", from: "ada" });
    world.pace.release(100);
    await first.whole();
    expect(first.message?.parts.find(({ type }) => type === "steering-message")).toMatchObject({
      parts: [{ type: "text", text: "[ada]\nwinds" }],
    });
    expect(first.text).toBe("About tides I know much.|About winds I know much.");
  });

  test("that is withdrawn before it was seen ends its answer", async () => {
    await open({ script });
    const first = await say("m1", "tides");
    await first.until(() => first.text !== "");
    const second = await say("m2", "winds", { policy: "queue" });
    await second.until(() => second.types.includes("data-receipt"));
    const run = second.message?.metadata?.run ?? "";
    await post(`${world.ingress}/perdure/runs/${run}/cancel`);
    await second.whole();
    expect(second.types.slice(-2)).toEqual(["abort", "finish"]);
    expect(second.message?.metadata?.reason).toBe("cancelled");
    world.pace.release(100);
    await first.whole();
  });
});

describe("a receipt", () => {
  test("says that a message was accepted, then seen, then answered", async () => {
    await open({ script: () => ({ text: "One two.", ...SLOWLY }) });
    const first = await say("m1", "one");
    await first.until(() => first.text !== "");
    const { json: sent } = await post(`${world.ingress}/researcher/s1/send/send`, { text: "two", policy: "queue" });
    const receipt = async (run: RunId, wait = ""): Promise<unknown> => (await ask(at(`/messages/${run}${wait}`))).json;
    expect(await receipt(sent.runId)).toMatchObject({ accepted: true, seen: false, answered: false, status: "queued" });
    const seen = receipt(sent.runId, "?wait=seen");
    world.pace.release(2);
    expect(await seen).toMatchObject({ seen: true, answered: false, offset: 2 });
    const answered = receipt(sent.runId, "?wait=answered");
    world.pace.release(100);
    expect(await answered).toMatchObject({ seen: true, answered: true, status: "succeeded" });
  });

  test("is only of this session's messages", async () => {
    await open();
    const { json } = await post(`${world.ingress}/researcher/other/send/send`, "hello");
    expect((await ask(at(`/messages/${json.runId}`))).status).toBe(400);
    expect((await ask(at(`/messages/run_1${"0".repeat(33)}`))).status).toBe(404);
    expect(errorOf(await ask(at(`/messages/${json.runId}?wait=long`))).status).toBe(400);
  });
});
