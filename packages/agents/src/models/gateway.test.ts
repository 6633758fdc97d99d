import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import {
  ContextLengthError,
  DefinitionError,
  ModelAccessError,
  ModelRequestError,
  TerminalError,
} from "@perdure/protocol";
import { retryAfterMs } from "@perdure/sdk";
import { describe, expect, it } from "vitest";
import { ModelGateway } from "./gateway.ts";
import { ModelError } from "./model-error.ts";
import { CallWorld } from "./testing/call-world.ts";
import { FakeClock } from "./testing/fake-clock.ts";
import type { AttemptOutcome, ModelAttempt } from "./types.ts";

/** What a call rejects with. */
async function failureOf(call: Promise<unknown>): Promise<unknown> {
  const answered = Symbol("answered");
  const outcome = await call.then(
    () => answered,
    (error: unknown) => error,
  );
  if (outcome === answered) throw new Error("the call was answered");
  return outcome;
}

describe("an answer", () => {
  it("is assembled from the stream, as plain JSON, with each part told as it comes", async () => {
    const world = new CallWorld({ prices: { "scripted/model": { input: 1, output: 1 } } });
    const model = world.model(() => ({
      reasoning: "let me see",
      text: "It is 42.",
      toolCalls: [{ name: "check", input: { value: 42 } }],
      usage: { inputTokens: 100, cachedInputTokens: 40, outputTokens: 20, reasoningTokens: 3 },
    }));
    const parts: [LanguageModelV4StreamPart["type"], ModelAttempt][] = [];
    const answer = await world.ask(model, { onPart: (part, attempt) => parts.push([part.type, attempt]) });
    expect(answer).toMatchObject({
      content: [
        { type: "reasoning", text: "let me see" },
        { type: "text", text: "It is 42." },
        { type: "tool-call", toolCallId: "call_1", toolName: "check", input: '{"value":42}' },
      ],
      finishReason: { unified: "tool-calls" },
      usage: { inputTokens: { total: 100, cacheRead: 40 }, outputTokens: { total: 20, reasoning: 3 } },
      cost: { usd: 0.00012 },
      provider: "scripted",
      modelId: "model",
      responseId: "response-1",
      partial: false,
      attempts: [{ number: 1, outcome: "settled", queuedMs: 0 }],
    });
    expect(JSON.parse(JSON.stringify(answer))).toStrictEqual(answer);
    expect(parts[0]).toEqual(["stream-start", { number: 1, provider: "scripted", modelId: "model" }]);
    expect(parts.filter(([type]) => type === "text-delta")).toHaveLength(3);
    expect(parts.at(-1)?.[0]).toBe("finish");
  });

  it("carries the idempotency key with every try, beside the caller's headers", async () => {
    const world = new CallWorld();
    const model = world.model((_, seen) => (seen === 1 ? { error: "server" } : "yes"));
    const options = { prompt: [], headers: { "X-Own": "1" } };
    await world.ask(model, { idempotencyKey: "run-7", options });
    expect(model.requests.map(({ headers }) => headers)).toEqual([
      { "x-own": "1", "idempotency-key": "run-7" },
      { "x-own": "1", "idempotency-key": "run-7" },
    ]);
  });

  it("comes from a model that cannot stream, too", async () => {
    const world = new CallWorld();
    const model = world.model(() => ({ text: "at once", toolCalls: [{ name: "t", input: {} }] }), { canStream: false });
    const types: string[] = [];
    const answer = await world.ask(model, { onPart: ({ type }) => types.push(type) });
    expect(answer.content).toMatchObject([
      { type: "text", text: "at once" },
      { type: "tool-call", toolName: "t" },
    ]);
    expect(types).toContain("text-delta");
    expect(model.requests.map(({ streaming }) => streaming)).toEqual([false]);
  });

  it("says that its cost is unknown rather than nothing", async () => {
    const world = new CallWorld();
    const { cost } = await world.ask(world.model(() => "x"));
    expect(cost).toEqual({ usd: null, reason: 'no prices of the provider "scripted" are known' });
  });

  it("is a refusal where the prompt was refused: no other try, no other model", async () => {
    const world = new CallWorld();
    const first = world.model(() => ({ error: "content-filter" }));
    const second = world.model(() => "anything", { provider: "other" });
    const answer = await world.ask([first, second]);
    expect(answer).toMatchObject({
      content: [],
      finishReason: { unified: "content-filter", raw: "content_filter" },
      partial: false,
      attempts: [{ outcome: "refused", message: "scripted/model: The prompt was filtered (HTTP 400)" }],
    });
    expect([first.requests.length, second.requests.length]).toEqual([1, 0]);
  });

  it("of a filter in the middle is what it is", async () => {
    const world = new CallWorld();
    const model = world.model(() => ({ text: "I will not", finish: "content-filter" }));
    const { finishReason, content } = await world.ask(model);
    expect([finishReason.unified, content]).toEqual(["content-filter", [{ type: "text", text: "I will not" }]]);
  });
});

describe("tries", () => {
  it("are made again after a growing wait, and told apart", async () => {
    const world = new CallWorld({ retry: { initialMs: 100 } });
    const begun = world.clock.now();
    const model = world.model((_, seen) => {
      if (seen < 3) return { text: "not this", fault: { kind: "cut", afterTokens: 1 } };
      return "but this";
    });
    const ends: [number, AttemptOutcome][] = [];
    const answer = await world.ask(model, { onAttemptEnd: ({ number }, outcome) => ends.push([number, outcome]) });
    expect(answer.content).toEqual([{ type: "text", text: "but this" }]);
    expect(ends).toMatchObject([
      [1, { kind: "failed", error: { kind: "cut-stream" }, partialText: "not" }],
      [2, { kind: "failed", error: { kind: "cut-stream" }, partialText: "not" }],
      [3, { kind: "settled" }],
    ]);
    expect(answer.attempts.map(({ outcome, startedAt }) => [outcome, startedAt - begun])).toEqual([
      ["cut-stream", 0],
      ["cut-stream", 100],
      ["settled", 300],
    ]);
  });

  it("are spread, and bounded in number", async () => {
    const world = new CallWorld({ retry: { initialMs: 100, retriesMax: 1 } });
    world.clock.chance = 0;
    const model = world.model(() => ({ error: "overloaded" }));
    const begun = world.clock.now();
    expect(await failureOf(world.ask(model))).toMatchObject({ kind: "overloaded", retryable: true, code: "P0070" });
    expect([model.requests.length, world.clock.now() - begun]).toEqual([2, 75]);
  });

  it("wait as long as the provider asks, if that is not long", async () => {
    const world = new CallWorld();
    const model = world.model((_, seen) => (seen === 1 ? { error: "rate-limited", retryAfterMs: 3_000 } : "now"));
    const begun = world.clock.now();
    await world.ask(model);
    expect(world.clock.now() - begun).toBe(3_150);
  });

  it("are left to the step where the provider asks for longer", async () => {
    const world = new CallWorld();
    const model = world.model(() => ({ error: "rate-limited", retryAfterMs: 60_000 }));
    const error = await failureOf(world.ask(model));
    expect(model.requests).toHaveLength(1);
    expect(error).toBeInstanceOf(ModelError);
    expect(retryAfterMs(error, world.clock.now())).toBe(60_000);
  });

  it("happen for an error in the middle of a stream", async () => {
    const world = new CallWorld();
    const model = world.model((_, seen) =>
      seen === 1 ? { text: "a b c", fault: { kind: "overloaded", afterTokens: 2 } } : "d",
    );
    const answer = await world.ask(model);
    expect(answer.attempts.map(({ outcome }) => outcome)).toEqual(["overloaded", "settled"]);
  });

  it("are made for a stream that ends without saying so", async () => {
    const world = new CallWorld();
    const model = world.model(() => "x");
    const mute = {
      ...model,
      doStream: () => Promise.resolve({ stream: new ReadableStream({ start: (c) => c.close() }) }),
    };
    const error = await failureOf(world.ask(mute));
    expect(error).toMatchObject({ kind: "cut-stream", message: "scripted/model: the answer broke off before its end" });
  });

  it("are not made when a listener of the caller fails", async () => {
    const world = new CallWorld();
    const model = world.model(() => "x");
    const fault = new Error("of the caller");
    const onPart = () => {
      throw fault;
    };
    expect(await failureOf(world.ask(model, { onPart }))).toBe(fault);
    expect(model.requests).toHaveLength(1);
    expect(world.gateway.figures().limits["scripted"]).toMatchObject({ running: 0 });
  });
});

describe("fallback", () => {
  it("is asked when the first model's tries are used up, and is named in the answer", async () => {
    const world = new CallWorld();
    const first = world.model(() => ({ error: "server" }));
    const second = world.model(() => "from the other", { provider: "other", modelId: "m2" });
    const answer = await world.ask([first, second]);
    expect(answer).toMatchObject({ provider: "other", modelId: "m2", content: [{ text: "from the other" }] });
    expect(answer.attempts.map(({ number, provider }) => [number, provider])).toEqual([
      [1, "scripted"],
      [2, "scripted"],
      [3, "scripted"],
      [4, "other"],
    ]);
  });

  it.each(["context-length", "invalid-key", "bad-request", "quota"] as const)(
    "is asked at once after %s",
    async (error) => {
      const world = new CallWorld();
      const first = world.model(() => ({ error }));
      const begun = world.clock.now();
      const answer = await world.ask([first, world.model(() => "ok", { provider: "other" })]);
      expect([answer.provider, first.requests.length, world.clock.now() - begun]).toEqual(["other", 1, 0]);
    },
  );

  it("that fails too ends in the soonest time that any model named", async () => {
    const world = new CallWorld();
    const first = world.model(() => ({ error: "rate-limited", retryAfterMs: 90_000 }));
    const second = world.model(() => ({ error: "rate-limited", retryAfterMs: 30_000 }), { provider: "b" });
    const third = world.model(() => ({ error: "invalid-key" }), { provider: "c" });
    const error = await failureOf(world.ask([first, second, third]));
    expect(error).toMatchObject({ kind: "rate-limited", retryAfter: 30_000, provider: "scripted" });
    expect(String(error)).toMatch(/none of 3 models answered.*scripted\/model.*b\/model.*c\/model/);
  });
});

describe("final errors", () => {
  it.each([
    ["context-length", ContextLengthError, "P0071", /compact the conversation/],
    ["invalid-key", ModelAccessError, "P0072", /check its key/],
    ["quota", ModelAccessError, "P0072", /its credit/],
    ["bad-request", ModelRequestError, "P0073", /correct what it names/],
  ] as const)("%s", async (error, type, code, advice) => {
    const world = new CallWorld();
    const model = world.model(() => ({ error }));
    const thrown = await failureOf(world.ask(model));
    expect(thrown).toBeInstanceOf(type);
    expect(thrown).toBeInstanceOf(TerminalError);
    expect(thrown).toMatchObject({ code, metadata: { provider: "scripted", model: "model" } });
    expect(String(thrown)).toMatch(advice);
    expect(model.requests).toHaveLength(1);
  });

  it("name what can be done about them first: a long conversation before a wrong key", async () => {
    const world = new CallWorld();
    const wrong = world.model(() => ({ error: "invalid-key" }));
    const long = world.model(() => ({ error: "context-length" }), { provider: "b" });
    expect(await failureOf(world.ask([wrong, long]))).toMatchObject({ code: "P0071", metadata: { provider: "b" } });
  });

  it("are raised for a call without a model", async () => {
    const world = new CallWorld();
    await expect(world.gateway.call(world.request([]))).rejects.toThrow(DefinitionError);
  });

  it.each([
    [{ limits: { openai: { concurrency: 0 } } }, 'limits["openai"].concurrency is 0: it has to be at least 1'],
    [{ limits: { openai: { tokensPerMinute: Number.NaN } } }, 'limits["openai"].tokensPerMinute is NaN'],
    [{ breaker: { windowMs: 0 } }, "breaker.windowMs is 0: it has to be more than 0"],
    [{ breaker: { failureRate: 50 } }, "breaker.failureRate is 50: it has to be more than 0 and at most 1"],
    [{ retry: { initialMs: -1 } }, "retry.initialMs is -1: it has to be at least 0"],
    [{ timeouts: { firstTokenMs: 0 } }, "timeouts.firstTokenMs is 0: it has to be at least 1"],
  ])("are raised for numbers that nobody could keep: %o", (options, message) => {
    const make = () => new ModelGateway({ ports: new FakeClock(), ...options });
    expect(make).toThrow(DefinitionError);
    expect(make).toThrow(message);
  });
});
