// The conversation: the transcript with what happens now laid over it
// ===================================================================
// B1. Each item of the transcript is in exactly one block; results and decisions stand with their tool calls.
// B2. A call that is under way and the answer that it becomes are one block, so that nothing jumps when it settles.
// B3. What was called off (a restart, a rewind) is marked, and stays.
// B4. Messages that nobody has seen yet come last, each once: as soon as the transcript has one, it is no longer pending.

import type { InstantText, JsonValue, PendingMessage } from "@perdure/protocol";
import type { Activity, ChildLink, LiveCall } from "./activity.ts";
import type {
  AssistantItem,
  Content,
  DecisionItem,
  MessageItem,
  Stored,
  ToolItem,
  TranscriptItem,
  TurnEnd,
  Usage,
} from "./items.ts";

export interface ToolPart {
  readonly kind: "tool";
  readonly id: string;
  readonly name: string;
  readonly input: JsonValue;
  /** `writing`: the model still says with what; `none`: its turn is over, and there is no result. */
  readonly state: "writing" | "asks" | "running" | "ok" | "error" | "denied" | "interrupted" | "none";
  readonly output: JsonValue | undefined;
  readonly decision: DecisionItem | undefined;
  /** The approval that it asked for. */
  readonly approval: string | undefined;
  readonly child: ChildLink | undefined;
  /** What it reported last, while it runs. */
  readonly progress: JsonValue | undefined;
}

export type Part =
  | { readonly kind: "text" | "reasoning"; readonly id: string; readonly text: string }
  | ToolPart
  | { readonly kind: "source"; readonly id: string; readonly url: string; readonly title: string }
  | { readonly kind: "file"; readonly id: string; readonly mediaType: string };

export interface AnswerBlock {
  readonly kind: "answer";
  readonly key: string;
  /** Null while it is under way. */
  readonly offset: number | null;
  readonly at: InstantText;
  readonly parts: readonly Part[];
  readonly model: string;
  readonly usage: Usage | null;
  readonly state: "speaking" | "settled" | "partial" | "failed";
  /** Why its last try failed. */
  readonly error: string | null;
  readonly superseded: number;
  readonly isHidden: boolean;
}

interface MessageBlock {
  readonly kind: "message";
  readonly key: string;
  readonly offset: number;
  readonly at: InstantText;
  readonly message: MessageItem;
  readonly isHidden: boolean;
}

export type Block =
  | MessageBlock
  | AnswerBlock
  | { readonly kind: "pending"; readonly key: string; readonly message: PendingMessage }
  | {
      readonly kind: "compaction";
      readonly key: string;
      readonly offset: number;
      readonly at: InstantText;
      readonly summary: string;
      /** Items that models are told of in short from here on; those of earlier summaries not among them. */
      readonly dropped: number;
      readonly upTo: number;
      readonly isHidden: boolean;
    }
  | {
      readonly kind: "restart";
      readonly key: string;
      readonly offset: number;
      readonly at: InstantText;
      readonly from: number;
    }
  | { readonly kind: "turn-end"; readonly key: string; readonly at: InstantText; readonly end: TurnEnd }
  | {
      readonly kind: "unknown";
      readonly key: string;
      readonly offset: number;
      readonly at: InstantText;
      readonly json: JsonValue;
    };

export interface ConversationInput {
  /** In order, without gaps. */
  readonly items: readonly Stored<TranscriptItem>[];
  readonly activity: Activity;
  readonly pending: readonly PendingMessage[];
  /** A turn works, as the server says. */
  readonly isAtWork: boolean;
}

export function conversationOf(input: ConversationInput): readonly Block[] {
  const facts = factsOf(input);
  const blocks = withEnds(
    input.items.flatMap((stored) => blockOf(stored, facts) ?? []),
    input.activity.ends,
  );
  const live = input.activity.calls
    .filter(({ call }) => !facts.answered.has(call))
    .map((call) => liveBlock(call, facts));
  const pending = input.pending
    .filter(({ runId }) => !facts.seen.has(runId))
    .map((message): Block => ({ kind: "pending", key: `message/${message.runId}`, message }));
  return [...blocks, ...live, ...pending];
}

// What has to be known of the whole before one block can be made
// --------------------------------------------------------------

interface Facts {
  readonly activity: Activity;
  /** By tool call, as `callName` names it. */
  readonly results: ReadonlyMap<string, Pick<ToolItem, "outcome" | "output">>;
  readonly decisions: ReadonlyMap<string, DecisionItem>;
  /** By the id of a tool call: the answer that had it last. Some providers begin to count anew with each answer. */
  readonly owners: ReadonlyMap<string, string>;
  readonly answered: ReadonlySet<string>;
  readonly seen: ReadonlySet<string>;
  /** The last answer's call, where a turn works: its tools may still run. */
  readonly openCall: string | null;
  readonly isHidden: (offset: number) => boolean;
  /** By offset: up to where the summary before it reached. */
  readonly summarised: ReadonlyMap<number, number>;
}

const callName = (call: string | undefined, id: string): string => `${call ?? ""}/${id}`;

function factsOf({ items, activity, isAtWork }: ConversationInput): Facts {
  const owners = new Map<string, string>();
  const results = new Map<string, Pick<ToolItem, "outcome" | "output">>();
  const decisions = new Map<string, DecisionItem>();
  const answered = new Set<string>();
  const seen = new Set<string>();
  const calledOff: { readonly from: number; readonly to: number }[] = [];
  const summarised = new Map<number, number>();
  let upTo = 0;
  let last: string | null = null;
  for (const { offset, item } of items) {
    if (item.type === "tool") results.set(callName(owners.get(item.callId), item.callId), item);
    else if (item.type === "decision") decisions.set(callName(owners.get(item.callId), item.callId), item);
    else if (item.type === "message") seen.add(item.id);
    else if (item.type === "restart") calledOff.push({ from: item.from, to: offset });
    else if (item.type === "compaction") {
      summarised.set(offset, upTo);
      upTo = item.upTo;
    } else if (item.type === "assistant") {
      answered.add(item.call);
      last = item.call;
      for (const part of item.content) {
        if (part.type === "tool-call") owners.set(part.toolCallId, item.call);
        else if (part.type === "tool-result") {
          const outcome = part.isError === true ? "error" : "ok";
          results.set(callName(item.call, part.toolCallId), { outcome, output: part.result });
        }
      }
    }
  }
  const isHidden = (offset: number): boolean => calledOff.some(({ from, to }) => offset >= from && offset < to);
  const openCall = isAtWork || activity.turn !== null ? last : null;
  for (const { call, parts } of activity.calls)
    for (const { kind, id } of parts) if (kind === "tool" && !answered.has(call)) owners.set(id, call);
  return { activity, results, decisions, owners, answered, seen, openCall, isHidden, summarised };
}

function blockOf({ offset, at, item }: Stored<TranscriptItem>, facts: Facts): Block | null {
  const isHidden = facts.isHidden(offset);
  switch (item.type) {
    case "message":
      return { kind: "message", key: `message/${item.id}`, offset, at, message: item, isHidden };
    case "assistant":
      return answerBlock(item, offset, at, facts);
    case "compaction": {
      const { summary, upTo } = item;
      const dropped = upTo - (facts.summarised.get(offset) ?? 0);
      return { kind: "compaction", key: `item/${offset}`, offset, at, summary, dropped, upTo, isHidden };
    }
    case "restart":
      return { kind: "restart", key: `item/${offset}`, offset, at, from: item.from };
    case "unknown":
      return { kind: "unknown", key: `item/${offset}`, offset, at, json: item.json };
    case "tool":
    case "decision":
      return null; // B1
  }
}

// Answers
// -------

function answerBlock(item: AssistantItem, offset: number, at: InstantText, facts: Facts): AnswerBlock {
  const isPartial = item.partial === true;
  const isOpen = item.call === facts.openCall && !isPartial;
  return {
    kind: "answer",
    key: `call/${item.call}`,
    offset,
    at,
    parts: item.content.flatMap((part, index) => contentPart(part, index, item.call, isOpen, facts) ?? []),
    model: item.model,
    usage: item.usage,
    state: isPartial ? "partial" : "settled",
    error: null,
    superseded: 0,
    isHidden: facts.isHidden(offset),
  };
}

function contentPart(part: Content, index: number, call: string, isOpen: boolean, facts: Facts): Part | null {
  switch (part.type) {
    case "text":
    case "reasoning":
      return part.text === "" ? null : { kind: part.type, id: `${part.type} ${index}`, text: part.text };
    case "tool-call":
      return toolPart(
        { call, id: part.toolCallId, name: part.toolName, input: part.input },
        isOpen ? "running" : "none",
        facts,
      );
    case "source":
      return part.url === undefined
        ? null
        : { kind: "source", id: `source ${index}`, url: part.url, title: part.title ?? part.url };
    case "file":
      return { kind: "file", id: `file ${index}`, mediaType: part.mediaType };
    default:
      return null; // A result stands with its call.
  }
}

interface CalledTool {
  readonly call: string;
  readonly id: string;
  readonly name: string;
  /** As the model wrote it. */
  readonly input: string;
}

function toolPart(
  { call, id, name, input }: CalledTool,
  otherwise: "running" | "none" | "writing",
  { results, decisions, owners, activity }: Facts,
): ToolPart {
  const result = results.get(callName(call, id));
  const decision = decisions.get(callName(call, id));
  // Events tell of a tool call by its id alone: they speak of the newest one.
  const isNewest = owners.get(id) === call;
  const asked = isNewest ? activity.approvals.get(id) : undefined;
  const asks = otherwise === "running" && asked !== undefined && decision === undefined;
  return {
    kind: "tool",
    id,
    name,
    input: inputOf(input),
    state: result?.outcome ?? (asks ? "asks" : otherwise),
    output: result?.output,
    decision,
    approval: decision?.approval ?? asked,
    child: isNewest ? activity.children.get(id) : undefined,
    progress: result === undefined && isNewest ? activity.progress.get(id) : undefined,
  };
}

function liveBlock(call: LiveCall, facts: Facts): AnswerBlock {
  const otherwise = call.state === "speaking" ? "writing" : "running";
  return {
    kind: "answer",
    key: `call/${call.call}`,
    offset: null,
    at: call.at,
    parts: call.parts.map((part): Part => {
      const { kind, id, name, text } = part;
      return kind === "tool"
        ? toolPart({ call: call.call, id, name, input: text }, otherwise, facts)
        : { kind, id, text };
    }),
    model: call.model,
    usage: null,
    state: call.state === "interrupted" ? "partial" : call.state,
    error: call.error,
    superseded: call.superseded,
    isHidden: false,
  };
}

/** What is no JSON (yet) is shown as the text that it is. */
function inputOf(text: string): JsonValue {
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}

// Ends of turns
// -------------

/** Both streams tell when; a turn's end stands behind what was said by then. */
function withEnds(blocks: readonly Block[], ends: readonly Stored<TurnEnd>[]): readonly Block[] {
  const first = timeOf(blocks[0]);
  const known = ends.filter(({ at }) => first !== null && at >= first);
  const result: Block[] = [];
  let next = 0;
  for (const block of blocks) {
    const at = timeOf(block) ?? "";
    for (let end = known[next]; end !== undefined && end.at < at; end = known[next]) {
      result.push(endBlock(end));
      next += 1;
    }
    result.push(block);
  }
  return [...result, ...known.slice(next).map(endBlock)];
}

function timeOf(block: Block | undefined): InstantText | null {
  return block === undefined || block.kind === "pending" ? null : block.at;
}

function endBlock({ offset, at, item }: Stored<TurnEnd>): Block {
  return { kind: "turn-end", key: `end/${offset}`, at, end: item };
}
