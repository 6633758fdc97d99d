// For how long nothing has happened to something that is looked at now and then.

export class Stillness {
  #since = 0;
  #mark: number | null = null;

  /** @param mark grows with everything that happens; null: something goes on. */
  lasted(mark: number | null, now: number): number {
    if (mark === null || mark !== this.#mark) this.#since = now;
    this.#mark = mark;
    return now - this.#since;
  }
}
