// An agent's conversation as the AI SDK's clients have it: which data parts and which metadata its messages carry.
//
// A UI message of the agent is what it says to one message: it goes from where that was seen to where the next one is, or to
// the end of the turn. What sub-agents tell stands in it as `steering-message` parts.

import type { JSONValue } from "@ai-sdk/provider";
import type { RunId } from "@perdure/sdk";
import type { UIMessage, UIMessageChunk } from "ai";
import type { AgentAnswer, MessagePolicy, Usage } from "../agent/messages.ts";

export interface AgentUIMetadata {
  /** The message's run; of what the agent says: the run that is answered. */
  readonly run: RunId;
  /** The run whose turn answers. */
  readonly turn?: RunId;
  /** How it ended. `continued`: with the next message, whose answer goes on. */
  readonly reason?: AgentAnswer["reason"] | "failed" | "cancelled" | "continued";
  /** Of the whole turn. */
  readonly usage?: Usage;
  readonly from?: string;
  readonly policy?: MessagePolicy;
}

// A type and no interface: the AI SDK wants an index signature.
export type AgentUIData = {
  /** Tries of a model call that were cut or failed. What they had said is no longer shown. */
  "attempt-failed": {
    readonly call: string;
    readonly attempts: number;
    /** Of the last one. */
    readonly model: string;
    readonly error?: string;
  };
  /** What the model was saying was cut short by a message, or by a person who stopped it. */
  interrupted: { readonly call: string };
  /** `POST /perdure/approvals/{id}` answers it. */
  approval: {
    readonly approval: string;
    readonly callId: string;
    readonly title: string;
    readonly tool: string;
    readonly input: JSONValue;
    readonly state: "open" | "approved" | "rejected" | "expired";
    readonly by?: string;
  };
  /** A message was seen. */
  receipt: { readonly run: RunId; readonly state: "accepted" | "seen" };
  "tool-progress": { readonly callId: string; readonly progress: JSONValue };
  /** A sub-agent was started by a tool call. */
  child: {
    readonly name: string;
    readonly agent: string;
    readonly key: string;
    readonly run: RunId;
    readonly callId: string;
  };
  /** Much of what these may use is used. */
  budget: { readonly budgets: readonly string[] };
  /** What was said before that offset of the transcript is told to the model in short. */
  compaction: { readonly upTo: number };
  /** What stands before this in the message was called off. */
  restart: { readonly restarted: true };
};

export type AgentUIMessage = UIMessage<AgentUIMetadata, AgentUIData>;
export type AgentUIChunk = UIMessageChunk<AgentUIMetadata, AgentUIData>;

/** The id of the UI message in which a message is answered. */
export function answerId(run: RunId): string {
  return `${run}.answer`;
}
