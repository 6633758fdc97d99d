// From the transcript to the prompt of a request. Pure: the same items make the same prompt, so that a replayed turn asks what
// it asked before, and providers' prompt caches see the same beginning.
//
// What providers insist on and a transcript need not have is put right here: every tool call has its result in the message
// after it (one that was interrupted says so), and messages of the user that follow each other are one.

import type {
  JSONValue,
  LanguageModelV4Content,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultOutput,
} from "@ai-sdk/provider";
import type { AssistantItem, CompactionItem, MessageItem, ToolItem, TranscriptItem } from "./transcript.ts";

export interface ConversationOptions {
  readonly instructions: string;
  /** A tool's result that is longer is shown as an excerpt. */
  readonly resultCharsMax: number;
}

type AssistantContent = Extract<LanguageModelV4Message, { role: "assistant" }>["content"];
type ToolContent = Extract<LanguageModelV4Message, { role: "tool" }>["content"];

/** @param first the offset of `items[0]` in the transcript. */
export function promptOf(
  items: readonly TranscriptItem[],
  first: number,
  options: ConversationOptions,
): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Message[] = [];
  if (options.instructions !== "") prompt.push({ role: "system", content: options.instructions });
  const { told, summary } = visible(items, first);
  if (summary !== undefined) pushText(prompt, `What was said and done so far, in short:\n${summary}`);
  const results = new Map<string, ToolItem>();
  for (const item of told) if (item.type === "tool") results.set(item.callId, item);
  for (const item of told) {
    if (item.type === "message") pushText(prompt, messageText(item));
    else if (item.type === "assistant") pushAssistant(prompt, item, results, options);
  }
  return prompt;
}

/** What models are told: the items after the last compaction, without those that were called off. */
function visible(
  items: readonly TranscriptItem[],
  first: number,
): { readonly told: readonly TranscriptItem[]; readonly summary: string | undefined } {
  const hidden = new Set<number>();
  for (const [index, item] of items.entries())
    if (item.type === "restart") for (let offset = item.from; offset <= first + index; offset += 1) hidden.add(offset);
  const compaction = lastCompaction(items);
  const from = compaction?.upTo ?? first;
  return {
    told: items.filter((_, index) => first + index >= from && !hidden.has(first + index)),
    summary: compaction?.summary,
  };
}

/** One that tells of nothing that was called off later. */
function lastCompaction(items: readonly TranscriptItem[]): CompactionItem | undefined {
  let calledOffFrom = Number.POSITIVE_INFINITY;
  for (const item of items.toReversed()) {
    if (item.type === "restart") calledOffFrom = Math.min(calledOffFrom, item.from);
    if (item.type === "compaction" && item.upTo <= calledOffFrom) return item;
  }
  return undefined;
}

/** The first offset that requests need. */
export function contextStart(items: readonly TranscriptItem[], first: number): number {
  return lastCompaction(items)?.upTo ?? first;
}

function messageText({ text, from, notice }: MessageItem): string {
  if (notice !== undefined)
    return `[The sub-agent ${notice.child} (${notice.agent}) has ended: ${notice.outcome}]\n${text}`;
  return from === undefined ? text : `[From ${from}]\n${text}`;
}

function pushText(prompt: LanguageModelV4Message[], text: string): void {
  const last = prompt.at(-1);
  if (last?.role === "user") last.content.push({ type: "text", text });
  else prompt.push({ role: "user", content: [{ type: "text", text }] });
}

function pushAssistant(
  prompt: LanguageModelV4Message[],
  item: AssistantItem,
  results: ReadonlyMap<string, ToolItem>,
  options: ConversationOptions,
): void {
  const content = item.content.flatMap((part) => assistantPart(part, item.partial === true));
  if (content.length === 0) return;
  prompt.push({ role: "assistant", content });
  const answers: ToolContent = [];
  for (const part of content) {
    if (part.type !== "tool-call" || part.providerExecuted === true) continue;
    const { toolCallId, toolName } = part;
    const output = outputOf(results.get(toolCallId), options.resultCharsMax);
    answers.push({ type: "tool-result", toolCallId, toolName, output });
  }
  if (answers.length > 0) prompt.push({ role: "tool", content: answers });
}

/** The parts of an answer that go back to the model. Of a partial one, a tool call may be cut: it was not made. */
function assistantPart(part: LanguageModelV4Content, partial: boolean): AssistantContent {
  const options =
    "providerMetadata" in part && part.providerMetadata !== undefined ? { providerOptions: part.providerMetadata } : {};
  switch (part.type) {
    case "text":
      return part.text === "" ? [] : [{ type: "text", text: part.text, ...options }];
    case "reasoning":
      return partial ? [] : [{ type: "reasoning", text: part.text, ...options }]; // Its signature came at the end.
    case "tool-call": {
      if (partial) return [];
      const { toolCallId, toolName, providerExecuted } = part;
      const call = { type: "tool-call" as const, toolCallId, toolName, input: parsed(part.input), ...options };
      return [providerExecuted === undefined ? call : { ...call, providerExecuted }];
    }
    case "tool-result":
      return [
        {
          type: "tool-result",
          toolCallId: part.toolCallId,
          toolName: part.toolName,
          output: { type: "json", value: part.result },
          ...options,
        },
      ];
    default:
      return []; // Files, sources: for readers of the transcript.
  }
}

function parsed(text: string): unknown {
  try {
    return text.trim() === "" ? {} : JSON.parse(text);
  } catch {
    return { invalid: text }; // Providers want an object; the tool's result says what was wrong.
  }
}

function outputOf(item: ToolItem | undefined, charsMax: number): LanguageModelV4ToolResultOutput {
  if (item === undefined || item.outcome === "interrupted")
    return { type: "error-text", value: "It was interrupted and has no result." };
  if (item.outcome === "denied") return { type: "execution-denied", reason: textOf(item.output) };
  const shown = excerpt(item.output, charsMax, `; read_result with toolCallId "${item.callId}" reads them`);
  const isText = typeof shown === "string";
  if (item.outcome === "error")
    return isText ? { type: "error-text", value: shown } : { type: "error-json", value: shown };
  return isText ? { type: "text", value: shown } : { type: "json", value: shown };
}

export function textOf(value: JSONValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

const HEAD_SHARE = 0.75;

/** The value, or the beginning and the end of its text where that is long. */
export function excerpt(value: JSONValue, charsMax: number, how = ""): JSONValue {
  const text = textOf(value);
  if (text.length <= charsMax) return value;
  const head = Math.floor(charsMax * HEAD_SHARE);
  const left = text.length - charsMax;
  return `${text.slice(0, head)}\n[… ${left} of ${text.length} characters are left out${how} …]\n${text.slice(head + left)}`;
}
