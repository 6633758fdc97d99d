// Follows the events of a session, and of the sub-agents that it starts
// =====================================================================
// F1. Each event is told once, in order of its offset, also where the connection broke or the runtime was restarted.
// F2. Of a sub-agent those of the turn that it was started for are told, from its beginning, whenever it is heard of.
// F3. After `caughtUp` everything was told that was durable when it was called.

import type { AgentEvent } from "@perdure/agents";
import type { RunId, StreamItemView } from "@perdure/protocol";
import { eventStream } from "../api/event-stream.ts";
import type { Connection } from "../api/http.ts";
import { InterruptedError } from "../errors.ts";
import { eventsPath, type AgentSession, type SessionName } from "./agent-session.ts";

export interface FollowedEvent extends Omit<StreamItemView, "item"> {
  readonly source: SessionName;
  /** The sub-agent's name, where it is one. */
  readonly child: string | undefined;
  readonly event: AgentEvent;
}

export interface FollowerOptions {
  readonly connection: Connection;
  readonly session: AgentSession;
  onEvent(event: FollowedEvent): void;
  /** Events are gone that were not told yet. */
  onGap(): void;
  onLost(): void;
  onFailure(error: unknown): void;
}

/** Where to begin: with a turn, or with what comes. */
type Since = { readonly turn: RunId } | "now";

interface Followed {
  readonly source: SessionName;
  readonly child: string | undefined;
  /** Events before this turn's are not told. */
  awaited: RunId | undefined;
  /** The offset that comes next. */
  next: number;
  readonly waiting: Set<{ readonly end: number; readonly done: () => void }>;
  readonly over: AbortController;
}

export class Follower {
  readonly #options: FollowerOptions;
  readonly #stop: AbortController = new AbortController();
  readonly #followed: Map<string, Followed> = new Map();

  constructor(options: FollowerOptions) {
    this.#options = options;
  }

  /** Resolves when it is connected: what happens from then on is told. */
  async begin(source: SessionName, since: Since): Promise<void> {
    const from = since === "now" ? await this.#options.session.eventsEnd(source) : 0;
    const opened = Promise.withResolvers<void>();
    this.#follow(followed(source, undefined, since, from), opened.resolve).catch((error: unknown) => {
      opened.reject(error);
      this.#failed(error);
    });
    await opened.promise;
  }

  async caughtUp(): Promise<void> {
    const { session } = this.#options;
    // Those that are heard of meanwhile are waited for as well.
    for (let seen = -1; seen !== this.#followed.size; ) {
      seen = this.#followed.size;
      await Promise.all(
        [...this.#followed.values()].map(async (followed) => {
          const end = await session.eventsEnd(followed.source);
          if (followed.next >= end) return;
          const { promise, resolve } = Promise.withResolvers<void>();
          const waiting = { end, done: resolve };
          followed.waiting.add(waiting);
          followed.over.signal.addEventListener("abort", () => resolve(), { once: true });
          await promise;
          followed.waiting.delete(waiting);
        }),
      );
    }
  }

  close(): void {
    this.#stop.abort();
  }

  async #follow(followed: Followed, onOpen: () => void): Promise<void> {
    const { connection, onLost } = this.#options;
    this.#followed.set(nameOf(followed.source), followed);
    const signal = AbortSignal.any([connection.signal, this.#stop.signal, followed.over.signal]);
    const options = { query: { from: followed.next }, onOpen, onLost };
    for await (const { event, data } of eventStream({ ...connection, signal }, eventsPath(followed.source), options))
      this.#receive(followed, event, data);
  }

  /** That nobody listens any more is none. */
  #failed(error: unknown): void {
    if (!(error instanceof InterruptedError)) this.#options.onFailure(error);
  }

  #receive(followed: Followed, type: string, data: string): void {
    if (type === "reset") {
      const { start } = JSON.parse(data) as { readonly start: number };
      if (followed.next > 0) this.#options.onGap();
      followed.next = start;
      return;
    }
    const { item, ...place } = JSON.parse(data) as StreamItemView;
    if (place.offset < followed.next) return; // F1
    followed.next = place.offset + 1;
    this.#tell(followed, place, item as unknown as AgentEvent);
    for (const waiting of followed.waiting) if (waiting.end <= followed.next) waiting.done();
  }

  #tell(followed: Followed, place: Omit<StreamItemView, "item">, event: AgentEvent): void {
    const { awaited, source, child } = followed;
    if (awaited !== undefined) {
      if (event.type !== "turn-start" || event.turn !== awaited) return;
      followed.awaited = undefined;
    }
    this.#options.onEvent({ ...place, source, child, event });
    if (event.type === "child") this.#childBegan(event);
    if (event.type === "turn-end" && child !== undefined) {
      this.#followed.delete(nameOf(source)); // It has done what it was started for.
      followed.over.abort();
    }
  }

  /** F2. */
  #childBegan({ agent, key, child, run }: Extract<AgentEvent, { type: "child" }>): void {
    const source = { agent, session: key };
    if (this.#followed.has(nameOf(source))) return;
    const ignore = (): void => undefined;
    this.#follow(followed(source, child, { turn: run }, 0), ignore).catch((error: unknown) => this.#failed(error));
  }
}

const nameOf = ({ agent, session }: SessionName): string => `${agent}/${session}`;

function followed(source: SessionName, child: string | undefined, since: Since, next: number): Followed {
  const awaited = since === "now" ? undefined : since.turn;
  return { source, child, awaited, next, waiting: new Set(), over: new AbortController() };
}
