// The two streams of a session, as far as the cockpit reads them: `transcript` (what was said and done) and `events` (what
// happens while it is). What a newer agent writes and this page does not know is kept as it is, and shown as data.

import type { AgentMessagePolicy, InstantText, JsonValue, RunId, StreamItemView } from "@perdure/protocol";

export interface Stored<T> {
  readonly offset: number;
  readonly at: InstantText;
  readonly item: T;
}

export interface MessageItem {
  readonly type: "message";
  /** The message's run. */
  readonly id: RunId;
  readonly text: string;
  readonly policy: AgentMessagePolicy;
  readonly from?: string;
  /** A sub-agent in the background has ended. */
  readonly notice?: {
    readonly child: string;
    readonly agent: string;
    readonly run: RunId;
    readonly outcome: "answered" | "failed" | "cancelled";
  };
}

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Null: the price is not known. */
  readonly usd: number | null;
  readonly calls: number;
}

export type Content =
  | { readonly type: "text" | "reasoning"; readonly text: string }
  /** `input` is the text that the model wrote: JSON, where it did well. */
  | { readonly type: "tool-call"; readonly toolCallId: string; readonly toolName: string; readonly input: string }
  /** Of a tool that the provider itself has carried out. */
  | {
      readonly type: "tool-result";
      readonly toolCallId: string;
      readonly result: JsonValue;
      readonly isError?: boolean;
    }
  | { readonly type: "source"; readonly url?: string; readonly title?: string }
  | { readonly type: "file"; readonly mediaType: string };

export interface AssistantItem {
  readonly type: "assistant";
  readonly call: string;
  readonly content: readonly Content[];
  readonly finish: string;
  readonly usage: Usage;
  readonly model: string;
  readonly partial?: true;
}

type ToolOutcome = "ok" | "error" | "denied" | "interrupted";

export interface ToolItem {
  readonly type: "tool";
  readonly callId: string;
  readonly name: string;
  readonly outcome: ToolOutcome;
  readonly output: JsonValue;
}

export interface DecisionItem {
  readonly type: "decision";
  readonly approval: string;
  readonly callId: string;
  readonly decision: "approved" | "rejected" | "expired";
  readonly by?: string;
  readonly comment?: string;
  readonly input?: JsonValue;
}

export type TranscriptItem =
  | MessageItem
  | AssistantItem
  | ToolItem
  | DecisionItem
  | { readonly type: "compaction"; readonly summary: string; readonly upTo: number }
  | { readonly type: "restart"; readonly from: number }
  | { readonly type: "unknown"; readonly json: JsonValue };

export interface TurnEnd {
  readonly type: "turn-end";
  readonly turn: RunId;
  readonly reason: "answered" | "stopped" | "steps" | "restarted" | "failed" | "cancelled";
  readonly usage: Usage;
  readonly error?: string;
}

/** What a provider says as it says it. */
export type StreamPart =
  | { readonly type: "text-start" | "text-end" | "reasoning-start" | "reasoning-end"; readonly id: string }
  | { readonly type: "text-delta" | "reasoning-delta"; readonly id: string; readonly delta: string }
  | { readonly type: "tool-input-start"; readonly id: string; readonly toolName: string }
  | { readonly type: "tool-input-delta"; readonly id: string; readonly delta: string }
  | { readonly type: "tool-input-end"; readonly id: string }
  | { readonly type: "tool-call"; readonly toolCallId: string; readonly toolName: string; readonly input: string };

export type SessionEvent =
  | { readonly type: "turn-start"; readonly turn: RunId }
  | { readonly type: "call-start"; readonly call: string; readonly attempt: string; readonly model: string }
  | { readonly type: "part"; readonly call: string; readonly attempt: string; readonly part: StreamPart }
  | {
      readonly type: "call-end";
      readonly call: string;
      readonly attempt: string;
      readonly outcome: "settled" | "interrupted" | "failed";
      readonly error?: string;
    }
  | { readonly type: "tool-progress"; readonly callId: string; readonly data: JsonValue }
  | { readonly type: "tool-end"; readonly callId: string }
  | { readonly type: "approval-asked"; readonly approval: string; readonly callId: string; readonly title: string }
  | { readonly type: "approval-answered"; readonly approval: string; readonly callId: string }
  | {
      readonly type: "child";
      readonly child: string;
      readonly agent: string;
      readonly key: string;
      readonly run: RunId;
      readonly callId: string;
    }
  | { readonly type: "budget-soft"; readonly budgets: readonly string[] }
  | TurnEnd;

const TRANSCRIPT_TYPES = new Set(["message", "assistant", "tool", "decision", "compaction", "restart"]);

export function transcriptItem({ offset, at, item }: StreamItemView): Stored<TranscriptItem> {
  const isKnown = TRANSCRIPT_TYPES.has(typeOf(item));
  return { offset, at, item: isKnown ? (item as unknown as TranscriptItem) : { type: "unknown", json: item } };
}

/** Types that nobody knows fall through wherever events are told apart. */
export function sessionEvent({ offset, at, item }: StreamItemView): Stored<SessionEvent> {
  return { offset, at, item: item as unknown as SessionEvent };
}

function typeOf(item: JsonValue): string {
  if (typeof item !== "object" || item === null || Array.isArray(item)) return "";
  const { type } = item as { readonly type?: JsonValue };
  return typeof type === "string" ? type : "";
}
