// The models: what the extractive one makes of a conversation, and providers spoken to for real.

import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import { APICallError } from "@ai-sdk/provider";
import { startScriptedProvider, type ScriptedProvider } from "perdure/testing";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";

import { createInjection, parsePlan } from "../src/inject.ts";
import { readLedger } from "../src/ledger.ts";
import { chooseModel, type ChosenModel } from "../src/model/choose.ts";
import { askRelevance, relevanceByRule } from "../src/model/relevance.ts";
import { sentencesOf } from "../src/model/sentences.ts";
import type { ModelSettings } from "../src/settings.ts";
import { lastingFolder } from "./folders.ts";

const call = { idempotencyKey: "key-1", signal: new AbortController().signal };

interface Watched extends ChosenModel {
  readonly ledger: string;
}

const scratch = lastingFolder();
afterAll(scratch.remove);
let ledgers = 0;

function withModel(settings: ModelSettings, inject = ""): Watched {
  ledgers += 1;
  const ledger = join(scratch.folder, `ledger-${ledgers}.jsonl`);
  return { ...chooseModel({ model: settings, ledger }, createInjection(parsePlan(inject), "unused")), ledger };
}

const extractive = (paceMs = 0): Watched => withModel({ provider: "extractive", paceMs });

// A conversation, as the agent puts it
// ------------------------------------

const TOOLS = [{ type: "function" as const, name: "search", inputSchema: { type: "object" as const } }];
const user = (text: string): LanguageModelV4Prompt[number] => ({ role: "user", content: [{ type: "text", text }] });

interface Did {
  readonly id: string;
  readonly name: string;
  readonly input: object;
  readonly output: unknown;
  readonly failed?: true;
}

function did(...calls: readonly Did[]): LanguageModelV4Prompt {
  return [
    {
      role: "assistant",
      content: calls.map(({ id, name, input }) => ({ type: "tool-call", toolCallId: id, toolName: name, input })),
    },
    {
      role: "tool",
      content: calls.map(({ id, name, output, failed }) => ({
        type: "tool-result",
        toolCallId: id,
        toolName: name,
        output:
          failed === true ? { type: "error-text", value: String(output) } : { type: "json", value: output as never },
      })),
    },
  ];
}

const lampPage = {
  page: "lamp.md:5",
  heading: "The lamp",
  text: "The keeper lights the lamp at sunset and puts it out at sunrise.",
};
const searched = did({
  id: "1",
  name: "search",
  input: { query: "When is the lamp lit" },
  output: [{ page: "lamp.md:5", heading: "The lamp" }],
});
const read = did({ id: "2", name: "read_page", input: { pages: ["lamp.md:5"] }, output: [lampPage] });

async function say(
  model: LanguageModelV4,
  prompt: LanguageModelV4Prompt,
  options: Partial<LanguageModelV4CallOptions> = {},
) {
  const { content, usage } = await model.doGenerate({ prompt, tools: TOOLS, ...options });
  const calls = content.filter((part) => part.type === "tool-call");
  return {
    text: content.flatMap((part) => (part.type === "text" ? part.text : [])).join(""),
    calls: calls.map(({ toolName, input }) => ({
      name: toolName,
      input: JSON.parse(input) as Record<string, unknown>,
    })),
    ids: calls.map(({ toolCallId }) => toolCallId),
    usage,
  };
}

async function partsOf(stream: ReadableStream<LanguageModelV4StreamPart>): Promise<LanguageModelV4StreamPart[]> {
  const parts: LanguageModelV4StreamPart[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

async function drained(reader: ReadableStreamDefaultReader<unknown>): Promise<void> {
  while (!(await reader.read()).done);
}

describe("the extractive model", () => {
  const { model, label } = extractive();
  const question = user("When is the lamp lit?");

  test("says in its label what it is", () => {
    expect(label).toBe("the extractive model: no language model is configured");
  });

  test("searches, reads, delegates, publishes and answers, one after the other", async () => {
    const report = "# The lamp\n\nAt sunset. [1]\n\n## Sources\n\n1. `lamp.md:5` The lamp";
    const prompt: LanguageModelV4Prompt = [question];
    expect((await say(model, prompt)).calls).toEqual([{ name: "search", input: { query: "When is the lamp lit" } }]);
    prompt.push(...searched);
    expect((await say(model, prompt)).calls).toEqual([{ name: "read_page", input: { pages: ["lamp.md:5"] } }]);
    prompt.push(...read, ...did({ id: "3", name: "search", input: { query: "lit When is the lamp lit" }, output: [] }));
    const [delegate] = (await say(model, prompt)).calls;
    expect(delegate?.name).toBe("delegate");
    expect(delegate?.input["task"]).toContain("lights the lamp at sunset");
    prompt.push(...did({ id: "4", name: "delegate", input: {}, output: report }));
    expect((await say(model, prompt)).calls).toEqual([
      { name: "publish", input: { title: "The lamp", markdown: report } },
    ]);
    prompt.push(...did({ id: "5", name: "publish", input: {}, output: { file: "out.md" } }));
    const answer = await say(model, prompt);
    expect(answer).toMatchObject({
      calls: [],
      text: expect.stringMatching(/^At sunset. \[1\][^]*published: out\.md$/),
    });
  });

  test("has two searches at once for a question of two parts", async () => {
    const { calls } = await say(model, [user("When is the lamp lit, and what happens after a storm?")]);
    expect(calls.map(({ input }) => input["query"])).toEqual(["When is the lamp lit", "what happens after a storm"]);
  });

  test("takes up what is said in between, and leaves aside what was written before", async () => {
    const written = did({ id: "4", name: "delegate", input: {}, output: "# The lamp" });
    const prompt = [question, ...searched, ...read, ...written, user("focus on storms")];
    expect((await say(model, prompt)).calls).toEqual([{ name: "search", input: { query: "storms lamp lit" } }]);
  });

  test("begins anew with a question after an answer, and goes on with a refinement of it", async () => {
    const answered: LanguageModelV4Prompt = [
      question,
      ...searched,
      ...read,
      { role: "assistant", content: [{ type: "text", text: "At sunset." }] },
    ];
    const other = await say(model, [...answered, user("What does the boat bring?")]);
    expect(other.calls).toEqual([{ name: "search", input: { query: "What does the boat bring" } }]);
    const refined = await say(model, [...answered, user("only the boat")]);
    expect(refined.calls).toEqual([{ name: "search", input: { query: "the boat lamp lit" } }]);
  });

  test("tries once more what failed, then says why it could not look", async () => {
    const failed = (id: string) =>
      did({ id, name: "search", input: { query: "When is the lamp lit" }, output: "the disk is gone", failed: true });
    expect((await say(model, [question, ...failed("1")])).calls).toHaveLength(1);
    expect(await say(model, [question, ...failed("1"), ...failed("2")])).toMatchObject({
      calls: [],
      text: "I could not look: the disk is gone",
    });
  });

  test("asks for something to look for where it was told nothing", async () => {
    expect((await say(model, [user("and the?")])).text).toContain("Ask me something");
  });

  test("goes on from a summary of what was said", async () => {
    const { content } = await model.doGenerate({
      prompt: [question, ...searched, ...read, user("Summarize the conversation above for yourself.")],
    });
    const summary = content.flatMap((part) => (part.type === "text" ? part.text : [])).join("");
    expect(summary).toContain("lights the lamp at sunset");
    const told = user(`What was said and done so far, in short:\n${summary}`);
    expect((await say(model, [told])).calls[0]?.name).toBe("search");
  });

  test("streams what it generates, in the same words", async () => {
    const prompt = [
      user("xylophones?"),
      ...did({ id: "1", name: "search", input: { query: "xylophones" }, output: [] }),
    ];
    const { stream } = await model.doStream({ prompt, tools: TOOLS });
    const parts = await partsOf(stream);
    const text = parts.flatMap((part) => (part.type === "text-delta" ? part.delta : [])).join("");
    expect(text).toBe((await say(model, prompt)).text);
    expect(parts.filter(({ type }) => type === "text-delta").length).toBeGreaterThan(5);
    expect(parts.at(-1)).toMatchObject({ type: "finish", usage: (await say(model, prompt)).usage });
  });

  test("gives the same answer to the same prompt, and its calls ids of their own", async () => {
    const ask = (key: string) => say(model, [question], { headers: { "Idempotency-Key": key } });
    expect(await ask("a")).toEqual(await ask("a"));
    expect((await ask("a")).ids).not.toEqual((await ask("b")).ids);
  });

  test("stops where it is when it is aborted", async () => {
    const slow = extractive(600_000);
    const stop = new AbortController();
    const { stream } = await slow.model.doStream({ prompt: [question], tools: TOOLS, abortSignal: stop.signal });
    const reader = stream.getReader();
    await reader.read(); // It has begun.
    stop.abort();
    await expect(drained(reader)).rejects.toThrow("aborted");
    expect(readLedger(slow.ledger)).toEqual([]); // What was not delivered is not paid for.
  });
});

describe("relevance", () => {
  test.each([
    ["focus on frontier models", "steer"],
    ["The boat, too", "steer"],
    ["forget that, research AI policy", "restart"],
    ["No, start over: what about storms?", "restart"],
    ["then tell me about the boat", "queue"],
  ])("by rule: %s", async (message, expected) => {
    expect(relevanceByRule(`The task:\nforget it\n\nThe message:\n${message}`)).toBe(expected);
    expect(await askRelevance(extractive().model, "forget it", message, call)).toBe(expected);
  });
});

describe("sentences", () => {
  test("prose only: no code, tables, headings, links' addresses or citations that look like ours", () => {
    const text = `# Heading that is not a sentence at all

The first sentence is about [a thing](x.md), e.g. a lamp that
burns **all** night [1]. The second one mentions \`code<T>\` and is kept.

- An item of a list is a sentence of its own

\`\`\`ts
const code = "This is code and it must not be taken for prose at all.";
\`\`\`

| a table | is not a sentence either, whatever it says |
const { code } = something that happens to stand in a line of its own;
`;
    expect(sentencesOf(text).map((sentence) => sentence.text)).toEqual([
      "The first sentence is about a thing, e.g. a lamp that burns all night (1).",
      "The second one mentions `code<T>` and is kept.",
      "An item of a list is a sentence of its own.",
    ]);
  });
});

describe("providers", () => {
  async function provider(): Promise<ScriptedProvider> {
    const server = await startScriptedProvider({
      script: ({ tools }) =>
        tools.length > 0 ? { toolCalls: [{ name: "search", input: { query: "q" } }] } : '{"relevance": "restart"}',
    });
    onTestFinished(() => server.close());
    return server;
  }

  test("an OpenAI-compatible endpoint is asked with the step's key, and what it says it used is in the ledger", async () => {
    const server = await provider();
    const { model, label, ledger } = withModel({
      provider: "openai",
      name: "some-model",
      apiKey: "secret",
      baseURL: server.openaiBaseUrl,
    });
    expect(label).toMatch(/^some-model at 127\.0\.0\.1:/);
    const { stream } = await model.doStream({
      prompt: [user("When?")],
      tools: TOOLS,
      headers: { "Idempotency-Key": "key-7" },
    });
    const parts = await partsOf(stream);
    expect(parts.filter(({ type }) => type === "tool-call")).toMatchObject([{ toolName: "search" }]);
    expect(server.requests).toMatchObject([{ api: "openai-chat", modelId: "some-model", idempotencyKey: "key-7" }]);
    expect(server.requests[0]?.headers["authorization"]).toBe("Bearer secret");
    expect(readLedger(ledger)).toMatchObject([{ kind: "model", idempotencyKey: "key-7", tokens: expect.any(Number) }]);
  });

  test("a language model judges relevance, too", async () => {
    const server = await provider();
    const settings = { provider: "openai", name: "m", apiKey: "secret", baseURL: server.openaiBaseUrl } as const;
    expect(await askRelevance(withModel(settings).model, "the lamp", "hm", call)).toBe("restart");
    expect(server.requests[0]?.idempotencyKey).toBe("key-1");
  });

  test("without another endpoint they are the providers' own models", () => {
    const openai = withModel({ provider: "openai", name: "gpt-5-mini", apiKey: "k", baseURL: undefined });
    expect([openai.label, openai.model.provider]).toEqual(["openai/gpt-5-mini", "openai.responses"]);
    const anthropic = withModel({ provider: "anthropic", name: "claude-haiku-4-5", apiKey: "k" });
    expect([anthropic.label, anthropic.model.provider]).toEqual(["anthropic/claude-haiku-4-5", "anthropic.messages"]);
  });

  test("an injected 429 looks like a provider's", async () => {
    const { model } = withModel({ provider: "extractive", paceMs: 0 }, "model-429=0.999,seed=1");
    const failure = await Promise.resolve(model.doStream({ prompt: [user("Why?")] })).catch((error: unknown) => error);
    expect(APICallError.isInstance(failure) && [failure.statusCode, failure.responseHeaders]).toEqual([
      429,
      { "retry-after": "1" },
    ]);
  });
});
