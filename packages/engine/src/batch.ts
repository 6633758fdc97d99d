// A batch under decision: the view, the time, and what has been decided so far. The shared moves that commands are made
// of live in moves/; they all go through this object, so that every change of the view is also a mutation.

import { assert, type Entry, type Instant, type Run } from "@perdure/protocol";
import type { Action } from "./actions.ts";
import type { Environment } from "./environment.ts";
import type { Event, Refusal, Reply, Ticket } from "./events.ts";
import type { Limits } from "./limits.ts";
import type { Mutation } from "./store.ts";
import type { HotRun, Mutable, View } from "./view.ts";

/** Counters that outlive a batch; the loop owns them. */
export interface Counters {
  seq: number;
  arrival: number;
  /** Tokens of attempts. */
  attempt: number;
  /** Attempts that are live. */
  live: number;
  /** Runs that wait for room. */
  ready: number;
}

export class Batch {
  readonly view: View;
  readonly environment: Environment;
  readonly limits: Limits;
  readonly counters: Counters;
  readonly now: Instant;
  readonly mutations: Mutation[] = [];
  readonly actions: Action[] = [];
  /** Events that need more than was loaded; they go first in the next batch. */
  readonly deferred: Event[] = [];
  /** Attempts that this batch ends: they are not told of its entries, which may be gone with the run (L1). */
  readonly aborted: Set<number> = new Set();
  readonly #changed: HotRun[] = [];
  /** Places of the inserts in `mutations`; they are written as the runs are at the end of the batch. */
  readonly #inserts: Map<HotRun, number> = new Map();

  constructor(view: View, environment: Environment, limits: Limits, counters: Counters, now: Instant) {
    this.view = view;
    this.environment = environment;
    this.limits = limits;
    this.counters = counters;
    this.now = now;
  }

  /**
   * A new run. Its insert stands where the run was created: after the deletion of a former run of the same id, before the
   * entries, timers and waiters that refer to it.
   */
  insert(run: HotRun): void {
    this.#inserts.set(run, this.mutations.length);
    this.mutations.push({ type: "insertRun", run: run.record });
  }

  /** Marks the record as changed: it is written once, as it is at the end of the batch. */
  change(run: HotRun): Mutable<Run> {
    assert(!run.deleted, "a deleted run does not change");
    if (!run.dirty) {
      run.dirty = true;
      this.#changed.push(run);
    }
    return run.record;
  }

  append(run: HotRun, entry: Entry): void {
    assert(entry.index === run.entries + 1, "entries have consecutive indexes");
    run.entries = entry.index;
    if (entry.kind === "command") {
      assert(entry.id === run.commands + 1, "J1: commands stand in the journal in the order of their ids");
      run.commands = entry.id;
      if (run.attempt !== null) run.attempt.asked = entry.index;
    }
    this.mutations.push({ type: "appendEntry", run: run.record.seq, entry, commands: run.commands });
  }

  reply(ticket: Ticket, reply: Reply): void {
    this.actions.push({ type: "reply", ticket, reply });
  }

  refuse(ticket: Ticket, reason: Refusal, message: string): void {
    this.reply(ticket, { type: "refused", reason, message });
  }

  /** Writes the records of new and changed runs. */
  close(): readonly Mutation[] {
    for (const [run, place] of this.#inserts) this.mutations[place] = { type: "insertRun", run: { ...run.record } };
    for (const run of this.#changed) {
      run.dirty = false;
      if (!run.deleted && !run.fresh) this.mutations.push({ type: "updateRun", run: { ...run.record } });
    }
    return this.mutations;
  }
}
