// Runs in status `running` that wait for room. Bounded: what does not fit is found again in the store, in order of seq.

import type { RunId } from "@perdure/protocol";
import type { Store } from "./store.ts";

const PAGE = 1_000;

export class ReadyList {
  readonly #store: Pick<Store, "running">;
  readonly #max: number;
  readonly #ids: Set<RunId> = new Set();
  #overflowed = true;
  #refilling = false;
  #closed = false;

  constructor(store: Pick<Store, "running">, max: number) {
    this.#store = store;
    this.#max = max;
  }

  get size(): number {
    return this.#ids.size;
  }

  /** There may be more in the store than the list holds. */
  get overflowed(): boolean {
    return this.#overflowed && !this.#refilling && !this.#closed;
  }

  get waiting(): boolean {
    return this.#ids.size > 0 || this.overflowed;
  }

  add(id: RunId): void {
    if (this.#closed) return;
    // Internal submissions cannot be refused, so the list takes somewhat more than outsiders may fill.
    if (this.#ids.size < this.#max * 2) this.#ids.add(id);
    else this.#overflowed = true;
  }

  take(count: number): RunId[] {
    if (this.#closed) return [];
    const taken: RunId[] = [];
    for (const id of this.#ids) {
      if (taken.length >= count) break;
      taken.push(id);
    }
    for (const id of taken) this.#ids.delete(id);
    return taken;
  }

  /** Reads the running runs that nobody holds, as many as fit. */
  async refill(isLive: (id: RunId) => boolean): Promise<void> {
    if (this.#refilling) return;
    this.#refilling = true;
    this.#overflowed = false;
    try {
      await this.#readPages(isLive);
    } finally {
      this.#refilling = false;
    }
  }

  async #readPages(isLive: (id: RunId) => boolean): Promise<void> {
    for (let after = 0; ; ) {
      const page = await this.#store.running(after, PAGE);
      for (const { id } of page) {
        if (isLive(id)) continue;
        if (this.#ids.size >= this.#max) {
          this.#overflowed = true;
          return;
        }
        this.#ids.add(id);
      }
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) return;
      after = last.seq;
    }
  }

  close(): void {
    this.#closed = true;
    this.#ids.clear();
  }
}
