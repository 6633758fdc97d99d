// The JSON of the HTTP API, its part about agents: messages, sessions, approvals, the audit log, switches, budgets.

import type { JsonValue, InstantText, PayloadView, WaitView } from "./api.ts";
import type { RunId } from "./ids.ts";
import type { RunStatus } from "./run.ts";

/** How far a message to an agent is. */
export interface MessageReceipt {
  readonly runId: RunId;
  readonly accepted: true;
  /** It stands in the agent's transcript. */
  readonly seen: boolean;
  /** Its run has ended, with an answer or without: `GET /perdure/runs/{id}/output` says. */
  readonly answered: boolean;
  readonly status: RunStatus;
  /** Where it stands in the transcript. */
  readonly offset?: number;
}

export interface ApprovalSummary {
  readonly id: string;
  readonly state: "open" | "approved" | "rejected" | "expired" | "withdrawn";
  readonly kind: "tool" | "budget" | "custom";
  readonly title: string;
  readonly agent: string | null;
  readonly session: string | null;
  readonly tool: string | null;
  /** What will be done if it is approved. */
  readonly input: PayloadView;
  /** Names that may answer now; null: anyone who holds the id. */
  readonly approvers: readonly string[] | null;
  readonly askedAt: InstantText;
  readonly ageMs: number;
  readonly expiresAt: InstantText | null;
  /** The run of the question itself: its end is the answer. */
  readonly runId: RunId;
  /** The run that waits for the answer; null: it was asked from outside. */
  readonly askedBy: RunId | null;
  /** What helps to decide, as the asker put it. A budget's question says here whose it is. */
  readonly details: PayloadView;
  /** How it ended; null while it is open, and where it was withdrawn. */
  readonly decision: ApprovalDecisionView | null;
}

export interface ApprovalDecisionView {
  /** Absent where it expired. */
  readonly by?: string;
  readonly at: InstantText;
  readonly comment?: string;
  /** What was approved instead of what was asked. */
  readonly input?: PayloadView;
}

/** The answer to an approval; `input` goes with `approved` only. */
export interface ApprovalAnswerRequest {
  readonly decision: "approved" | "rejected";
  readonly by: string;
  readonly comment?: string;
  readonly input?: JsonValue;
}

export interface ApprovalPage {
  readonly approvals: readonly ApprovalSummary[];
  /** For `?cursor=`; null: this is the last page. */
  readonly nextCursor: number | null;
}

/** `?verify=true`: is the log what was recorded? */
export type AuditCheckAnswer =
  | { readonly chain: string; readonly ok: true; readonly count: number; readonly head: string }
  /** `at`: the entry from which on it cannot be trusted. */
  | { readonly chain: string; readonly ok: false; readonly at: number; readonly why: string };

/** What is said of the writes of an agent, by key: `*` all, `agent`, `agent/session`. */
export interface ControlView {
  readonly key: string;
  readonly writes: "allow" | "ask" | "deny";
  readonly by?: string;
  readonly reason?: string;
  readonly at?: InstantText;
}

export interface ControlsAnswer {
  readonly controls: readonly ControlView[];
}

export interface ControlChange {
  readonly key: string;
  readonly writes: "allow" | "ask" | "deny";
  readonly by: string;
  readonly reason?: string;
}

/** Adds to limits; what is absent stays. */
export interface BudgetRaiseRequest {
  readonly tokens?: number;
  readonly usd?: number;
  readonly wall?: string | number;
  readonly calls?: number;
  /** Models that may be called although their price is not known. */
  readonly models?: readonly string[];
  readonly by?: string;
  readonly comment?: string;
}

export interface AgentSummary {
  readonly name: string;
  readonly description: string | null;
  /** Sessions that have said or heard something, at most a thousand. */
  readonly sessions: number;
  /** Runs of messages that have not ended, at most a thousand. */
  readonly open: number;
}

export interface AgentsAnswer {
  readonly agents: readonly AgentSummary[];
}

export interface AgentSessionsPage {
  readonly sessions: readonly string[];
  /** For `?after=`; null: this is the last page. */
  readonly nextAfter: string | null;
}

/** One session in a few words: what it does now, and what it has used. */
export interface AgentSessionSummary {
  readonly agent: string;
  readonly session: string;
  /** `waiting`: it works, and what goes on is up to a person, a timer or another run. */
  readonly state: "idle" | "working" | "waiting" | "paused";
  /** The run that has the turn. */
  readonly turn: RunId | null;
  /** What the turn waits for. */
  readonly waits: readonly WaitView[];
  /** Messages that wait for a turn, or to be taken by the one that works. */
  readonly queued: number;
  /** Items in the transcript. */
  readonly items: number;
  /** When something was said or done last; null: nothing was yet. */
  readonly activeAt: InstantText | null;
  /** Of all model calls in the transcript, those of sub-agents not among them. */
  readonly usage: AgentUsageView;
}

export interface AgentUsageView {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly calls: number;
  /** Of the calls whose price is known. */
  readonly usd: number;
  /** Calls whose price is not known. */
  readonly unpriced: number;
}

export interface AgentSessionsAnswer {
  /** Those at work first, then by their last messages. */
  readonly sessions: readonly AgentSessionSummary[];
  /** For `?offset=`; null: these are all. */
  readonly nextOffset: number | null;
}

export interface AgentSessionView extends AgentSessionSummary {
  /** Messages that were accepted and not seen yet, oldest first, at most a hundred. */
  readonly pending: readonly PendingMessage[];
  readonly children: readonly {
    readonly name: string;
    readonly agent: string;
    readonly session: string;
    readonly runId: RunId;
    readonly background: boolean;
    /** Null: the run is gone. */
    readonly status: RunStatus | null;
  }[];
  readonly approvals: readonly ApprovalSummary[];
  /** As `GET /budgets/{id}` gives it; null: the agent has none. */
  readonly budget: { readonly id: string; readonly status: JsonValue } | null;
}

export interface PendingMessage {
  readonly runId: RunId;
  readonly text: string;
  readonly policy: AgentMessagePolicy;
  readonly from: string | null;
  readonly at: InstantText;
}

/** What becomes of a message that comes while the agent is at work. */
export type AgentMessagePolicy = "steer" | "interrupt" | "queue" | "collect" | "restart";

export interface AgentMessageRequest {
  readonly text: string;
  readonly policy?: AgentMessagePolicy;
  /** Who says it; absent: the user. */
  readonly from?: string;
}

/** Items from the offset `to` on are called off. It waits for the turn that works. */
export interface AgentRewindRequest {
  readonly to: number;
}

/** Items before `at` (default: all) are taken along to a session that does not exist yet. */
export interface AgentForkRequest {
  readonly to: string;
  readonly at?: number;
}
