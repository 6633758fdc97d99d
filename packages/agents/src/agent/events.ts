// The stream `events` of an agent: what a client shows while the agent works. Tokens are written from within the model call's
// step, so they come before it is settled; everything else is journaled. Old turns leave it (the transcript keeps what was
// said), so a client that has been away for longer reads the transcript anew.

import type { JSONValue, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { RunId } from "@perdure/sdk";
import type { AgentAnswer, Usage } from "./messages.ts";
import type { MessageItem } from "./transcript.ts";

export const EVENTS = "events";

export type AgentEvent =
  | { readonly type: "turn-start"; readonly turn: RunId }
  /** The agent has seen a message: as it stands in the transcript. */
  | MessageItem
  /** A try of a model call begins: what an earlier try of this call wrote is superseded, and is shown as such. */
  | { readonly type: "call-start"; readonly call: string; readonly attempt: string; readonly model: string }
  /** As the provider said it. */
  | { readonly type: "part"; readonly call: string; readonly attempt: string; readonly part: LanguageModelV4StreamPart }
  /** The try ended: `settled` is the transcript's; after `failed` another may follow. */
  | {
      readonly type: "call-end";
      readonly call: string;
      readonly attempt: string;
      readonly outcome: "settled" | "interrupted" | "failed";
      readonly error?: string;
    }

  /** Something that a tool reports while it works. */
  | { readonly type: "tool-progress"; readonly callId: string; readonly data: JSONValue }
  | {
      readonly type: "tool-end";
      readonly callId: string;
      readonly name: string;
      readonly outcome: "ok" | "error" | "denied" | "interrupted";
      /** The result, or the beginning of a large one. */
      readonly output: JSONValue;
      readonly excerpt?: true;
    }
  | {
      readonly type: "approval-asked";
      readonly approval: string;
      readonly callId: string;
      readonly title: string;
      readonly tool: string;
      readonly input: JSONValue;
    }
  | {
      readonly type: "approval-answered";
      readonly approval: string;
      readonly callId: string;
      readonly decision: "approved" | "rejected" | "expired";
      readonly by?: string;
    }
  | {
      readonly type: "child";
      readonly child: string;
      readonly agent: string;
      readonly key: string;
      readonly run: RunId;
      readonly callId: string;
    }
  | { readonly type: "budget-soft"; readonly budgets: readonly string[] }
  | { readonly type: "compaction"; readonly upTo: number }
  | { readonly type: "restart" }
  | {
      readonly type: "turn-end";
      readonly turn: RunId;
      readonly reason: AgentAnswer["reason"] | "failed" | "cancelled";
      readonly usage: Usage;
      readonly error?: string;
    };
