// Every recorded response, through the AI SDK's own provider and the gateway.

import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { type Api, failureOf, unstreamed, withProvider } from "./world.ts";

const FOLDER = fileURLToPath(new URL("../../../../fixtures/providers/", import.meta.url));
const TEXT = { type: "text", text: "Paris is the capital of France." };
const REASONING = { type: "reasoning", text: "The user asks for a capital." };
const CALLS = [
  { type: "tool-call", toolName: "get_weather", input: '{"city":"Paris"}' },
  { type: "tool-call", toolName: "get_weather", input: '{"city":"Rome"}' },
];

function usage(input: number, output: number, cacheRead = 0): object {
  return { inputTokens: { total: input, cacheRead }, outputTokens: { total: output } };
}

const PLAIN = { content: [TEXT], finishReason: { unified: "stop" }, usage: usage(24, 9), partial: false };
const REFUSED = { content: [], finishReason: { unified: "content-filter" }, partial: false };
const FILTERED = {
  content: [{ type: "text", text: "The first" }],
  finishReason: { unified: "content-filter" },
  usage: usage(30, 2),
};
const TOOLS = { content: CALLS, finishReason: { unified: "tool-calls" }, usage: usage(71, 48) };

type Expected = { readonly answer: object } | { readonly error: object; readonly partialText?: string };

const FIXTURES: readonly (readonly [file: string, apis: readonly Api[], expected: Expected])[] = [
  ["openai/chat-text.txt", ["chat"], { answer: PLAIN }],
  ["openai/chat-cached.txt", ["chat"], { answer: { ...PLAIN, usage: usage(2006, 9, 1920) } }],
  [
    "openai/chat-reasoning.txt",
    ["chat"],
    { answer: { ...PLAIN, usage: { outputTokens: { total: 201, reasoning: 192 } } } },
  ],
  ["openai/chat-parallel-tools.txt", ["chat"], { answer: TOOLS }],
  [
    "openai/chat-refusal.txt",
    ["chat"],
    {
      answer: {
        content: [{ text: "I'm sorry, I can't help with that." }],
        finishReason: { unified: "content-filter" },
      },
    },
  ],
  ["openai/chat-content-filter.txt", ["chat"], { answer: FILTERED }],
  ["openai/chat-error-in-stream.txt", ["chat"], { error: { kind: "server" }, partialText: "Paris" }],
  ["openai/chat-cut.txt", ["chat"], { error: { kind: "cut-stream" }, partialText: "Paris is" }],
  ["openai/responses-text.txt", ["responses"], { answer: PLAIN }],
  ["openai/responses-cached.txt", ["responses"], { answer: { ...PLAIN, usage: usage(2006, 9, 1920) } }],
  [
    "openai/responses-reasoning.txt",
    ["responses"],
    { answer: { ...PLAIN, content: [REASONING, TEXT], usage: { outputTokens: { total: 201, reasoning: 192 } } } },
  ],
  ["openai/responses-parallel-tools.txt", ["responses"], { answer: TOOLS }],
  ["openai/responses-content-filter.txt", ["responses"], { answer: FILTERED }],
  ["openai/responses-error-in-stream.txt", ["responses"], { error: { kind: "server" }, partialText: "Paris" }],
  ["openai/responses-failed.txt", ["responses"], { error: { kind: "rate-limited", statusCode: 429 }, partialText: "" }],
  ["openai/responses-cut.txt", ["responses"], { error: { kind: "cut-stream" }, partialText: "Paris is" }],
  [
    "openai/error-429.txt",
    ["chat", "responses"],
    { error: { kind: "rate-limited", retryAfter: 970, statusCode: 429 } },
  ],
  ["openai/error-quota.txt", ["chat", "responses"], { error: { code: "P0072", metadata: { kind: "unauthorized" } } }],
  ["openai/error-500.txt", ["chat", "responses"], { error: { kind: "server", statusCode: 500 } }],
  ["openai/error-503.txt", ["chat", "responses"], { error: { kind: "overloaded", statusCode: 503 } }],
  ["openai/error-context-length.txt", ["chat", "responses"], { error: { code: "P0071" } }],
  ["openai/error-invalid-key.txt", ["chat", "responses"], { error: { code: "P0072" } }],
  ["openai/error-content-filter.txt", ["chat", "responses"], { answer: REFUSED }],
  ["anthropic/messages-text.txt", ["messages"], { answer: PLAIN }],
  [
    "anthropic/messages-cached.txt",
    ["messages"],
    { answer: { ...PLAIN, usage: { inputTokens: { total: 2006, noCache: 86, cacheRead: 1000, cacheWrite: 920 } } } },
  ],
  [
    "anthropic/messages-reasoning.txt",
    ["messages"],
    {
      answer: {
        content: [
          { ...REASONING, providerMetadata: { anthropic: { signature: "EqQBCgIYAhIM1gbcDa9GJwZA2b3h" } } },
          TEXT,
        ],
        usage: usage(24, 201),
      },
    },
  ],
  [
    "anthropic/messages-parallel-tools.txt",
    ["messages"],
    { answer: { ...TOOLS, content: [{ input: '{"city": "Paris"}' }, { input: '{"city": "Rome"}' }] } },
  ],
  ["anthropic/messages-content-filter.txt", ["messages"], { answer: FILTERED }],
  ["anthropic/messages-error-in-stream.txt", ["messages"], { error: { kind: "overloaded" }, partialText: "Paris" }],
  [
    "anthropic/messages-error-first.txt",
    ["messages"],
    { error: { kind: "overloaded", statusCode: 529 }, partialText: "" },
  ],
  ["anthropic/messages-cut.txt", ["messages"], { error: { kind: "cut-stream" }, partialText: "Paris is" }],
  ["anthropic/error-429.txt", ["messages"], { error: { kind: "rate-limited", retryAfter: 1_000, statusCode: 429 } }],
  ["anthropic/error-500.txt", ["messages"], { error: { kind: "server", statusCode: 500 } }],
  ["anthropic/error-529.txt", ["messages"], { error: { kind: "overloaded", statusCode: 529 } }],
  ["anthropic/error-context-length.txt", ["messages"], { error: { code: "P0071" } }],
  ["anthropic/error-too-large.txt", ["messages"], { error: { code: "P0071" } }],
  ["anthropic/error-invalid-key.txt", ["messages"], { error: { code: "P0072" } }],
  ["anthropic/error-content-filter.txt", ["messages"], { answer: REFUSED }],
];

const WHOLE: readonly (readonly [file: string, api: Api])[] = [
  ["openai/chat-text-whole.txt", "chat"],
  ["openai/responses-text-whole.txt", "responses"],
  ["anthropic/messages-text-whole.txt", "messages"],
];

const cases = FIXTURES.flatMap(([file, apis, expected]) => apis.map((api) => [file, api, expected] as const));

function recording(file: string): string {
  return readFileSync(`${FOLDER}${file}`, "utf8");
}

describe("a recorded response", () => {
  it.each(cases)("%s, asked by %s", async (file, api, expected) => {
    await withProvider(
      () => ({ recording: recording(file) }),
      async (world) => {
        let partialText: string | undefined;
        const call = world.ask(world.model(api), {
          onAttemptEnd: (_, outcome) => {
            partialText = outcome.kind === "failed" ? outcome.partialText : undefined;
          },
        });
        if ("answer" in expected) expect(await call).toMatchObject(expected.answer);
        else {
          expect(await failureOf(call)).toMatchObject(expected.error);
          if (expected.partialText !== undefined) expect(partialText).toBe(expected.partialText);
        }
      },
    );
  });

  it.each(WHOLE)("%s, that is no stream", async (file, api) => {
    await withProvider(
      () => ({ recording: recording(file) }),
      async (world) => expect(await world.ask(unstreamed(world.model(api)))).toMatchObject(PLAIN),
    );
  });

  it("is tested for every fixture", () => {
    const files = ["openai", "anthropic"].flatMap((provider) =>
      readdirSync(`${FOLDER}${provider}`).map((file) => `${provider}/${file}`),
    );
    const tested = [...FIXTURES, ...WHOLE].map(([file]) => file);
    expect(tested.toSorted()).toEqual(files.toSorted());
  });
});
