// Anthropic's messages: a stream of named events about the blocks of the content.

import type { ScriptedError, ScriptedPiece, ScriptedPlan } from "@perdure/agents";
import {
  blocksOf,
  count,
  event,
  type Failure,
  type JsonObject,
  list,
  type PlannedBlock,
  type ResponseHead,
  roleOf,
  type StreamWriter,
  text,
  textIn,
  type WireFormat,
} from "./wire.ts";

const STOP: Readonly<Record<ScriptedPlan["finish"], string>> = {
  stop: "end_turn",
  length: "max_tokens",
  "content-filter": "refusal",
  "tool-calls": "tool_use",
};
/** Opaque to everybody but the provider; it comes back with the next request. */
const SIGNATURE = "c2NyaXB0ZWQ=";

export const anthropicMessages: WireFormat = {
  api: "anthropic-messages",
  path: "/messages",
  read: (body) => {
    const system = textIn(body["system"]);
    const said = list(body["messages"]).map(({ role, content }) => ({
      role: list(content).some(({ type }) => type === "tool_result") ? ("tool" as const) : roleOf(role),
      text: textIn(content),
    }));
    return {
      modelId: text(body["model"]),
      streaming: body["stream"] === true,
      messages: system === "" ? said : [{ role: "system" as const, text: system }, ...said],
      tools: list(body["tools"]).map(({ name }) => text(name)),
      maxOutputTokens: count(body["max_tokens"]),
    };
  },
  writer: (plan, head) => new MessageWriter(plan, head),
  whole: (plan, head) => ({
    ...messageHead(head),
    content: blocksOf(plan).map((block) => blockOf(block)),
    stop_reason: STOP[plan.finish],
    stop_sequence: null,
    usage: { ...inputUsage(plan), output_tokens: plan.usage.outputTokens },
  }),
  failure: (error): Failure => {
    const { status, type, message: usual } = ERRORS[error];
    return {
      status,
      body: (message = usual) => ({ type: "error", error: { type, message }, request_id: "req_scripted" }),
    };
  },
};

class MessageWriter implements StreamWriter {
  readonly #plan: ScriptedPlan;
  readonly #head: ResponseHead;
  #index = -1;

  constructor(plan: ScriptedPlan, head: ResponseHead) {
    this.#plan = plan;
    this.#head = head;
  }

  begin(): string {
    const usage = { ...inputUsage(this.#plan), output_tokens: 1 };
    const message = { ...messageHead(this.#head), content: [], stop_reason: null, stop_sequence: null, usage };
    return named({ type: "message_start", message }) + named({ type: "ping" });
  }

  piece(piece: ScriptedPiece): string {
    if (piece.isFirst) this.#index += 1;
    const index = this.#index;
    const opening = piece.isFirst
      ? named({ type: "content_block_start", index, content_block: blockOf(blockBegun(piece)) })
      : "";
    const signature = { type: "signature_delta", signature: SIGNATURE };
    const isSigned = piece.kind === "reasoning" && piece.isLast;
    const signed = isSigned ? named({ type: "content_block_delta", index, delta: signature }) : "";
    const closing = piece.isLast ? signed + named({ type: "content_block_stop", index }) : "";
    return opening + named({ type: "content_block_delta", index, delta: deltaOf(piece) }) + closing;
  }

  end(): string {
    const { outputTokens: output_tokens } = this.#plan.usage;
    const delta = { stop_reason: STOP[this.#plan.finish], stop_sequence: null };
    return named({ type: "message_delta", delta, usage: { output_tokens } }) + named({ type: "message_stop" });
  }

  fail(error: "overloaded" | "server"): string {
    const { type, message } = ERRORS[error];
    return named({ type: "error", error: { type, message } });
  }
}

function named(data: JsonObject & { readonly type: string }): string {
  return event(data, data.type);
}

function blockBegun(piece: ScriptedPiece): PlannedBlock {
  const { id, name } = piece.kind === "tool-call" ? piece : { id: "", name: "" };
  return { kind: piece.kind, text: "", id, name };
}

function blockOf({ kind, text: said, id, name }: PlannedBlock): JsonObject {
  switch (kind) {
    case "reasoning":
      return { type: "thinking", thinking: said, signature: said === "" ? "" : SIGNATURE };
    case "text":
      return { type: "text", text: said };
    case "tool-call":
      return { type: "tool_use", id, name, input: said === "" ? {} : (JSON.parse(said) as unknown) };
  }
}

function deltaOf({ kind, delta }: ScriptedPiece): JsonObject {
  switch (kind) {
    case "reasoning":
      return { type: "thinking_delta", thinking: delta };
    case "text":
      return { type: "text_delta", text: delta };
    case "tool-call":
      return { type: "input_json_delta", partial_json: delta };
  }
}

function messageHead({ number, modelId }: ResponseHead): JsonObject {
  return { id: `msg_${number}`, type: "message", role: "assistant", model: modelId };
}

/** Anthropic counts cached input apart from the rest. */
function inputUsage({ usage }: ScriptedPlan): JsonObject {
  return {
    input_tokens: usage.inputTokens - usage.cachedInputTokens - usage.cacheWriteTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens,
    cache_read_input_tokens: usage.cachedInputTokens,
    service_tier: "standard",
  };
}

const ERRORS: Readonly<
  Record<ScriptedError, { readonly status: number; readonly type: string; readonly message: string }>
> = {
  "rate-limited": {
    status: 429,
    type: "rate_limit_error",
    message: "This request would exceed your organization's rate limit of 50 requests per minute.",
  },
  quota: {
    status: 402,
    type: "billing_error",
    message: "Your credit balance is too low to access the API.",
  },
  server: { status: 500, type: "api_error", message: "Internal server error" },
  overloaded: { status: 529, type: "overloaded_error", message: "Overloaded" },
  "context-length": {
    status: 400,
    type: "invalid_request_error",
    message: "prompt is too long: 214783 tokens > 200000 maximum",
  },
  "invalid-key": { status: 401, type: "authentication_error", message: "invalid x-api-key" },
  "bad-request": {
    status: 400,
    type: "invalid_request_error",
    message: "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for this model",
  },
  "content-filter": {
    status: 400,
    type: "invalid_request_error",
    message: "Output blocked by content filtering policy",
  },
};
