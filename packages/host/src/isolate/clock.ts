// What a guest reads as the time, and how long it may run before it waits.

const NANOSECONDS = 1_000_000n;

export class Clock {
  interrupted = false;
  #ns = 0n;
  #deadline = 0;

  /** A turn begins. */
  begin(turnMs: number): void {
    this.#deadline = performance.now() + turnMs;
  }

  /** What the guest's clock shows from now on, since the epoch. */
  set(ms: number): void {
    this.#ns = BigInt(Math.trunc(ms)) * NANOSECONDS;
  }

  get ns(): bigint {
    return this.#ns;
  }

  /** True: the code has had its time. */
  isOver(): boolean {
    if (performance.now() > this.#deadline) this.interrupted = true;
    return this.interrupted;
  }
}
