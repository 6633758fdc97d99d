// A transcript as UI messages, for the initial messages of `useChat`. The ids are those of the streams, so that an answer that
// is still being told takes the place of what is known of it.

import type { LanguageModelV4Content } from "@ai-sdk/provider";
import type { AssistantItem, DecisionItem, MessageItem, ToolItem, TranscriptItem } from "../agent/transcript.ts";
import { chatIdOf } from "./chat-message.ts";
import { asText, NOT_CALLED, readInput, sourceOrFile } from "./parts.ts";
import { answerId, type AgentUIMessage } from "./types.ts";

type Part = AgentUIMessage["parts"][number];

/** @param first the offset of the first item. Answers whose message stands before it are named by it. */
export function uiMessagesOf(items: readonly TranscriptItem[], first = 0): AgentUIMessage[] {
  const history = new History(first);
  const ends = new Map<string, ToolItem>();
  const decisions = new Map<string, DecisionItem>();
  for (const item of items) {
    if (item.type === "tool") ends.set(item.callId, item);
    if (item.type === "decision") decisions.set(item.callId, item);
  }
  for (const item of items) {
    switch (item.type) {
      case "message":
        history.message(item);
        break;
      case "assistant":
        history.add([{ type: "step-start" }, ...assistantParts(item, ends, decisions)]);
        break;
      case "compaction":
        history.add([{ type: "data-compaction", data: { upTo: item.upTo } }]);
        break;
      case "restart":
        history.add([{ type: "data-restart", data: { restarted: true } }]);
        break;
      case "tool":
      case "decision":
        break; // They stand with their calls.
    }
  }
  return history.messages;
}

class History {
  readonly messages: AgentUIMessage[] = [];
  #answer: AgentUIMessage | undefined = undefined;
  #next: Pick<AgentUIMessage, "id" | "metadata">;

  constructor(first: number) {
    this.#next = { id: `from-${first}` };
  }

  message({ id, text, policy, from, notice, data }: MessageItem): void {
    if (notice !== undefined || from === RUNTIME) {
      const said = from === undefined ? text : `[${from}]\n${text}`;
      this.add([{ type: "steering-message", id, parts: [{ type: "text", text: said }] }]);
      return;
    }
    const metadata = { run: id, policy, ...(from === undefined ? {} : { from }) };
    this.messages.push({ id: chatIdOf(data) ?? id, role: "user", metadata, parts: [{ type: "text", text }] });
    this.#answer = undefined;
    this.#next = { id: answerId(id), metadata: { run: id } };
  }

  add(parts: readonly Part[]): void {
    if (this.#answer === undefined) {
      this.#answer = { ...this.#next, role: "assistant", parts: [] };
      this.messages.push(this.#answer);
    }
    this.#answer.parts.push(...parts);
  }
}

/** Who says that an answer has not the form that is needed. */
const RUNTIME = "the runtime";

function assistantParts(
  { call, content, partial }: AssistantItem,
  ends: ReadonlyMap<string, ToolItem>,
  decisions: ReadonlyMap<string, DecisionItem>,
): Part[] {
  const all = new Map(ends);
  for (const part of content) if (part.type === "tool-result") all.set(part.toolCallId, providersItem(part));
  const parts = content.flatMap((part) => contentParts(part, partial === true, all, decisions));
  return partial === true ? [...parts, { type: "data-interrupted", id: call, data: { call } }] : parts;
}

function contentParts(
  part: LanguageModelV4Content,
  isPartial: boolean,
  ends: ReadonlyMap<string, ToolItem>,
  decisions: ReadonlyMap<string, DecisionItem>,
): Part[] {
  switch (part.type) {
    case "text":
    case "reasoning": {
      const { type, text, providerMetadata } = part;
      return [{ type, text, state: "done", ...(providerMetadata === undefined ? {} : { providerMetadata }) }];
    }
    case "source":
    case "file": {
      const shown = sourceOrFile(part);
      return shown === undefined ? [] : [shown];
    }
    case "tool-call": {
      const decision = decisions.get(part.toolCallId);
      const call = toolPart(part, isPartial, ends.get(part.toolCallId));
      return decision === undefined ? [call] : [call, approvalPart(part, decision)];
    }
    default:
      return [];
  }
}

/** The result of a tool that the provider ran itself stands in its answer. */
function providersItem({
  toolCallId: callId,
  toolName: name,
  result: output,
  isError,
}: Extract<LanguageModelV4Content, { type: "tool-result" }>): ToolItem {
  return { type: "tool", callId, name, outcome: isError === true ? "error" : "ok", output };
}

type ToolCall = Extract<LanguageModelV4Content, { type: "tool-call" }>;

function toolPart(
  { toolCallId, toolName, input: text, providerExecuted }: ToolCall,
  isPartial: boolean,
  end?: ToolItem,
): Part {
  const read = readInput(text);
  const marks = providerExecuted === true ? { providerExecuted } : {};
  const head = { type: `tool-${toolName}` as const, toolCallId, ...marks, input: read.ok ? read.input : read.text };
  if (end?.outcome === "ok") return { ...head, state: "output-available", output: end.output };
  if (end !== undefined) return { ...head, state: "output-error", errorText: asText(end.output) };
  if (isPartial) return { ...head, state: "output-error", errorText: NOT_CALLED };
  return { ...head, state: "input-available" };
}

function approvalPart({ toolName, input }: ToolCall, { approval, callId, decision, by }: DecisionItem): Part {
  const read = readInput(input);
  return {
    type: "data-approval",
    id: approval,
    data: {
      approval,
      callId,
      title: `${toolName}: ${input}`,
      tool: toolName,
      input: read.ok ? read.input : read.text,
      state: decision,
      ...(by === undefined ? {} : { by }),
    },
  };
}
