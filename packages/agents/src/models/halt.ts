// What ends a call from outside: `abort` (it rejects) or `interrupt` (it resolves with what there is). Where both happened,
// the abort counts.

export type HaltKind = "aborted" | "interrupted";

export class Halt {
  readonly #abort: AbortSignal;
  readonly #interrupt: AbortSignal | undefined;

  constructor(abort: AbortSignal, interrupt: AbortSignal | undefined) {
    this.#abort = abort;
    this.#interrupt = interrupt;
  }

  get kind(): HaltKind | undefined {
    if (this.#abort.aborted) return "aborted";
    return this.#interrupt?.aborted === true ? "interrupted" : undefined;
  }

  /** Why it was aborted: what the call rejects with. */
  get reason(): unknown {
    return this.#abort.reason;
  }

  /** Calls back once, when either happens; at once where it has. @returns what stops that. */
  listen(callback: () => void): () => void {
    if (this.kind !== undefined) {
      callback();
      return () => undefined;
    }
    const signals = [this.#abort, this.#interrupt].filter((signal) => signal !== undefined);
    const stop = () => signals.forEach((signal) => signal.removeEventListener("abort", heard));
    const heard = () => {
      stop();
      callback();
    };
    for (const signal of signals) signal.addEventListener("abort", heard);
    return stop;
  }
}
