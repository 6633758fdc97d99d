// `for await (const message of ctx.signals("inbox"))`
// While a `next()` is pending, another gives the same promise: `Promise.race([messages.next(), ctx.sleep("1h")])` in a
// loop would otherwise leave a taker behind with every turn, and messages would go to takers that nobody listens to.

export class SignalIterator<T> implements AsyncIterableIterator<T> {
  readonly #take: () => Promise<T>;
  #pending: Promise<IteratorResult<T>> | undefined = undefined;
  #done = false;

  constructor(take: () => Promise<T>) {
    this.#take = take;
  }

  next(): Promise<IteratorResult<T>> {
    if (this.#done) return Promise.resolve({ done: true, value: undefined });
    if (this.#pending !== undefined) return this.#pending;
    const pending = this.#take().then(
      (value): IteratorResult<T> => {
        this.#pending = undefined;
        return { done: false, value };
      },
      (error: unknown) => {
        this.#pending = undefined;
        throw error;
      },
    );
    pending.catch(() => {}); // Whoever asked last may have stopped listening when a cancel rejects it.
    this.#pending = pending;
    return pending;
  }

  return(): Promise<IteratorResult<T>> {
    this.#done = true;
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<T> {
    return this;
  }
}
