// The extractive model
// ====================
// What answers where no language model is configured. It searches, reads and quotes by rules (decide.ts, writing.ts): it
// invents nothing, since it can only quote, and it says in every report who put it together. To the agent it is a model of
// the AI SDK like any other: it reads the conversation, calls tools, streams what it says and reports what it used, in words.

import { createHash } from "node:crypto";
import { setTimeout } from "node:timers/promises";

import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";

import { wordsOf } from "../corpus/words.ts";
import { nextStep, summarize, type Reply } from "./decide.ts";
import { RELEVANCE, relevanceByRule } from "./relevance.ts";
import { writeReport } from "./writing.ts";

export interface ExtractiveOptions {
  /** How long an answer takes: so that there is something to watch, as with a language model. */
  readonly paceMs: number;
}

export function extractiveModel({ paceMs }: ExtractiveOptions): LanguageModelV4 {
  return {
    specificationVersion: "v4",
    provider: "extractive",
    modelId: "quotes",
    supportedUrls: {},
    doGenerate: async (options) => {
      const reply = replyTo(options);
      return {
        content: contentOf(reply, options),
        finishReason: finishOf(reply),
        usage: usageOf(reply, options),
        warnings: [],
      };
    },
    doStream: async (options) => ({ stream: streamOf(partsOf(options, paceMs)) }),
  };
}

function replyTo({ prompt, responseFormat, tools = [] }: LanguageModelV4CallOptions): Reply {
  if (responseFormat?.type === "json" && responseFormat.name === RELEVANCE)
    return { text: JSON.stringify({ relevance: relevanceByRule(lastSaid(prompt)) }) };
  if (tools.some((tool) => tool.name === "search")) return nextStep(prompt);
  // Without tools it is the writer, or is asked for a summary of a conversation that has grown too long.
  const isConversation = prompt.some(({ role }) => role === "tool");
  return { text: isConversation ? summarize(prompt) : writeReport(lastSaid(prompt)) };
}

function lastSaid(prompt: LanguageModelV4Prompt): string {
  const last = prompt.findLast(({ role }) => role === "user");
  if (last?.role !== "user") return "";
  return last.content.flatMap((part) => (part.type === "text" ? part.text : [])).join("\n");
}

function contentOf(reply: Reply, options: LanguageModelV4CallOptions): LanguageModelV4Content[] {
  const { reasoning, text, calls = [] } = reply;
  return [
    ...(reasoning === undefined ? [] : [{ type: "reasoning" as const, text: reasoning }]),
    ...(text === undefined ? [] : [{ type: "text" as const, text }]),
    ...calls.map(({ name, input }, at) => ({
      type: "tool-call" as const,
      toolCallId: callId(options, at),
      toolName: name,
      input: JSON.stringify(input),
    })),
  ];
}

/** The same for every try of a call, and another one for each call of a session. */
function callId({ prompt, headers = {} }: LanguageModelV4CallOptions, at: number): string {
  const [, key] = Object.entries(headers).find(([name]) => name.toLowerCase() === "idempotency-key") ?? [];
  const identity = key ?? JSON.stringify(prompt);
  return `call_${createHash("sha256").update(`${identity}/${at}`).digest("hex").slice(0, 12)}`;
}

const finishOf = ({ calls = [] }: Reply) =>
  ({ unified: calls.length > 0 ? "tool-calls" : "stop", raw: undefined }) as const;

/** Words count as tokens: the figures mean something to a budget, and are no provider's. */
function usageOf(reply: Reply, { prompt }: LanguageModelV4CallOptions): LanguageModelV4Usage {
  const input = wordsOf(JSON.stringify(prompt)).length;
  const reasoning = wordsOf(reply.reasoning ?? "").length;
  const text = wordsOf(`${reply.text ?? ""}${JSON.stringify(reply.calls ?? [])}`).length;
  return {
    inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: reasoning + text, text, reasoning },
  };
}

// Streaming
// ---------

/** Waits per answer: more would only cost timers. */
const WAITS = 25;

async function* partsOf(
  options: LanguageModelV4CallOptions,
  paceMs: number,
): AsyncGenerator<LanguageModelV4StreamPart> {
  const reply = replyTo(options);
  yield { type: "stream-start", warnings: [] };
  const content = contentOf(reply, options);
  const words = content.reduce((sum, part) => sum + ("text" in part ? piecesOf(part.text).length : 1), 0);
  const every = Math.max(1, Math.ceil(words / WAITS));
  let said = 0;
  for (const [at, part] of content.entries()) {
    if (part.type === "tool-call") {
      yield part;
      continue;
    }
    if (part.type !== "text" && part.type !== "reasoning") continue;
    const id = String(at);
    yield { type: `${part.type}-start`, id };
    for (const delta of piecesOf(part.text)) {
      if (said > 0 && said % every === 0) await wait((paceMs * every) / words, options.abortSignal);
      said += 1;
      yield { type: `${part.type}-delta`, id, delta };
    }
    yield { type: `${part.type}-end`, id };
  }
  yield { type: "finish", finishReason: finishOf(reply), usage: usageOf(reply, options) };
}

/** Words with the space before them. */
const piecesOf = (text: string): readonly string[] => text.match(/\s*\S+|\s+$/g) ?? [];

async function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  if (ms > 0) await setTimeout(ms, undefined, signal === undefined ? {} : { signal });
}

/** A part is made when it is asked for. */
function streamOf(parts: AsyncGenerator<LanguageModelV4StreamPart>): ReadableStream<LanguageModelV4StreamPart> {
  return new ReadableStream(
    {
      async pull(controller) {
        const next = await parts.next();
        if (next.done === true) controller.close();
        else controller.enqueue(next.value);
      },
      async cancel() {
        await parts.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}
