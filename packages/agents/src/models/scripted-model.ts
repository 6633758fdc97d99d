// A model in memory that answers by a script: no network, no clock of its own. For simulations and crash tests.
//
// It fails as the AI SDK's providers do: an `APICallError` with status, headers and the provider's code before an answer, an
// error part or a broken stream in the middle of one.

import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import { APICallError, UnsupportedFunctionalityError } from "@ai-sdk/provider";
import { Assembly } from "./assembly.ts";
import {
  Bill,
  planReply,
  type Script,
  type ScriptedError,
  type ScriptedManner,
  type ScriptedMessage,
  type ScriptedPiece,
  type ScriptedPlan,
  type ScriptedRefusal,
  type ScriptedReply,
  type ScriptedRequest,
  Sightings,
} from "./script.ts";

export interface ScriptedModelOptions {
  /** Default: `scripted`. */
  readonly provider?: string;
  /** Default: `model`. */
  readonly modelId?: string;
  /** For pace and stalls; without it everything comes at once. */
  readonly delay?: (ms: number, callback: () => void) => () => void;
  /** One that several models share. */
  readonly bill?: Bill;
  /** Default: true. */
  readonly canStream?: boolean;
}

export interface ScriptedModel extends LanguageModelV4 {
  readonly bill: Bill;
  readonly requests: readonly ScriptedRequest[];
}

export function scriptedModel(script: Script, options: ScriptedModelOptions = {}): ScriptedModel {
  const actor = new Actor(script, options);
  return {
    specificationVersion: "v4",
    provider: options.provider ?? "scripted",
    modelId: options.modelId ?? "model",
    supportedUrls: {},
    bill: actor.bill,
    requests: actor.requests,
    doStream: async (call) => {
      if (options.canStream === false) throw new UnsupportedFunctionalityError({ functionality: "streaming" });
      return { stream: await actor.answer(call, true) };
    },
    doGenerate: async (call) => collect(await actor.answer(call, false)),
  };
}

class Actor {
  readonly bill: Bill;
  readonly requests: ScriptedRequest[] = [];
  readonly #script: Script;
  readonly #options: ScriptedModelOptions;
  readonly #sightings: Sightings = new Sightings();

  constructor(script: Script, options: ScriptedModelOptions) {
    this.#script = script;
    this.#options = options;
    this.bill = options.bill ?? new Bill();
  }

  async answer(
    call: LanguageModelV4CallOptions,
    streaming: boolean,
  ): Promise<ReadableStream<LanguageModelV4StreamPart>> {
    const request = requestOf(call, streaming, this.#options.modelId ?? "model");
    this.requests.push(request);
    const paid = this.bill.open(request.idempotencyKey);
    const answer = await this.#script(request, this.#sightings.count(request));
    const reply = typeof answer === "string" ? { text: answer } : answer;
    if ("recording" in reply)
      throw new Error("a recording is for the scripted server: a model in memory sends no bytes");
    if ("error" in reply) {
      await this.#wait(reply.firstTokenMs ?? 0, call.abortSignal);
      throw errorOf(reply);
    }
    const plan = planReply(reply, request);
    const id = `response-${this.requests.length}`;
    return streamFrom(
      this.#perform(plan, reply, id, call.abortSignal, () => paid(plan.usage)),
      call.abortSignal,
    );
  }

  async *#perform(
    plan: ScriptedPlan,
    reply: ScriptedReply,
    id: string,
    signal: AbortSignal | undefined,
    paid: () => void,
  ): AsyncGenerator<LanguageModelV4StreamPart> {
    yield { type: "stream-start", warnings: [] };
    yield { type: "response-metadata", id, modelId: this.#options.modelId ?? "model" };
    await this.#wait(reply.firstTokenMs ?? 0, signal);
    const { fault } = reply;
    for (const [index, piece] of plan.pieces.entries()) {
      if (fault !== undefined && index >= fault.afterTokens) break;
      if (index > 0) await this.#wait(paceMs(reply), signal);
      yield* partsOfPiece(piece);
    }
    switch (fault?.kind) {
      case undefined:
        break;
      case "stall":
        return await this.#wait(Number.POSITIVE_INFINITY, signal);
      case "cut":
        throw Object.assign(new Error("the connection was reset"), { code: "ECONNRESET" });
      case "overloaded":
      case "server": {
        const { message, code, statusCode } = ERRORS[fault.kind];
        yield { type: "error", error: { message, type: code, statusCode, data: { type: code, message } } };
        return;
      }
    }
    paid();
    yield { type: "finish", finishReason: { unified: plan.finish, raw: plan.finish }, usage: usageOf(plan) };
  }

  /** Without a delay time does not pass, but for a stall, which lasts until it is aborted. */
  #wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const { delay } = this.#options;
    if (ms === 0 || (delay === undefined && ms !== Number.POSITIVE_INFINITY)) return Promise.resolve();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const cancel = ms === Number.POSITIVE_INFINITY ? undefined : delay?.(ms, resolve);
    const stop = () => {
      cancel?.();
      reject(abortError());
    };
    if (signal?.aborted === true) stop();
    else signal?.addEventListener("abort", stop, { once: true });
    return promise.finally(() => signal?.removeEventListener("abort", stop));
  }
}

export function paceMs({ tokensPerSecond }: ScriptedManner): number {
  return tokensPerSecond === undefined ? 0 : 1_000 / tokensPerSecond;
}

function abortError(): Error {
  return Object.assign(new Error("the request was aborted"), { name: "AbortError" });
}

/** A part is made when it is asked for; whoever gives the stream up, or aborts the request, ends it. */
function streamFrom(
  parts: AsyncGenerator<LanguageModelV4StreamPart>,
  signal: AbortSignal | undefined,
): ReadableStream<LanguageModelV4StreamPart> {
  return new ReadableStream(
    {
      async pull(controller) {
        if (signal?.aborted === true) throw abortError();
        const next = await parts.next();
        if (next.done === true) controller.close();
        else controller.enqueue(next.value);
      },
    },
    { highWaterMark: 0 },
  );
}

function* partsOfPiece(piece: ScriptedPiece): Generator<LanguageModelV4StreamPart> {
  const { delta } = piece;
  if (piece.kind === "tool-call") {
    const { id, name: toolName, input } = piece;
    if (piece.isFirst) yield { type: "tool-input-start", id, toolName };
    yield { type: "tool-input-delta", id, delta };
    if (!piece.isLast) return;
    yield { type: "tool-input-end", id };
    yield { type: "tool-call", toolCallId: id, toolName, input };
    return;
  }
  const id = piece.kind;
  if (piece.isFirst) yield { type: `${piece.kind}-start`, id };
  yield { type: `${piece.kind}-delta`, id, delta };
  if (piece.isLast) yield { type: `${piece.kind}-end`, id };
}

function usageOf({ usage }: ScriptedPlan): LanguageModelV4Usage {
  const { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens, reasoningTokens } = usage;
  const noCache = inputTokens - cachedInputTokens - cacheWriteTokens;
  return {
    inputTokens: { total: inputTokens, noCache, cacheRead: cachedInputTokens, cacheWrite: cacheWriteTokens },
    outputTokens: { total: outputTokens, text: outputTokens - reasoningTokens, reasoning: reasoningTokens },
  };
}

async function collect(stream: ReadableStream<LanguageModelV4StreamPart>): Promise<LanguageModelV4GenerateResult> {
  const assembly = new Assembly();
  for await (const part of stream) {
    if (part.type === "error") throw part.error;
    assembly.add(part);
  }
  const { finishReason, usage, warnings, responseId } = assembly;
  if (finishReason === undefined) throw Object.assign(new Error("the connection was reset"), { code: "ECONNRESET" });
  const response = responseId === undefined ? {} : { response: { id: responseId } };
  return { content: assembly.content(), finishReason, usage, warnings, ...response };
}

const ERRORS: Readonly<
  Record<ScriptedError, { readonly statusCode: number; readonly code: string; readonly message: string }>
> = {
  "rate-limited": { statusCode: 429, code: "rate_limit_exceeded", message: "Rate limit reached" },
  quota: { statusCode: 429, code: "insufficient_quota", message: "You exceeded your current quota" },
  server: { statusCode: 500, code: "server_error", message: "The server had an error" },
  overloaded: { statusCode: 529, code: "overloaded_error", message: "Overloaded" },
  "context-length": { statusCode: 400, code: "context_length_exceeded", message: "The context window is exceeded" },
  "invalid-key": { statusCode: 401, code: "invalid_api_key", message: "Incorrect API key provided" },
  "bad-request": { statusCode: 400, code: "invalid_request_error", message: "The request is invalid" },
  "content-filter": { statusCode: 400, code: "content_filter", message: "The prompt was filtered" },
};

function errorOf(refusal: ScriptedRefusal): APICallError {
  const { statusCode, code, message: usual } = ERRORS[refusal.error];
  const message = refusal.message ?? usual;
  return new APICallError({
    message,
    url: "memory:",
    requestBodyValues: {},
    statusCode,
    responseHeaders: refusal.retryAfterMs === undefined ? {} : { "retry-after-ms": String(refusal.retryAfterMs) },
    data: { error: { message, code } },
  });
}

function requestOf(call: LanguageModelV4CallOptions, streaming: boolean, modelId: string): ScriptedRequest {
  const { abortSignal: _, headers = {}, ...body } = call;
  const sent = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name.toLowerCase(), value] as const],
  );
  const lower = Object.fromEntries(sent);
  return {
    api: "in-memory",
    modelId,
    streaming,
    idempotencyKey: lower["idempotency-key"],
    messages: call.prompt.map(messageOf),
    tools: (call.tools ?? []).map(({ name }) => name),
    maxOutputTokens: call.maxOutputTokens,
    headers: lower,
    body,
  };
}

function messageOf(message: LanguageModelV4Message): ScriptedMessage {
  if (message.role === "system") return { role: message.role, text: message.content };
  const texts = message.content.map((part) => {
    if (part.type === "text" || part.type === "reasoning") return part.text;
    if (part.type !== "tool-result") return "";
    const { output } = part;
    return "value" in output ? textOf(output.value) : (output.reason ?? "denied");
  });
  return { role: message.role, text: texts.filter((text) => text !== "").join("\n") };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
