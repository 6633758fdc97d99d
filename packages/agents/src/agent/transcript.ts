// The transcript: the session's append-only log of what was said and done. Each item is stored once, in the stream
// `transcript` of the agent's key; the requests to models are derived from it and are stored nowhere.

import type { JSONValue, LanguageModelV4Content, LanguageModelV4FinishReason } from "@ai-sdk/provider";
import type { RunId } from "@perdure/sdk";
import type { Cost } from "../models/prices.ts";
import type { ChildNotice, MessagePolicy, Usage } from "./messages.ts";

export const TRANSCRIPT = "transcript";

export type TranscriptItem = MessageItem | AssistantItem | ToolItem | DecisionItem | CompactionItem | RestartItem;

/** Something was said to the agent; that the item is here is the receipt that it was *seen*. */
export interface MessageItem {
  readonly type: "message";
  /** The message's run. */
  readonly id: RunId;
  readonly text: string;
  readonly policy: MessagePolicy;
  readonly from?: string;
  readonly notice?: ChildNotice;
  readonly data?: JSONValue;
}

/** What a model answered. It is the result of the model call's step, and settled: it is never asked for again. */
export interface AssistantItem {
  readonly type: "assistant";
  /** Names the call in the stream `events`, where its tokens stand. */
  readonly call: string;
  readonly content: readonly LanguageModelV4Content[];
  readonly finish: LanguageModelV4FinishReason["unified"];
  readonly usage: Usage;
  readonly cost: Cost;
  /** `provider/model`: the one that answered, after fallbacks. */
  readonly model: string;
  /** It was interrupted: this is what had come by then. */
  readonly partial?: true;
}

export interface ToolItem {
  readonly type: "tool";
  readonly callId: string;
  readonly name: string;
  /** `interrupted`: it was stopped; what it had done by then is not known here. `unknown`: see the run. */
  readonly outcome: "ok" | "error" | "denied" | "interrupted";
  /** The whole result, also where the model is shown an excerpt. */
  readonly output: JSONValue;
}

/** A person decided on a tool call. */
export interface DecisionItem {
  readonly type: "decision";
  readonly approval: string;
  readonly callId: string;
  readonly decision: "approved" | "rejected" | "expired";
  readonly by?: string;
  readonly comment?: string;
  /** What was approved instead of what was asked. */
  readonly input?: JSONValue;
}

/** Items before `upTo` are told to models as this summary. They stay in the transcript. */
export interface CompactionItem {
  readonly type: "compaction";
  readonly summary: string;
  readonly upTo: number;
  /** Of making the summary. */
  readonly usage: Usage;
}

/** Items from `from` to here belong to work that was called off: models are not told of them. */
export interface RestartItem {
  readonly type: "restart";
  readonly from: number;
}
