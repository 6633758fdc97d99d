// How many isolates there may be at once: a bound on their memory, over all threads
// =================================================================================
//   asks ──▶ (room?) ──▶ admitted ──▶ left
//               │ no        ▲
//               └─▶ in line ┘  one that waits is let go for each that stands in line
//
// D1. The bytes of those that were admitted never exceed the bound, but for one: the first is admitted whatever it takes.
// D2. First come, first admitted.
// D3. Nobody stands in line for ever: what is admitted either ends, or comes to wait for something and can then be let go,
//     imaged. A parent that waits for its child makes room for it in that way.

export interface AdmissionOptions {
  readonly bytesMax: number;
  /** Told how many stand in line, whenever that changes: so many that wait should be let go. */
  readonly makeRoom: (count: number) => void;
}

interface InLine {
  readonly bytes: number;
  readonly enter: () => void;
  readonly left: () => boolean;
}

export class Admission {
  readonly #options: AdmissionOptions;
  readonly #line: InLine[] = [];
  #bytes = 0;
  #count = 0;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get count(): number {
    return this.#count;
  }

  get waiting(): number {
    return this.#line.length;
  }

  /** @param left who asked does not want it any more; looked at when its turn comes. */
  enter(bytes: number, left: () => boolean, enter: () => void): void {
    if (this.#line.length === 0 && this.#fits(bytes)) {
      this.#admit(bytes);
      enter();
      return;
    }
    this.#line.push({ bytes, enter, left });
    this.#options.makeRoom(this.#line.length);
  }

  leave(bytes: number): void {
    this.#bytes -= bytes;
    this.#count -= 1;
    const before = this.#line.length;
    for (let next = this.#line[0]; next !== undefined; next = this.#line[0]) {
      const gone = next.left();
      if (!gone && !this.#fits(next.bytes)) break;
      this.#line.shift();
      if (gone) continue;
      this.#admit(next.bytes);
      next.enter();
    }
    if (before > 0) this.#options.makeRoom(this.#line.length);
  }

  #fits(bytes: number): boolean {
    return this.#count === 0 || this.#bytes + bytes <= this.#options.bytesMax; // D1
  }

  #admit(bytes: number): void {
    this.#bytes += bytes;
    this.#count += 1;
  }
}
