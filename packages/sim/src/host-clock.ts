// The clock of one host: the world's time plus an offset that may jump, in both directions, as clocks that are set do.
// A wake-up comes when this clock has reached its instant, however often the clock jumped before (E6).

import type { Clock } from "@perdure/engine";
import type { Instant } from "@perdure/protocol";
import type { Agenda } from "./agenda.ts";

/** What the clocks show when the world begins. */
const BEGINNING: Instant = 1_800_000_000_000;

interface Wake {
  readonly at: Instant;
  readonly callback: () => void;
  cancel: () => void;
}

export class HostClock implements Clock {
  readonly #agenda: Agenda;
  readonly #wakes: Set<Wake> = new Set();
  #offset = 0;
  #latest: Instant = BEGINNING;

  constructor(agenda: Agenda) {
    this.#agenda = agenda;
  }

  now(): Instant {
    return BEGINNING + this.#agenda.tick + this.#offset;
  }

  wakeAt(at: Instant, callback: () => void): () => void {
    const wake: Wake = { at, callback, cancel: () => undefined };
    this.#wakes.add(wake);
    this.#plan(wake);
    return () => {
      this.#wakes.delete(wake);
      wake.cancel();
    };
  }

  #plan(wake: Wake): void {
    wake.cancel = this.#agenda.after(wake.at - this.now(), () => {
      this.#wakes.delete(wake);
      wake.callback();
    });
  }

  jump(byMs: number): void {
    this.#latest = Math.max(this.#latest, this.now());
    this.#offset += byMs;
    for (const wake of this.#wakes) {
      wake.cancel();
      this.#plan(wake);
    }
  }

  /** From now on `latest` counts: a batch begins. */
  mark(): void {
    this.#latest = this.now();
  }

  /** The latest instant that this clock has shown since the mark: no decision made since can have seen a later one. */
  get latest(): Instant {
    return Math.max(this.#latest, this.now());
  }

  /** The host died: nothing of it wakes up any more. */
  forget(): void {
    for (const wake of this.#wakes) wake.cancel();
    this.#wakes.clear();
  }
}
