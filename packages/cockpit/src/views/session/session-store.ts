// The streams of one session, followed while somebody looks
// =========================================================
//   new ─▶ following ─▶ stopped
//
// C1. The transcript is kept from some offset to its end, without gaps and in order, each item once: whatever was told
//     twice, or by a page and the stream, counts once.
// C2. Whoever looks is told once per frame, however much came.
// C3. A session that was begun anew under its name, or whose items were trimmed, is read anew.

import type { StreamItemView, StreamPageAnswer, StreamReset } from "@perdure/protocol";
import { path, type ApiClient } from "../../api/client.ts";
import { createSignal, type Signal } from "../../api/signal.ts";
import { Follower, type FollowPace } from "../../live/follower.ts";
import type { SseMessage } from "../../live/sse-parser.ts";
import { NO_ACTIVITY, withEvents, type Activity } from "./activity.ts";
import { sessionEvent, transcriptItem, type SessionEvent, type Stored, type TranscriptItem } from "./items.ts";

export interface SessionSnapshot {
  readonly items: readonly Stored<TranscriptItem>[];
  readonly activity: Activity;
  /** There are older items than those that were read. */
  readonly hasEarlier: boolean;
  readonly isLoading: boolean;
  readonly error: Error | null;
}

export interface SessionStoreOptions {
  /** Calls it soon, and no sooner than the page can be drawn. */
  readonly schedule: (flush: () => void) => void;
  readonly pace?: FollowPace;
  /** Of the transcript, at first and with each step back. */
  readonly pageItems?: number;
  /** An offset that has to be among the first that are read. */
  readonly reach?: number;
}

type Api = Pick<ApiClient, "get" | "open">;

const PAGE_ITEMS = 300;
/** Some turns' worth: older events only say which sub-agent a tool call was. */
const EVENTS_BACK = 2_000;
/** So that what is asked for has something above it. */
const REACH_BEFORE = 10;
const EMPTY: SessionSnapshot = {
  items: [],
  activity: NO_ACTIVITY,
  hasEarlier: false,
  isLoading: true,
  error: null,
};

export class SessionStore {
  readonly snapshot: Signal<SessionSnapshot> = createSignal(EMPTY);
  readonly #api: Api;
  readonly #at: string;
  readonly #options: SessionStoreOptions;
  #followers: readonly Follower[] = [];
  #isStopped = false;
  #isScheduled = false;
  #newItems: Stored<TranscriptItem>[] = [];
  #newEvents: Stored<SessionEvent>[] = [];

  constructor(api: Api, agent: string, session: string, options: SessionStoreOptions) {
    this.#api = api;
    this.#at = path`/streams/${agent}/${session}/`;
    this.#options = options;
  }

  async start(): Promise<void> {
    try {
      const [transcript, events] = await Promise.all([this.#bounds("transcript"), this.#bounds("events")]);
      if (this.#isStopped) return;
      const newest = transcript.end - this.#pageItems;
      const { reach } = this.#options;
      const wanted = reach === undefined ? newest : Math.min(newest, reach - REACH_BEFORE);
      const from = Math.max(transcript.start, wanted);
      const isEmpty = transcript.end === from;
      this.snapshot.set({ ...EMPTY, hasEarlier: from > transcript.start, isLoading: !isEmpty });
      this.#follow("transcript", from, (items) => this.#newItems.push(...items.map(transcriptItem)));
      const eventsFrom = Math.max(events.start, events.end - EVENTS_BACK);
      this.#follow("events", eventsFrom, (items) => this.#newEvents.push(...items.map(sessionEvent)));
    } catch (error) {
      this.snapshot.set({ ...this.snapshot.get(), isLoading: false, error: error as Error });
    }
  }

  stop(): void {
    this.#isStopped = true;
    for (const follower of this.#followers) follower.stop();
    this.#followers = [];
  }

  /** There is reason to believe that the server is back. */
  retryNow(): void {
    for (const follower of this.#followers) follower.retryNow();
  }

  /** One page further back. */
  async loadEarlier(): Promise<void> {
    const first = this.snapshot.get().items[0]?.offset;
    if (first === undefined) return;
    const from = Math.max(0, first - this.#pageItems);
    const query = { follow: false, from, limit: first - from };
    const { items, start } = await this.#api.get<StreamPageAnswer>(`${this.#at}transcript`, { query });
    const before = this.snapshot.get();
    const older = items.filter(({ offset }) => offset < (before.items[0]?.offset ?? 0)).map(transcriptItem);
    this.snapshot.set({ ...before, items: [...older, ...before.items], hasEarlier: from > start });
  }

  get #pageItems(): number {
    return this.#options.pageItems ?? PAGE_ITEMS;
  }

  #bounds(name: string): Promise<StreamPageAnswer> {
    return this.#api.get(this.#at + name, { query: { follow: false, from: "end", limit: 1 } });
  }

  #follow(name: string, from: number, take: (items: readonly StreamItemView[]) => void): void {
    const follower = new Follower(this.#api, {
      ...this.#options.pace,
      path: this.#at + name,
      query: { from },
      onMessages: (messages) => {
        if (messages.some((message) => isReset(message, from))) return this.#again();
        take(messages.filter(({ event }) => event === "").map(({ data }) => JSON.parse(data) as StreamItemView));
        this.#request();
      },
    });
    this.#followers = [...this.#followers, follower];
    follower.start();
  }

  /** C3 */
  #again(): void {
    this.stop();
    this.#isStopped = false;
    this.#newItems = [];
    this.#newEvents = [];
    void this.start();
  }

  #request(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#options.schedule(() => {
      this.#isScheduled = false;
      if (!this.#isStopped) this.#flush();
    });
  }

  #flush(): void {
    const before = this.snapshot.get();
    const items = itemsAfter(before.items.at(-1)?.offset ?? -1, this.#newItems);
    const activity = withEvents(before.activity, this.#newEvents);
    this.#newItems = [];
    this.#newEvents = [];
    this.snapshot.set({
      ...before,
      items: items.length === 0 ? before.items : [...before.items, ...items],
      activity,
      isLoading: before.isLoading && items.length === 0,
    });
  }
}

/** C1 */
function itemsAfter(offset: number, told: readonly Stored<TranscriptItem>[]): readonly Stored<TranscriptItem>[] {
  let last = offset;
  return told.filter((item) => {
    const isNew = item.offset > last;
    if (isNew) last = item.offset;
    return isNew;
  });
}

/** Where a connection begins, the server may say that there is nothing before: that is no loss. */
function isReset({ event, data }: SseMessage, from: number): boolean {
  return event === "reset" && (JSON.parse(data) as StreamReset).start !== from;
}
