// OpenAI's responses: a stream of named, numbered events about the items of the output.

import type { ScriptedPiece, ScriptedPlan } from "@perdure/agents";
import { openAiError, openAiFailure } from "./openai-errors.ts";
import {
  blocksOf,
  count,
  event,
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

export const openAiResponses: WireFormat = {
  api: "openai-responses",
  path: "/responses",
  read: (body) => ({
    modelId: text(body["model"]),
    streaming: body["stream"] === true,
    messages: list(body["input"]).map((item) => ({
      role: item["type"] === "function_call_output" ? "tool" : roleOf(item["role"]),
      text: textIn(item["content"] ?? item["output"] ?? ""),
    })),
    tools: list(body["tools"]).map((tool) => text(tool["name"])),
    maxOutputTokens: count(body["max_output_tokens"]),
  }),
  writer: (plan, head) => new ResponseWriter(plan, head),
  whole: (plan, head) => {
    const items = blocksOf(plan).map((block, index) => itemOf(block, index, head, "completed"));
    return responseOf(plan, head, items);
  },
  failure: openAiFailure,
};

class ResponseWriter implements StreamWriter {
  readonly #plan: ScriptedPlan;
  readonly #head: ResponseHead;
  readonly #blocks: readonly PlannedBlock[];
  #sequence = 0;
  #index = -1;

  constructor(plan: ScriptedPlan, head: ResponseHead) {
    this.#plan = plan;
    this.#head = head;
    this.#blocks = blocksOf(plan);
  }

  begin(): string {
    const response = responseOf(this.#plan, this.#head, undefined);
    return this.#event("response.created", { response }) + this.#event("response.in_progress", { response });
  }

  piece(piece: ScriptedPiece): string {
    if (piece.isFirst) this.#index += 1;
    const block = this.#blocks[this.#index];
    if (block === undefined) return "";
    const opening = piece.isFirst ? this.#open(block) : "";
    const closing = piece.isLast ? this.#close(block) : "";
    return opening + this.#event(DELTA[block.kind], { ...this.#part(block), delta: piece.delta }) + closing;
  }

  end(): string {
    const items = this.#blocks.map((block, index) => itemOf(block, index, this.#head, "completed"));
    const response = responseOf(this.#plan, this.#head, items);
    return this.#event(response["status"] === "completed" ? "response.completed" : "response.incomplete", { response });
  }

  fail(error: "overloaded" | "server"): string {
    const { message, type, code } = openAiError(error);
    return this.#event("error", { error: { type, code: code ?? type, message, param: null } });
  }

  #open(block: PlannedBlock): string {
    const item = withoutText(itemOf({ ...block, text: "" }, this.#index, this.#head, "in_progress"));
    const added = this.#event("response.output_item.added", { output_index: this.#index, item });
    if (block.kind === "tool-call") return added;
    const name = block.kind === "text" ? "response.content_part.added" : "response.reasoning_summary_part.added";
    return added + this.#event(name, { ...this.#part(block), part: partOf(block.kind, "") });
  }

  #close(block: PlannedBlock): string {
    const item = itemOf(block, this.#index, this.#head, "completed");
    const done = this.#event(DONE[block.kind], {
      ...this.#part(block),
      [block.kind === "tool-call" ? "arguments" : "text"]: block.text,
    });
    const partName = block.kind === "text" ? "response.content_part.done" : "response.reasoning_summary_part.done";
    const part =
      block.kind === "tool-call"
        ? ""
        : this.#event(partName, { ...this.#part(block), part: partOf(block.kind, block.text) });
    return done + part + this.#event("response.output_item.done", { output_index: this.#index, item });
  }

  /** Where in the output an event belongs. */
  #part(block: PlannedBlock): JsonObject {
    const place = { item_id: itemId(block, this.#index, this.#head), output_index: this.#index };
    if (block.kind === "text") return { ...place, content_index: 0 };
    return block.kind === "reasoning" ? { ...place, summary_index: 0 } : place;
  }

  #event(type: string, fields: JsonObject): string {
    const sequence_number = this.#sequence;
    this.#sequence += 1;
    return event({ type, sequence_number, ...fields }, type);
  }
}

type Kind = PlannedBlock["kind"];

const DELTA: Readonly<Record<Kind, string>> = {
  reasoning: "response.reasoning_summary_text.delta",
  text: "response.output_text.delta",
  "tool-call": "response.function_call_arguments.delta",
};
const DONE: Readonly<Record<Kind, string>> = {
  reasoning: "response.reasoning_summary_text.done",
  text: "response.output_text.done",
  "tool-call": "response.function_call_arguments.done",
};

function itemId({ kind }: PlannedBlock, index: number, { number }: ResponseHead): string {
  const prefix = kind === "reasoning" ? "rs" : kind === "text" ? "msg" : "fc";
  return `${prefix}_${number}_${index}`;
}

function itemOf(block: PlannedBlock, index: number, head: ResponseHead, status: string): JsonObject {
  const id = itemId(block, index, head);
  switch (block.kind) {
    case "reasoning":
      return { id, type: "reasoning", summary: [{ type: "summary_text", text: block.text }] };
    case "text":
      return { id, type: "message", status, role: "assistant", content: [partOf("text", block.text)] };
    case "tool-call":
      return { id, type: "function_call", status, call_id: block.id, name: block.name, arguments: block.text };
  }
}

/** An item begins without parts. */
function withoutText(item: JsonObject): JsonObject {
  if (item["type"] === "message") return { ...item, content: [] };
  return item["type"] === "reasoning" ? { ...item, summary: [] } : item;
}

function partOf(kind: Kind, said: string): JsonObject {
  return kind === "text"
    ? { type: "output_text", annotations: [], logprobs: [], text: said }
    : { type: "summary_text", text: said };
}

/** @param items the output; absent while it is in progress. */
function responseOf(plan: ScriptedPlan, head: ResponseHead, items: readonly JsonObject[] | undefined): JsonObject {
  const reasons: Readonly<Record<string, string>> = { length: "max_output_tokens", "content-filter": "content_filter" };
  const reason = items === undefined ? undefined : reasons[plan.finish];
  const ended = reason === undefined ? "completed" : "incomplete";
  return {
    id: `resp_${head.number}`,
    object: "response",
    created_at: head.createdAtSeconds,
    status: items === undefined ? "in_progress" : ended,
    error: null,
    incomplete_details: reason === undefined ? null : { reason },
    instructions: null,
    max_output_tokens: head.request["max_output_tokens"] ?? null,
    model: head.modelId,
    output: items ?? [],
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    service_tier: "default",
    store: head.request["store"] ?? true,
    text: { format: { type: "text" } },
    tool_choice: "auto",
    tools: [],
    truncation: "disabled",
    usage: items === undefined ? null : usageOf(plan),
    metadata: {},
  };
}

function usageOf({ usage }: ScriptedPlan): JsonObject {
  return {
    input_tokens: usage.inputTokens,
    input_tokens_details: { cached_tokens: usage.cachedInputTokens },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.inputTokens + usage.outputTokens,
  };
}
