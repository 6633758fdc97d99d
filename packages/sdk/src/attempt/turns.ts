// Turns: when has the code of an attempt run as far as it can?
// ============================================================
// After something was delivered to an attempt, its code runs in microtasks until it waits again. Only then may it see
// the next notification (J3). One pass over the microtask queue is shared by all attempts that got something since the
// last, so that at high concurrency a turn costs an array element, not a trip through the event loop.
//
// T1. An attempt is told `drained()` only after all microtasks that its delivery caused, and those that these caused,
//     have run.
// T2. One whose code uses ticks is told only after those as well, and what they caused: it costs a turn of the event loop.
//     Node's web streams are such code (a branch of `tee` closes in a tick).
//
// The list is taken in a microtask and told after the queue has drained. Were it taken any later, then an attempt that
// is marked between the two (by somebody's `process.nextTick`, say) would be told too early.

export interface Drainable {
  readonly usesTicks: boolean;
  drained(): void;
}

type Later = (callback: () => void) => void;

export class Turns {
  readonly #afterMicrotasks: Later;
  readonly #afterTicks: Later;
  readonly #resolved: Promise<void> = Promise.resolve();
  #marked: Drainable[] = [];
  #spare: Drainable[] = [];
  readonly #take: () => void;

  constructor(afterMicrotasks: Later, afterTicks: Later = afterMicrotasks) {
    this.#afterMicrotasks = afterMicrotasks;
    this.#afterTicks = afterTicks;
    this.#take = () => {
      const taken = this.#marked;
      this.#marked = this.#spare;
      this.#spare = [];
      this.#afterMicrotasks(() => this.#tell(taken));
    };
  }

  mark(attempt: Drainable): void {
    if (this.#marked.push(attempt) === 1) void this.#resolved.then(this.#take);
  }

  #tell(taken: Drainable[]): void {
    for (const attempt of taken) {
      if (attempt.usesTicks)
        this.#afterTicks(() => attempt.drained()); // T2
      else attempt.drained();
    }
    taken.length = 0;
    this.#spare = taken;
  }
}
