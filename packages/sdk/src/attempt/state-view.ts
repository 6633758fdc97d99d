// The state of a key as its handler sees it: what was there when the attempt started, under what it wrote since.

import type { Payload } from "@perdure/protocol";

export class StateView {
  readonly #base: ReadonlyMap<string, Payload>;
  /** `null`: cleared. */
  readonly #written = new Map<string, Payload | null>();
  #clearedAll = false;
  #hasRecorded = true;

  constructor(base: ReadonlyMap<string, Payload>) {
    this.#base = base;
  }

  get(name: string): Payload | undefined {
    const written = this.#written.get(name);
    if (written !== undefined) return written ?? undefined;
    return this.#clearedAll ? undefined : this.#base.get(name);
  }

  /** The state was put back from an image: what was recorded since is not in it. */
  resume(): void {
    this.#hasRecorded = false;
  }

  /** @param isNew not recorded yet. The state that an attempt starts with has what is recorded. */
  set(name: string, value: Payload | null, isNew: boolean): void {
    if (isNew || !this.#hasRecorded) this.#written.set(name, value);
  }

  clearAll(isNew: boolean): void {
    if (!isNew && this.#hasRecorded) return;
    this.#written.clear();
    this.#clearedAll = true;
  }

  /** Sorted: the order of a map would depend on how the state came to be. */
  keys(): string[] {
    const names = new Set(this.#clearedAll ? [] : this.#base.keys());
    for (const [name, value] of this.#written) {
      if (value === null) names.delete(name);
      else names.add(name);
    }
    return [...names].sort();
  }
}
