// One session of an agent, spoken to over the ingress. What is sent carries a key of its own, so that it is sent once however
// often the connection breaks.

import { randomUUID } from "node:crypto";
import type {
  AgentAnswer,
  AgentMessage,
  AgentStatus,
  ApprovalAnswer,
  ApprovalView,
  MessagePolicy,
  TranscriptItem,
} from "@perdure/agents";
import type { RunId, StreamPageAnswer } from "@perdure/protocol";
import type { IngressClient, Outcome } from "../api/ingress-client.ts";
import { askJson } from "../api/http.ts";
import { patiently } from "./patience.ts";

export interface SessionName {
  readonly agent: string;
  readonly session: string;
}

/** The stream of what a client shows. */
export function eventsPath({ agent, session }: SessionName): string {
  return `/perdure/streams/${encodeURIComponent(agent)}/${encodeURIComponent(session)}/events`;
}

export class AgentSession {
  readonly name: SessionName;
  readonly #ingress: IngressClient;
  readonly #onAway: () => void;

  constructor(ingress: IngressClient, name: SessionName, onAway: () => void) {
    this.name = name;
    this.#ingress = ingress;
    this.#onAway = onAway;
  }

  /** Of the ingress. */
  get url(): string {
    return this.#ingress.connection.url;
  }

  /** Accepted, and durable: the agent gets to it whatever dies. */
  async send(text: string, policy?: MessagePolicy): Promise<RunId> {
    const message: AgentMessage = { text, ...(policy === undefined ? {} : { policy }) };
    const options = { input: JSON.stringify(message), idempotencyKey: `chat-${randomUUID()}` };
    const { runId } = await this.#patiently(() => this.#ingress.send(this.#target("send"), options));
    return runId;
  }

  /** How a message's run ended, however long that takes. */
  outcome(run: RunId): Promise<Outcome> {
    return this.#ingress.attach(run, this.#onAway);
  }

  async answer(run: RunId): Promise<AgentAnswer> {
    return resultOf<AgentAnswer>(await this.outcome(run));
  }

  stop(): Promise<{ readonly stopped: boolean }> {
    return this.#call(this.#target("stop"));
  }

  status(): Promise<AgentStatus> {
    return this.#call(this.#target("status"));
  }

  history(last: number): Promise<readonly TranscriptItem[]> {
    return this.#call(this.#target("history"), { last });
  }

  approval(id: string): Promise<ApprovalView> {
    return askJson(this.#ingress.connection, `/perdure/approvals/${encodeURIComponent(id)}`);
  }

  /** Not tried again by itself: after a second try nobody could say whose answer counted. */
  decide(id: string, answer: ApprovalAnswer): Promise<void> {
    return askJson(this.#ingress.connection, `/perdure/approvals/${encodeURIComponent(id)}`, {
      method: "POST",
      body: answer,
    });
  }

  /** The offset that the next event of a session gets. */
  async eventsEnd(name: SessionName): Promise<number> {
    const query = { from: "end", follow: false, limit: 1 };
    const page = await this.#patiently(() =>
      askJson<StreamPageAnswer>(this.#ingress.connection, eventsPath(name), { query }),
    );
    return page.end;
  }

  #target(handler: string): { readonly service: string; readonly key: string; readonly handler: string } {
    return { service: this.name.agent, key: this.name.session, handler };
  }

  async #call<T>(target: Parameters<IngressClient["send"]>[0], input?: unknown): Promise<T> {
    const options = {
      input: input === undefined ? undefined : JSON.stringify(input),
      idempotencyKey: `chat-${randomUUID()}`,
    };
    const { runId } = await this.#patiently(() => this.#ingress.send(target, options));
    return resultOf<T>(await this.outcome(runId));
  }

  #patiently<T>(ask: () => Promise<T>): Promise<T> {
    return patiently(ask, this.#ingress.connection.signal, this.#onAway);
  }
}

/** @throws the failure that a run ended with. */
function resultOf<T>(outcome: Outcome): T {
  if (outcome.kind === "failure") throw outcome.error;
  return (outcome.kind === "json" ? JSON.parse(outcome.text) : undefined) as T;
}
