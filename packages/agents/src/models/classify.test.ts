import { APICallError, JSONParseError, LoadAPIKeyError, NoSuchModelError } from "@ai-sdk/provider";
import { retryAfterMs } from "@perdure/sdk";
import { describe, expect, it } from "vitest";
import { classify } from "./classify.ts";
import type { ModelErrorKind } from "./model-error.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");

function kindOf(error: unknown, hasOutput = false): ModelErrorKind {
  return classify(error, { provider: "openai.chat", modelId: "m", now: NOW, hasOutput }).kind;
}

interface Http {
  readonly status?: number;
  readonly data?: unknown;
  readonly body?: string;
  readonly headers?: Record<string, string>;
  readonly message?: string;
  readonly cause?: unknown;
}

function http({ status, data, body, headers, message = "words", cause }: Http): APICallError {
  return new APICallError({
    message,
    url: "https://example.com",
    requestBodyValues: {},
    ...(status === undefined ? {} : { statusCode: status }),
    ...(headers === undefined ? {} : { responseHeaders: headers }),
    ...(body === undefined ? {} : { responseBody: body }),
    data,
    cause,
  });
}

const openai = (status: number, code: string | null, type = "invalid_request_error") =>
  http({ status, data: { error: { message: "words", type, param: null, code } } });
const anthropic = (status: number, type: string, message = "words") =>
  http({ status, message, data: { type: "error", error: { type, message } } });

type Case = readonly [what: string, error: unknown, kind: ModelErrorKind];

const OPENAI: readonly Case[] = [
  ["OpenAI: too long", openai(400, "context_length_exceeded"), "context-length"],
  ["OpenAI: no credit, though its status is that of a rate limit", openai(429, "insufficient_quota"), "unauthorized"],
  ["OpenAI: rate", openai(429, "rate_limit_exceeded", "tokens"), "rate-limited"],
  ["OpenAI: wrong key, though its type is that of a bad request", openai(401, "invalid_api_key"), "unauthorized"],
  ["OpenAI: 401 without a code", openai(401, null), "unauthorized"],
  ["OpenAI: no such model", openai(404, "model_not_found"), "bad-request"],
  ["OpenAI: a parameter", openai(400, "unsupported_parameter"), "bad-request"],
  ["OpenAI: server", openai(500, null, "server_error"), "server"],
  ["OpenAI: policy", openai(400, "content_policy_violation"), "refused"],
  [
    "Azure: filter",
    http({
      status: 400,
      data: { error: { code: "content_filter", innererror: { code: "ResponsibleAIPolicyViolation" } } },
    }),
    "refused",
  ],
];

const ANTHROPIC: readonly Case[] = [
  ["Anthropic: overloaded", anthropic(529, "overloaded_error"), "overloaded"],
  ["Anthropic: rate", anthropic(429, "rate_limit_error"), "rate-limited"],
  ["Anthropic: size", anthropic(413, "request_too_large"), "context-length"],
  [
    "Anthropic: too long",
    anthropic(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
    "context-length",
  ],
  [
    "Anthropic: words about length in another place",
    anthropic(400, "invalid_request_error", "messages.1: the prompt is too long-winded"),
    "bad-request",
  ],
  [
    "Anthropic: filter",
    anthropic(400, "invalid_request_error", "Output blocked by content filtering policy"),
    "refused",
  ],
  ["Anthropic: credit", anthropic(400, "billing_error"), "unauthorized"],
  ["Anthropic: key", anthropic(401, "authentication_error"), "unauthorized"],
  ["Anthropic: permission", anthropic(403, "permission_error"), "unauthorized"],
  ["Anthropic: model", anthropic(404, "not_found_error"), "bad-request"],
  ["Anthropic: server", anthropic(500, "api_error"), "server"],
];

const OTHERS: readonly Case[] = [
  [
    "a code in the body only",
    http({ status: 500, body: JSON.stringify({ type: "overloaded_error", message: "Overloaded" }) }),
    "overloaded",
  ],
  [
    "Google: exhausted",
    http({ status: 429, data: { error: { code: 429, status: "RESOURCE_EXHAUSTED" } } }),
    "rate-limited",
  ],
  ["Google: unavailable", http({ status: 503, data: { error: { code: 503, status: "UNAVAILABLE" } } }), "overloaded"],
  ["a proxy's page", http({ status: 502, body: "<html>Bad Gateway</html>" }), "server"],
  ["a status alone: 503", http({ status: 503 }), "overloaded"],
  ["a status alone: 408", http({ status: 408 }), "server"],
  ["a status alone: 422", http({ status: 422 }), "bad-request"],
  [
    "no connection",
    http({ message: "Cannot connect to API", cause: Object.assign(new Error("x"), { code: "ECONNREFUSED" }) }),
    "network",
  ],
  [
    "nonsense instead of JSON",
    http({
      status: 200,
      message: "Invalid JSON response",
      cause: new JSONParseError({ text: "x", cause: undefined }),
    }),
    "server",
  ],
  ["no key at all", new LoadAPIKeyError({ message: "OpenAI API key is missing" }), "unauthorized"],
  [
    "no such model, says the provider's package",
    new NoSuchModelError({ modelId: "x", modelType: "languageModel" }),
    "bad-request",
  ],
  ["anything else", new TypeError("x is not a function"), "unknown"],
  ["a text that was thrown", "oh", "unknown"],
];

describe("errors before an answer", () => {
  it.each([...OPENAI, ...ANTHROPIC, ...OTHERS])("%s", (_, error, kind) => {
    expect(kindOf(error)).toBe(kind);
  });
});

describe("errors in the middle of an answer", () => {
  it.each<[string, unknown, ModelErrorKind]>([
    ["Anthropic's part", { message: "Overloaded", type: "overloaded_error", statusCode: 529, data: {} }, "overloaded"],
    [
      "OpenAI's part",
      { message: "x", type: "server_error", code: "server_error", statusCode: 500, data: {} },
      "server",
    ],
    [
      "a failed response",
      {
        message: "x",
        type: "response.failed",
        code: "rate_limit_exceeded",
        statusCode: 429,
        data: { type: "response.failed" },
      },
      "rate-limited",
    ],
    [
      "a connection that breaks",
      http({ status: 200, cause: Object.assign(new Error("x"), { code: "UND_ERR_SOCKET" }) }),
      "cut-stream",
    ],
    ["a part that is no JSON", new JSONParseError({ text: "{", cause: undefined }), "server"],
  ])("%s", (_, error, kind) => {
    expect(kindOf(error, true)).toBe(kind);
  });
});

describe("a classified error", () => {
  it("says when to come back, where steps look for it", () => {
    const error = http({ status: 429, headers: { "retry-after": "17" } });
    const classified = classify(error, { provider: "p", modelId: "m", now: NOW, hasOutput: false });
    expect(classified.retryAfter).toBe(17_000);
    expect(retryAfterMs(classified, NOW)).toBe(17_000);
  });

  it("is retried by steps if it can be, and carries what the provider said", () => {
    const limited = classify(openai(429, "rate_limit_exceeded"), {
      provider: "p",
      modelId: "m",
      now: NOW,
      hasOutput: false,
    });
    expect(limited).toMatchObject({
      code: "P0070",
      retry: "retry",
      retryable: true,
      statusCode: 429,
      providerCode: "rate_limit_exceeded",
    });
    expect(limited.message).toBe("p/m: words (HTTP 429)");
    const wrong = classify(openai(401, null), { provider: "p", modelId: "m", now: NOW, hasOutput: false });
    expect(wrong).toMatchObject({ retry: "terminal", retryable: false });
  });
});
