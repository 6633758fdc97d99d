// OpenAI's chat completions. Reasoning is not told in this format, only counted.

import type { ScriptedPlan } from "@perdure/agents";
import { openAiError, openAiFailure } from "./openai-errors.ts";
import {
  blocksOf,
  count,
  event,
  type JsonObject,
  list,
  type ResponseHead,
  roleOf,
  text,
  textIn,
  type WireFormat,
} from "./wire.ts";

const FINISH: Readonly<Record<ScriptedPlan["finish"], string>> = {
  stop: "stop",
  length: "length",
  "content-filter": "content_filter",
  "tool-calls": "tool_calls",
};

export const openAiChat: WireFormat = {
  api: "openai-chat",
  path: "/chat/completions",
  read: (body) => ({
    modelId: text(body["model"]),
    streaming: body["stream"] === true,
    messages: list(body["messages"]).map(({ role, content }) => ({ role: roleOf(role), text: textIn(content) })),
    tools: list(body["tools"]).map((tool) => text((tool["function"] as JsonObject | undefined)?.["name"])),
    maxOutputTokens: count(body["max_completion_tokens"] ?? body["max_tokens"]),
  }),
  writer: (plan, head) => {
    const chunk = (delta: JsonObject, finish: string | null = null) =>
      event({ ...chunkHead(head), choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }], usage: null });
    return {
      begin: () => chunk({ role: "assistant", content: "", refusal: null }),
      piece: (piece) => {
        if (piece.kind !== "tool-call") return piece.kind === "text" ? chunk({ content: piece.delta }) : "";
        const { index, id, name, delta } = piece;
        const opening = { index, id, type: "function", function: { name, arguments: "" } };
        const first = piece.isFirst ? chunk({ tool_calls: [opening] }) : "";
        return first + chunk({ tool_calls: [{ index, function: { arguments: delta } }] });
      },
      end: () => {
        const options = head.request["stream_options"] as JsonObject | undefined;
        const usage = event({ ...chunkHead(head), choices: [], usage: usageOf(plan) });
        return `${chunk({}, FINISH[plan.finish])}${options?.["include_usage"] === true ? usage : ""}data: [DONE]\n\n`;
      },
      fail: (error) => {
        const { message, type, code } = openAiError(error);
        return event({ error: { message, type, param: null, code } });
      },
    };
  },
  whole: (plan, head) => {
    const blocks = blocksOf(plan);
    const calls = blocks.filter(({ kind }) => kind === "tool-call");
    const said = blocks.find(({ kind }) => kind === "text")?.text ?? null;
    const toolCalls = calls.map(({ id, name, text: input }) => ({
      id,
      type: "function",
      function: { name, arguments: input },
    }));
    const message = { role: "assistant", content: said, refusal: null, annotations: [] };
    const withCalls = calls.length === 0 ? message : { ...message, tool_calls: toolCalls };
    return {
      ...chunkHead(head),
      object: "chat.completion",
      choices: [{ index: 0, message: withCalls, logprobs: null, finish_reason: FINISH[plan.finish] }],
      usage: usageOf(plan),
    };
  },
  failure: openAiFailure,
};

function chunkHead({ number, modelId, createdAtSeconds }: ResponseHead): JsonObject {
  return {
    id: `chatcmpl-${number}`,
    object: "chat.completion.chunk",
    created: createdAtSeconds,
    model: modelId,
    service_tier: "default",
    system_fingerprint: "fp_scripted",
  };
}

function usageOf({ usage }: ScriptedPlan): JsonObject {
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedInputTokens, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoningTokens,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
