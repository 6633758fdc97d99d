// Signals and awakeables of one attempt
// =====================================
// A signal goes to whoever has waited longest under its name, or is kept until somebody asks. Awakeables are signals
// under a number. Both are delivered in the order of the journal, so no command is needed to take one.

import type { Awaiting, Result, SignalEntry, SignalName } from "@perdure/protocol";
import { errorFromFailure } from "@perdure/protocol";
import { decode } from "../json.ts";
import { ignoreRejection } from "./promises.ts";

interface Waiter {
  readonly promise: Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Kept {
  readonly payload: Result;
  /** Its entry. */
  readonly index: number;
}

interface Channel {
  readonly kept: Kept[];
  readonly waiters: Waiter[];
}

export class Signals {
  readonly #channels = new Map<SignalName, Channel>();
  #waiting = 0;

  take(name: SignalName): Promise<unknown> {
    const channel = this.#channel(name);
    const waiter: Waiter = Promise.withResolvers<unknown>();
    const kept = channel.kept.shift();
    if (kept !== undefined) {
      settle(waiter, kept.payload);
    } else {
      channel.waiters.push(waiter);
      this.#waiting += 1;
    }
    return waiter.promise;
  }

  /** True: somebody waited for it. */
  deliver({ signal: name, payload, index }: SignalEntry): boolean {
    const channel = this.#channel(name);
    const waiter = channel.waiters.shift();
    if (waiter === undefined) {
      channel.kept.push({ payload, index });
      return false;
    }
    this.#waiting -= 1;
    settle(waiter, payload);
    return true;
  }

  /** Entries of signals that nobody has asked for, in order. Awakeables are not among them: their numbers are given out once. */
  get keptEntries(): readonly number[] {
    const entries: number[] = [];
    for (const [name, { kept }] of this.#channels)
      if (typeof name === "string") entries.push(...kept.map(({ index }) => index));
    return entries.sort((a, b) => a - b);
  }

  /** True: somebody waited. */
  cancel(error: unknown): boolean {
    if (this.#waiting === 0) return false;
    for (const channel of this.#channels.values()) {
      for (const waiter of channel.waiters.splice(0)) reject(waiter, error);
    }
    this.#waiting = 0;
    return true;
  }

  awaiting(): Awaiting[] {
    const list: Awaiting[] = [];
    for (const [signal, channel] of this.#channels) {
      if (channel.waiters.length > 0) list.push({ kind: "signal", signal });
    }
    return list;
  }

  #channel(name: SignalName): Channel {
    let channel = this.#channels.get(name);
    if (channel === undefined) {
      channel = { kept: [], waiters: [] };
      this.#channels.set(name, channel);
    }
    return channel;
  }
}

function settle(waiter: Waiter, payload: Result): void {
  if (payload.kind === "failure") {
    reject(waiter, errorFromFailure(payload.failure));
    return;
  }
  try {
    waiter.resolve(payload.kind === "void" ? undefined : decode(payload.value));
  } catch (error) {
    reject(waiter, error);
  }
}

function reject(waiter: Waiter, error: unknown): void {
  ignoreRejection(waiter.promise);
  waiter.reject(error);
}
