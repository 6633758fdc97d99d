// Follows the events of a session, and of the sub-agents that it starts
// =====================================================================
// F1. Each event is told once, in order of its offset, also where the connection broke or the runtime was restarted.
// F2. Of a sub-agent those of the turn that it was started for are told, from its beginning, whenever it is heard of; what it
//     has said by the time its parent goes on is told before that.
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
  onBack(): void;
  onFailure(error: unknown): void;
}

/** Where to begin: with a turn, or with what comes. */
type Since = { readonly turn: RunId } | "now";

export class Follower {
  readonly #options: FollowerOptions;
  readonly #stop: AbortController = new AbortController();
  readonly #followed: Map<string, Followed> = new Map();
  /** Sub-agents by the tool calls that started them. */
  readonly #children: Map<string, Followed> = new Map();

  constructor(options: FollowerOptions) {
    this.#options = options;
  }

  /** Resolves when it is connected: what happens from then on is told. */
  async begin(source: SessionName, since: Since): Promise<void> {
    const from = since === "now" ? await this.#options.session.eventsEnd(source) : 0;
    const opened = Promise.withResolvers<void>();
    this.#follow(new Followed(source, undefined, since, from), opened.resolve).catch((error: unknown) => {
      opened.reject(error);
      this.#failed(error);
    });
    await opened.promise;
  }

  async caughtUp(): Promise<void> {
    // Those that are heard of meanwhile are waited for as well.
    for (let seen = -1; seen !== this.#followed.size; ) {
      seen = this.#followed.size;
      await Promise.all([...this.#followed.values()].map((followed) => this.#caughtUpWith(followed)));
    }
  }

  close(): void {
    this.#stop.abort();
  }

  async #caughtUpWith(followed: Followed): Promise<void> {
    await followed.hasTold(await this.#options.session.eventsEnd(followed.source));
  }

  async #follow(followed: Followed, onOpen: () => void): Promise<void> {
    const { connection, onLost, onBack } = this.#options;
    this.#followed.set(followed.name, followed);
    const signal = AbortSignal.any([connection.signal, this.#stop.signal, followed.over.signal]);
    const opened = (): void => {
      onBack();
      onOpen();
    };
    const options = { query: { from: followed.next }, onOpen: opened, onLost };
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
    const event = item as unknown as AgentEvent;
    followed.inOrder(async () => {
      if (event.type === "tool-end") await this.#childFirst(callIn(followed, event.callId));
      this.#tell(followed, place, event);
    });
  }

  /** F2. A sub-agent that is gone, or cannot be read, holds nobody up. */
  async #childFirst(call: string): Promise<void> {
    const child = this.#children.get(call);
    this.#children.delete(call);
    if (child === undefined || child.over.signal.aborted) return;
    await this.#caughtUpWith(child).catch((error: unknown) => this.#failed(error));
  }

  #tell(followed: Followed, place: Omit<StreamItemView, "item">, event: AgentEvent): void {
    const { source, child } = followed;
    if (followed.awaits(event)) this.#options.onEvent({ ...place, source, child, event });
    else return followed.told(place.offset);
    if (event.type === "child") this.#childBegan(followed, event);
    followed.told(place.offset);
    if (event.type !== "turn-end" || child === undefined) return;
    this.#followed.delete(followed.name); // It has done what it was started for.
    followed.end();
  }

  #childBegan(parent: Followed, event: Extract<AgentEvent, { type: "child" }>): void {
    const { agent, key, child, run, callId } = event;
    const followed = new Followed({ agent, session: key }, child, { turn: run }, 0);
    if (this.#followed.has(followed.name)) return;
    this.#children.set(callIn(parent, callId), followed);
    this.#follow(followed, () => undefined).catch((error: unknown) => {
      followed.end();
      this.#failed(error);
    });
  }
}

/** Calls have ids of their own in their session only. */
const callIn = ({ name }: Followed, callId: string): string => `${name} ${callId}`;

/** One session, and how far it was told of. */
class Followed {
  readonly source: SessionName;
  readonly child: string | undefined;
  readonly over: AbortController = new AbortController();
  /** The offset that is received next. */
  next: number;
  /** Events before this turn's are not told. */
  #awaited: RunId | undefined;
  #told: number;
  #telling: Promise<void> = Promise.resolve();
  readonly #waiting: Set<() => void> = new Set();

  constructor(source: SessionName, child: string | undefined, since: Since, next: number) {
    this.source = source;
    this.child = child;
    this.next = next;
    this.#told = next;
    this.#awaited = since === "now" ? undefined : since.turn;
  }

  get name(): string {
    return `${this.source.agent}/${this.source.session}`;
  }

  inOrder(tell: () => Promise<void>): void {
    this.#telling = this.#telling.then(tell);
  }

  /** Whether an event is to be told. */
  awaits(event: AgentEvent): boolean {
    if (event.type === "turn-start" && event.turn === this.#awaited) this.#awaited = undefined;
    return this.#awaited === undefined;
  }

  told(offset: number): void {
    this.#told = offset + 1;
    this.#wake();
  }

  end(): void {
    this.over.abort();
    this.#wake();
  }

  /** Resolves when all before `end` was told, or nothing will be told any more. */
  async hasTold(end: number): Promise<void> {
    while (this.#told < end && !this.over.signal.aborted)
      await new Promise<void>((resolve) => void this.#waiting.add(resolve));
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}
