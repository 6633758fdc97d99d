// Messages to an agent, and its answers. A message is the input of a run of the agent's `send`, an answer the run's output.

import type { JSONValue } from "@ai-sdk/provider";
import type { RunId } from "@perdure/sdk";
import { z } from "zod";

/** What becomes of a message that arrives while the agent is at work. */
export type MessagePolicy =
  /** Seen before the next model call (default). */
  | "steer"
  /** Seen at once: the generation under way stops, its partial text is kept. */
  | "interrupt"
  /** Waits for a turn of its own. */
  | "queue"
  /** Waits, and shares its turn with the other collected messages. */
  | "collect"
  /** Cancels what is under way with all its sub-agents, and starts anew with this message. */
  | "restart";

export interface AgentMessage {
  readonly text: string;
  readonly policy?: MessagePolicy;
  /** Who says it, for people and the transcript. Absent: the user. */
  readonly from?: string;
  /** What a sub-agent's end is told by, rather than a person's words. */
  readonly notice?: ChildNotice;
  /** Budgets that bind the sender, root first: they bind this agent's calls, too. */
  readonly budgets?: readonly string[];
  /** Anything that the sender's own code wants to find in the transcript. */
  readonly data?: JSONValue;
}

/** A sub-agent in the background has ended. */
export interface ChildNotice {
  readonly child: string;
  readonly agent: string;
  readonly run: RunId;
  readonly outcome: "answered" | "failed" | "cancelled";
}

export interface AgentAnswer {
  readonly text: string;
  /** The structured output, where the agent has a schema for it. */
  readonly output?: unknown;
  /** `answered`; `stopped` by a person; `steps`: the most model calls that a turn may have were made. */
  readonly reason: "answered" | "stopped" | "steps" | "restarted";
  readonly usage: Usage;
  /** The run whose turn answered: the message's own, or the one that it steered. */
  readonly turn: RunId;
}

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** `null`: the price of a call is not known. */
  readonly usd: number | null;
  readonly calls: number;
  /** Of an answer that was cut the provider does not say what it used: it was estimated. */
  readonly estimated?: true;
}

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, usd: 0, calls: 0 };

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    usd: a.usd === null || b.usd === null ? null : a.usd + b.usd,
    calls: a.calls + b.calls,
    ...(a.estimated === true || b.estimated === true ? { estimated: true as const } : {}),
  };
}

const messageSchema = z.strictObject({
  text: z.string(),
  policy: z.enum(["steer", "interrupt", "queue", "collect", "restart"]).exactOptional(),
  from: z.string().exactOptional(),
  notice: z
    .strictObject({
      child: z.string(),
      agent: z.string(),
      run: z.string().transform((run) => run as RunId),
      outcome: z.enum(["answered", "failed", "cancelled"]),
    })
    .exactOptional(),
  budgets: z.array(z.string()).exactOptional(),
  data: z.json().exactOptional(),
});

/** Accepted on the wire: a message, or its text alone. */
export const messageInput: z.ZodType<AgentMessage> = z
  .union([z.string(), messageSchema])
  .transform((input): AgentMessage => (typeof input === "string" ? { text: input } : input));

/** A message as it stands in somebody else's queue: checked there, when its run starts, so here it is read with care. */
export function readMessage(input: unknown): AgentMessage | undefined {
  const read = messageInput.safeParse(input);
  return read.success ? read.data : undefined;
}
