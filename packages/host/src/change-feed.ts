// The change feed: everything that a commit changed, in order, for the event stream and for whoever watches.
//
// Changes are numbered from 1 within one start of the runtime; `<start>-<number>` is the id that a client sends back as
// `Last-Event-ID`. The newest ones stay in memory for clients that lost their connection; one that has been away for longer,
// or that comes from before a restart, is told to read anew (`reset`). Nothing is kept before somebody has subscribed, so an
// unwatched runtime pays nothing.

import type { Mutation, Observer } from "@perdure/engine";
import type { Entry, Instant, Run, RunId } from "@perdure/protocol";

export type Change =
  | { readonly type: "run"; readonly at: Instant; readonly run: Run; readonly created: boolean }
  | { readonly type: "entry"; readonly at: Instant; readonly seq: number; readonly entry: Entry }
  /** A queued run got its key's turn. */
  | { readonly type: "promoted"; readonly at: Instant; readonly run: RunId }
  | { readonly type: "deleted"; readonly at: Instant; readonly run: RunId }
  | { readonly type: "truncated"; readonly at: Instant; readonly run: RunId; readonly from: number }
  /** An image was taken, or one was named. */
  | {
      readonly type: "moment";
      readonly at: Instant;
      readonly seq: number;
      readonly entry: number;
      readonly name: string | null;
    }
  | {
      readonly type: "state";
      readonly at: Instant;
      readonly service: string;
      readonly key: string;
      readonly name: string | null;
    }
  | {
      readonly type: "promise";
      readonly at: Instant;
      readonly service: string;
      readonly key: string;
      readonly name: string;
    };

export interface NumberedChange {
  /** `<start>-<number>`. */
  readonly id: string;
  readonly change: Change;
}

export interface Subscription {
  /** The client has missed changes that are gone: it must read anew. */
  readonly reset: boolean;
  close(): void;
}

type Listener = (change: NumberedChange) => void;

const KEPT_CHANGES = 10_000;
/** How long changes are still gathered after the last subscriber has left. */
const LINGER_MS = 60_000;

export class ChangeFeed implements Observer {
  readonly #start: string;
  readonly #now: () => number;
  readonly #listeners = new Set<Listener>();
  #kept: NumberedChange[] = [];
  #number = 0;
  #leftAt = Number.NEGATIVE_INFINITY;

  constructor(start: string, now: () => number) {
    this.#start = start;
    this.#now = now;
  }

  /** @param after the id of the last change that was seen; absent: from now on. */
  subscribe(after: string | undefined, listener: Listener): Subscription {
    const missed = after === undefined ? [] : this.#after(after);
    for (const change of missed ?? []) listener(change);
    this.#listeners.add(listener);
    return {
      reset: missed === null,
      close: () => {
        this.#listeners.delete(listener);
        this.#leftAt = this.#now();
      },
    };
  }

  /** Id of the newest change. */
  get last(): string {
    return `${this.#start}-${this.#number}`;
  }

  #after(id: string): readonly NumberedChange[] | null {
    const match = /^(.+)-(\d+)$/.exec(id);
    if (match === null || match[1] !== this.#start) return null;
    const number = Number(match[2]);
    const oldest = this.#number - this.#kept.length;
    if (number < oldest || number > this.#number) return null;
    return this.#kept.slice(number - oldest);
  }

  committed(mutations: readonly Mutation[], now: Instant): void {
    if (this.#listeners.size === 0) {
      if (now - this.#leftAt > LINGER_MS) {
        // Nobody watches and nobody is expected back. The numbers go on, so that an old id is seen to be old.
        this.#number += mutations.length;
        if (this.#kept.length > 0) this.#kept = [];
        return;
      }
    }
    for (const mutation of mutations) {
      const change = changeOf(mutation, now);
      if (change === null) continue;
      this.#number += 1;
      const numbered = { id: `${this.#start}-${this.#number}`, change };
      this.#kept.push(numbered);
      for (const listener of this.#listeners) listener(numbered);
    }
    if (this.#kept.length > KEPT_CHANGES * 2) this.#kept = this.#kept.slice(-KEPT_CHANGES);
  }
}

/** Timers and waiters are the engine's own bookkeeping: what they do shows as entries and runs. */
function changeOf(mutation: Mutation, at: Instant): Change | null {
  switch (mutation.type) {
    case "insertRun":
      return { type: "run", at, run: mutation.run, created: true };
    case "updateRun":
      return { type: "run", at, run: mutation.run, created: false };
    case "appendEntry":
      return { type: "entry", at, seq: mutation.run, entry: mutation.entry };
    case "promoteRun":
      return { type: "promoted", at, run: mutation.id };
    case "deleteRun":
      return { type: "deleted", at, run: mutation.id };
    case "truncate":
      return { type: "truncated", at, run: mutation.id, from: mutation.from };
    case "addImage":
      return { type: "moment", at, seq: mutation.run, entry: mutation.info.entry, name: mutation.info.name };
    case "nameImage":
      return { type: "moment", at, seq: mutation.run, entry: mutation.entry, name: mutation.name };
    case "setState":
    case "clearState":
      return { type: "state", at, ...mutation.key, name: mutation.name };
    case "clearAllState":
      return { type: "state", at, ...mutation.key, name: null };
    case "setPromise":
      return { type: "promise", at, ...mutation.key, name: mutation.name };
    default:
      return null;
  }
}
