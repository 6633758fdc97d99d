// What an error of a provider means
// =================================
// Decided, in this order, by: the provider's own code (`error.code`, `error.type`), the HTTP status, the class of the
// AI SDK's error, the code of the network's error. Words are looked at in one case only: providers that have no code for "too
// long" or "filtered" call the request invalid, and say what they mean in a message.
//
// Errors come in three forms: thrown before an answer (`APICallError`), a part of the stream (an object with `code`, `type`,
// `statusCode` and `data`), and thrown by the stream itself when the connection breaks.

import { retryAfterMs } from "@perdure/sdk";
import { ModelError, type ModelErrorKind } from "./model-error.ts";

export interface ErrorContext {
  readonly provider: string;
  readonly modelId: string;
  readonly now: number;
  /** Parts of an answer had come already. */
  readonly hasOutput: boolean;
}

export function classify(error: unknown, context: ErrorContext): ModelError {
  if (error instanceof ModelError) return error;
  const facts = factsOf(error);
  const kind = kindOf(facts, context.hasOutput);
  const said = facts.message === "" ? "it gave no reason" : facts.message;
  const status = facts.status === undefined ? "" : ` (HTTP ${facts.status})`;
  return new ModelError(`${context.provider}/${context.modelId}: ${said}${status}`, {
    kind,
    provider: context.provider,
    modelId: context.modelId,
    retryAfterMs: retryAfterMs(error, context.now),
    statusCode: facts.status,
    providerCode: facts.codes[0],
    cause: error,
  });
}

const BY_CODE: Readonly<Record<string, ModelErrorKind>> = {
  context_length_exceeded: "context-length",
  request_too_large: "context-length",
  string_above_max_length: "context-length",
  insufficient_quota: "unauthorized",
  billing_error: "unauthorized",
  billing_hard_limit_reached: "unauthorized",
  invalid_api_key: "unauthorized",
  account_deactivated: "unauthorized",
  authentication_error: "unauthorized",
  unauthenticated: "unauthorized",
  permission_error: "unauthorized",
  permission_denied: "unauthorized",
  rate_limit_error: "rate-limited",
  rate_limit_exceeded: "rate-limited",
  resource_exhausted: "rate-limited",
  throttlingexception: "rate-limited",
  overloaded_error: "overloaded",
  server_is_overloaded: "overloaded",
  slow_down: "overloaded",
  engine_overloaded: "overloaded",
  unavailable: "overloaded",
  serviceunavailableexception: "overloaded",
  content_filter: "refused",
  content_policy_violation: "refused",
  responsibleaipolicyviolation: "refused",
  invalid_prompt: "refused", // What OpenAI calls a prompt that its policy refuses.
  api_error: "server",
  server_error: "server",
  internal_error: "server",
  internal: "server",
  internalserverexception: "server",
  timeout_error: "server",
  deadline_exceeded: "server",
  model_not_found: "bad-request",
  not_found_error: "bad-request",
};

/** By the AI SDK's `error.name`: the classes may come from several copies of its packages. */
const BY_NAME: Readonly<Record<string, ModelErrorKind>> = {
  AI_LoadAPIKeyError: "unauthorized",
  AI_LoadSettingError: "unauthorized",
  AI_InvalidPromptError: "bad-request",
  AI_InvalidArgumentError: "bad-request",
  AI_UnsupportedFunctionalityError: "bad-request",
  AI_NoSuchModelError: "bad-request",
  AI_EmptyResponseBodyError: "server",
  AI_InvalidResponseDataError: "server",
  AI_JSONParseError: "server",
  AI_NoContentGeneratedError: "server",
  AI_TypeValidationError: "server",
};

/** Said by Anthropic, Google and Amazon where others have a code. */
const TOO_LONG =
  /^prompt is too long|exceed context limit|input token count .*exceeds the maximum|input is too long for requested model/i;

/** Said by Anthropic where others have a code. */
const FILTERED = /^output blocked by content filtering policy/i;

const NETWORK_CODE = /^(?:E[A-Z]+|UND_ERR_\w+)$/;

function kindOf(facts: Facts, hasOutput: boolean): ModelErrorKind {
  for (const code of facts.codes) {
    const kind = BY_CODE[code];
    if (kind !== undefined) return kind;
  }
  if (facts.status !== undefined && facts.status >= 400) return kindOfStatus(facts.status, facts.message);
  const isBroken = facts.isNetwork || (facts.name === "AI_APICallError" && facts.causeName !== "AI_JSONParseError");
  const byName = BY_NAME[facts.name] ?? BY_NAME[facts.causeName];
  if (byName !== undefined) return byName;
  if (isBroken) return hasOutput ? "cut-stream" : "network";
  return "unknown";
}

function kindOfStatus(status: number, message: string): ModelErrorKind {
  switch (status) {
    case 401:
    case 402:
    case 403:
      return "unauthorized";
    case 408:
    case 409:
      return "server";
    case 413:
      return "context-length";
    case 429:
      return "rate-limited";
    case 503:
    case 529:
      return "overloaded";
    default:
      if (status >= 500) return "server";
      if (FILTERED.test(message)) return "refused";
      return TOO_LONG.test(message) ? "context-length" : "bad-request";
  }
}

interface Facts {
  readonly message: string;
  readonly name: string;
  readonly causeName: string;
  readonly status: number | undefined;
  /** In lower case, the most specific first. */
  readonly codes: readonly string[];
  readonly isNetwork: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

function factsOf(error: unknown): Facts {
  const own = fieldsOf(error);
  const bodies = [own["data"], parsed(own["responseBody"])].map(fieldsOf);
  // `error` is where OpenAI, Anthropic and Google put it; `response.error` where the Responses API does.
  const nested = bodies.flatMap((body) => [body["error"], fieldsOf(body["response"])["error"], body]).map(fieldsOf);
  const places = [own, ...nested];
  const details = places.map((place) => fieldsOf(place["details"])["error_code"]);
  const codes = [
    ...places.map((place) => place["code"]),
    ...details,
    ...places.map((place) => fieldsOf(place["innererror"])["code"]),
    ...places.map((place) => place["type"]),
    ...places.map((place) => place["status"]),
  ];
  return {
    message: typeof error === "string" ? error : textOf(own["message"]),
    name: textOf(own["name"]),
    causeName: textOf(fieldsOf(own["cause"])["name"]),
    status: [own["statusCode"], own["status"]].find((status) => typeof status === "number"),
    codes: codes.filter((code) => typeof code === "string").map((code) => code.toLowerCase()),
    isNetwork: hasNetworkCode(error),
  };
}

/** Errors wrap errors; the network's is the innermost. */
const CAUSE_DEPTH_MAX = 5;

function hasNetworkCode(error: unknown): boolean {
  let current = error;
  for (let depth = 0; depth < CAUSE_DEPTH_MAX && typeof current === "object" && current !== null; depth += 1) {
    const { code, cause } = fieldsOf(current);
    if (typeof code === "string" && NETWORK_CODE.test(code)) return true;
    current = cause;
  }
  return false;
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function parsed(body: unknown): unknown {
  if (typeof body !== "string") return undefined;
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined; // A proxy's page, not the provider's answer.
  }
}
