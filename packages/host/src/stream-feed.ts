// The stream feed: each item of a stream, once and in order, to whoever watches
// ============================================================================
// A watcher is first given what is stored, page by page, then what commits make durable.
//
//   reading ─▶ live ─▶ reading …      (any) ─▶ closed
//
// F1. A watcher has a cursor, the offset that it is given next; it only grows, and only by what was handed over.
// F2. A live watcher gets a commit's items as they are where they begin at its cursor. Anything else sends it back to
//     reading: a listener that is still busy, a gap (a commit of which nobody told), a trim.
// F3. Nothing is queued for a slow listener: what it misses is in the store.
//
// A stream that nobody watches costs nothing, and a commit while nobody watches anything costs one comparison.

import type { Mutation, StoreReader, StreamItem } from "@perdure/engine";
import { type StreamRef, streamText } from "@perdure/protocol";

/** Until its promise is fulfilled, a listener is given nothing more. */
export type StreamListener = (items: readonly StreamItem[]) => void | Promise<void>;

export interface StreamWatch {
  close(): void;
}

type State = "reading" | "live" | "closed";

interface Watcher {
  readonly stream: StreamRef;
  readonly listener: StreamListener;
  readonly failed: (error: unknown) => void;
  state: State;
  /** The offset that it is given next. */
  cursor: number;
  /** Something was appended since it began to read. */
  behind: boolean;
}

/** Items that are read from the store at once. */
const PAGE_ITEMS = 256;

export class StreamFeed {
  readonly #reader: Pick<StoreReader, "stream">;
  readonly #watchers = new Map<string, Set<Watcher>>();

  constructor(reader: Pick<StoreReader, "stream">) {
    this.#reader = reader;
  }

  /** @param failed told once, where the store cannot be read or the listener threw; the watch is closed then. */
  watch(stream: StreamRef, from: number, listener: StreamListener, failed: (error: unknown) => void): StreamWatch {
    const watcher: Watcher = { stream, listener, failed, state: "reading", cursor: from, behind: false };
    const text = streamText(stream);
    const others = this.#watchers.get(text);
    if (others === undefined) this.#watchers.set(text, new Set([watcher]));
    else others.add(watcher);
    void this.#read(watcher);
    return { close: () => this.#close(watcher) };
  }

  /** Commits may have been made of which nobody told: everybody looks again. */
  reread(): void {
    for (const watchers of this.#watchers.values()) for (const watcher of watchers) this.#lookAgain(watcher);
  }

  committed(mutations: readonly Mutation[]): void {
    if (this.#watchers.size === 0) return;
    for (const mutation of mutations) {
      if (mutation.type === "copyStream")
        for (const watcher of this.#watchers.get(streamText(mutation.to)) ?? []) this.#lookAgain(watcher);
      if (mutation.type !== "appendStream") continue;
      for (const watcher of this.#watchers.get(streamText(mutation.stream)) ?? []) this.#appended(watcher, mutation);
    }
  }

  #appended(watcher: Watcher, { from, items, writer, at }: Extract<Mutation, { type: "appendStream" }>): void {
    if (watcher.state !== "live" || watcher.cursor !== from) {
      this.#lookAgain(watcher);
      return;
    }
    const page = items.map((payload, i): StreamItem => ({ offset: from + i, at, writer, payload }));
    const busy = this.#give(watcher, page);
    if (busy === undefined) return;
    watcher.state = "reading"; // F3
    void busy.then(() => this.#read(watcher));
  }

  #lookAgain(watcher: Watcher): void {
    watcher.behind = true;
    if (watcher.state !== "live") return;
    watcher.state = "reading";
    void this.#read(watcher);
  }

  /** A promise where the listener is not done; it is always fulfilled. */
  #give(watcher: Watcher, items: readonly StreamItem[]): Promise<void> | undefined {
    const last = items.at(-1);
    if (last === undefined) return undefined;
    watcher.cursor = last.offset + 1; // F1
    try {
      return watcher.listener(items)?.catch((error: unknown) => this.#fail(watcher, error));
    } catch (error) {
      this.#fail(watcher, error);
      return undefined;
    }
  }

  /** Until there is nothing more, and nothing came meanwhile. */
  async #read(watcher: Watcher): Promise<void> {
    try {
      while (watcher.state === "reading") {
        watcher.behind = false;
        const { items } = await this.#reader.stream(watcher.stream, watcher.cursor, PAGE_ITEMS);
        if (watcher.state !== "reading") return;
        if (items.length > 0) await this.#give(watcher, items);
        else if (!watcher.behind) watcher.state = "live";
      }
    } catch (error) {
      this.#fail(watcher, error);
    }
  }

  #fail(watcher: Watcher, error: unknown): void {
    if (watcher.state === "closed") return;
    this.#close(watcher);
    watcher.failed(error);
  }

  #close(watcher: Watcher): void {
    watcher.state = "closed";
    const text = streamText(watcher.stream);
    const watchers = this.#watchers.get(text);
    if (watchers === undefined) return;
    watchers.delete(watcher);
    if (watchers.size === 0) this.#watchers.delete(text);
  }
}
