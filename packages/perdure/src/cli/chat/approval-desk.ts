// What waits for a yes or a no while a chat goes on: asked by the agent, by its sub-agents, and by its budget
// ===========================================================================================================
// The agent's own questions come with its events. The others are among the open approvals that the admin API lists, which
// are looked at whenever one of them changes; where the admin API cannot be reached they are left to whoever can.
//
// D1. A question is shown once, and the oldest is the one that is answered.

import type { ApprovalSummary } from "@perdure/protocol";
import type { AdminClient } from "../api/admin-client.ts";
import { InterruptedError } from "../errors.ts";
import type { AgentSession } from "./agent-session.ts";

export interface Question {
  readonly id: string;
  readonly title: string;
  /** What will be done if it is approved. */
  readonly input: unknown;
}

export interface ApprovalDeskOptions {
  readonly session: AgentSession;
  readonly admin: AdminClient;
  /** One more waits. */
  onAsked(question: Question): void;
  /** The oldest is another one, or there is none. */
  onTurn(question: Question | undefined): void;
}

const APPROVALS_SERVICE = "perdure.approvals";

export class ApprovalDesk {
  readonly #options: ApprovalDeskOptions;
  readonly #open: Map<string, Question> = new Map();
  /** Answered from here, or elsewhere: a list that was made before does not bring them back. */
  readonly #closed: Set<string> = new Set();
  readonly #stop: AbortController = new AbortController();
  #isLooking = false;
  #lookAgain = false;

  constructor(options: ApprovalDeskOptions) {
    this.#options = options;
  }

  get current(): Question | undefined {
    return this.#open.values().next().value;
  }

  get size(): number {
    return this.#open.size;
  }

  asked(question: Question): void {
    if (this.#open.has(question.id) || this.#closed.has(question.id)) return;
    this.#open.set(question.id, question);
    this.#options.onAsked(question);
    if (this.#open.size === 1) this.#options.onTurn(question);
  }

  closed(id: string): void {
    this.#closed.add(id);
    const wasCurrent = this.current?.id === id;
    if (this.#open.delete(id) && wasCurrent) this.#options.onTurn(this.current);
  }

  /** Keeps an eye on the others' until it is closed. */
  async watch(): Promise<void> {
    const { admin } = this.#options;
    try {
      const query = { service: APPROVALS_SERVICE };
      const onOpen = (): void => this.#look();
      for await (const _ of admin.events({ query, signal: this.#stop.signal, onOpen })) this.#look();
    } catch (error) {
      if (error instanceof InterruptedError) return;
      // The admin API is not for everybody: what the agent itself asks is known without it.
    }
  }

  close(): void {
    this.#stop.abort();
  }

  /** One look at a time; what changes meanwhile makes for another. */
  #look(): void {
    this.#lookAgain = true;
    if (!this.#isLooking) void this.#lookUntilSettled();
  }

  async #lookUntilSettled(): Promise<void> {
    this.#isLooking = true;
    while (this.#lookAgain && !this.#stop.signal.aborted) {
      this.#lookAgain = false;
      await this.#compare().catch(() => undefined); // The runtime went away: its return has it looked again.
    }
    this.#isLooking = false;
  }

  async #compare(): Promise<void> {
    const { approvals } = await this.#options.admin.approvals({ status: "open", limit: 200 });
    const listed = new Set(approvals.map(({ id }) => id));
    for (const id of [...this.#open.keys()]) if (!listed.has(id)) this.closed(id);
    for (const approval of approvals.toReversed())
      if (!this.#open.has(approval.id) && !this.#closed.has(approval.id) && (await this.#concernsUs(approval)))
        this.asked(questionOf(approval));
  }

  /** Sub-agents have their sessions below ours; a budget says in its details whose it is. */
  async #concernsUs({ id, kind, agent, session }: ApprovalSummary): Promise<boolean> {
    const { name } = this.#options.session;
    if (session !== null && session.startsWith(`${name.session}/`)) return true;
    if (agent !== null) return agent === name.agent && session === name.session;
    if (kind !== "budget") return false;
    const { request } = await this.#options.session.approval(id);
    const { budget } = Object(request.details) as { readonly budget?: unknown };
    const own = `${name.agent}/${name.session}`;
    return typeof budget === "string" && (budget === own || budget.includes(`/${name.session}/`));
  }
}

function questionOf({ id, title, agent, tool, input }: ApprovalSummary): Question {
  return { id, title: agent === null || tool === null ? title : toolQuestion(agent, tool), input };
}

/** Without the input, which is shown below it. */
export function toolQuestion(agent: string, tool: string): string {
  return `${agent} wants to use ${tool}`;
}
