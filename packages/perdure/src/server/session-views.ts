// Sessions of agents, as people see them: what one does now and waits for, what it has used, what queues behind it.

import { BUDGETS, readMessage, type Session } from "@perdure/agents";
import {
  isFinished,
  type AgentSessionSummary,
  type AgentSessionView,
  type Instant,
  type JsonValue,
  type PendingMessage,
  type Run,
} from "@perdure/protocol";
import { openApprovals } from "./admin-approvals.ts";
import { readSession, turnOf, type AgentSession } from "./agent-runs.ts";
import type { ServedRuntime } from "./context.ts";
import { callHandler } from "./handler-call.ts";
import type { SessionUsage } from "./session-usage.ts";
import { instantText } from "./views.ts";
import { readJournalEnd, waitsOf } from "./waits.ts";

const COUNTED_MAX = 1_000;
const PENDING_SHOWN = 100;

export class SessionViews {
  readonly #runtime: ServedRuntime;
  readonly #usage: SessionUsage;

  constructor(runtime: ServedRuntime, usage: SessionUsage) {
    this.#runtime = runtime;
    this.#usage = usage;
  }

  async summary(owner: AgentSession): Promise<AgentSessionSummary> {
    const [turn, queued] = await Promise.all([turnOf(this.#runtime, owner), this.#queued(owner)]);
    return this.#summaryOf(owner, turn, queued);
  }

  async view(owner: AgentSession): Promise<AgentSessionView> {
    const [session, turn, queued, open] = await Promise.all([
      readSession(this.#runtime, owner),
      turnOf(this.#runtime, owner),
      this.#queued(owner),
      openApprovals(this.#runtime, Date.now(), COUNTED_MAX),
    ]);
    const [summary, children, budget] = await Promise.all([
      this.#summaryOf(owner, turn, queued),
      this.#childrenOf(session),
      this.#budgetOf(owner),
    ]);
    return {
      ...summary,
      pending: pendingOf(queued, session),
      children,
      approvals: open.filter(({ agent, session: key }) => agent === owner.service && key === owner.key),
      budget,
    };
  }

  /** Those that wait for the key's turn, oldest first. */
  #queued(owner: AgentSession): Promise<readonly Run[]> {
    const filter = { ...owner, handler: "send", status: ["queued"], order: "oldest", limit: COUNTED_MAX } as const;
    return this.#runtime.reader.runs(filter);
  }

  async #summaryOf(owner: AgentSession, turn: Run | undefined, queued: readonly Run[]): Promise<AgentSessionSummary> {
    const [{ next, lastAt, usage }, waits] = await Promise.all([this.#usage.of(owner), this.#waitsOf(turn)]);
    const activeAt = latest(lastAt, turn?.changedAt ?? null, queued.at(-1)?.createdAt ?? null);
    return {
      agent: owner.service,
      session: owner.key,
      state: stateOf(turn),
      turn: turn?.id ?? null,
      waits,
      queued: queued.length,
      items: next,
      activeAt: activeAt === null ? null : instantText(activeAt),
      usage,
    };
  }

  async #waitsOf(turn: Run | undefined): Promise<AgentSessionSummary["waits"]> {
    if (turn === undefined || isFinished(turn.status)) return [];
    const { reader } = this.#runtime;
    return waitsOf(reader, turn, this.#runtime.live(turn.id), await readJournalEnd(reader, turn.id));
  }

  async #childrenOf(session: Session | undefined): Promise<AgentSessionView["children"]> {
    const children = (session?.children ?? []).map(async ({ name, agent, key, run, background }) => {
      const found = await this.#runtime.reader.run(run);
      return { name, agent, session: key, runId: run, background, status: found?.status ?? null };
    });
    return Promise.all(children);
  }

  async #budgetOf({ service, key }: AgentSession): Promise<AgentSessionView["budget"]> {
    const id = `${service}/${key}`;
    const opened = await this.#runtime.reader.state({ service: BUDGETS, key: id });
    if (opened.size === 0) return null;
    return {
      id,
      status: await callHandler<JsonValue>(this.#runtime, { service: BUDGETS, key: id, handler: "status" }),
    };
  }
}

function stateOf(turn: Run | undefined): AgentSessionView["state"] {
  if (turn === undefined) return "idle";
  if (turn.status === "paused") return "paused";
  return turn.status === "running" ? "working" : "waiting";
}

/** What another turn has seen waits in the queue for its answer alone. */
function pendingOf(queued: readonly Run[], session: Session | undefined): readonly PendingMessage[] {
  const unseen = queued.filter(({ id }) => session?.taken[id] === undefined).slice(0, PENDING_SHOWN);
  return unseen.flatMap(({ id, input, createdAt }) => {
    const message = typeof input === "string" ? readMessage(JSON.parse(input)) : undefined;
    if (message === undefined || message.notice !== undefined) return [];
    const { text, policy = "steer", from = null } = message;
    return [{ runId: id, text, policy, from, at: instantText(createdAt) }];
  });
}

function latest(...instants: readonly (Instant | null)[]): Instant | null {
  return instants.reduce((one, other) => (one === null || (other !== null && other > one) ? other : one), null);
}
