// How OpenAI says that it will not answer; both of its formats do so alike.

import type { ScriptedError } from "@perdure/agents";
import type { Failure } from "./wire.ts";

interface OpenAiError {
  readonly status: number;
  readonly type: string;
  readonly code: string | null;
  readonly param?: string;
  readonly message: string;
}

const ERRORS: Readonly<Record<ScriptedError, OpenAiError>> = {
  "rate-limited": {
    status: 429,
    type: "tokens",
    code: "rate_limit_exceeded",
    message: "Rate limit reached for the model on tokens per min (TPM): Limit 30000, Used 29874, Requested 611.",
  },
  quota: {
    status: 429,
    type: "insufficient_quota",
    code: "insufficient_quota",
    message: "You exceeded your current quota, please check your plan and billing details.",
  },
  server: {
    status: 500,
    type: "server_error",
    code: null,
    message: "The server had an error while processing your request. Sorry about that!",
  },
  overloaded: {
    status: 503,
    type: "service_unavailable_error",
    code: "server_is_overloaded",
    message: "Our servers are currently overloaded. Please try again later.",
  },
  "context-length": {
    status: 400,
    type: "invalid_request_error",
    code: "context_length_exceeded",
    param: "messages",
    message: "This model's maximum context length is 128000 tokens. However, your messages resulted in 131072 tokens.",
  },
  "invalid-key": {
    status: 401,
    type: "invalid_request_error",
    code: "invalid_api_key",
    message: "Incorrect API key provided: sk-test.",
  },
  "bad-request": {
    status: 400,
    type: "invalid_request_error",
    code: "unsupported_value",
    param: "temperature",
    message: "Unsupported value: 'temperature' does not support 3 with this model.",
  },
  "content-filter": {
    status: 400,
    type: "invalid_request_error",
    code: "content_policy_violation",
    message: "Your request was rejected as a result of our safety system.",
  },
};

export function openAiFailure(error: ScriptedError): Failure {
  const { status, type, code, param = null, message: usual } = ERRORS[error];
  return { status, body: (message = usual) => ({ error: { message, type, param, code } }) };
}

/** The same as an object in the middle of a stream. */
export function openAiError(error: "overloaded" | "server"): OpenAiError {
  return ERRORS[error];
}
