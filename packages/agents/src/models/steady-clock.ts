// A clock that only goes forward
// ==============================
// The wall clock may be set back; windows and deadlines that trusted it would then stand still for as long. This one goes
// on from where it was. A clock that is set forward is believed: waiting less than needed does no lasting harm here.

export class SteadyClock {
  readonly #source: () => number;
  #last: number;
  #lost = 0;

  constructor(source: () => number) {
    this.#source = source;
    this.#last = source();
  }

  now(): number {
    const read = this.#source() + this.#lost;
    if (read < this.#last) this.#lost += this.#last - read;
    else this.#last = read;
    return this.#last;
  }
}
