// What a function of the host gives one after the other, as whoever called it reads it.

type Read = IteratorResult<unknown, undefined>;

const DONE: Read = { done: true, value: undefined };

export class HostItems implements AsyncIterableIterator<unknown, undefined> {
  readonly #waiting: PromiseWithResolvers<Read>[] = [];
  readonly #items: unknown[] = [];
  #end: { readonly error?: unknown } | undefined = undefined;

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Read> {
    if (this.#items.length > 0) return Promise.resolve({ done: false, value: this.#items.shift() });
    if (this.#end !== undefined) return "error" in this.#end ? Promise.reject(this.#end.error) : Promise.resolve(DONE);
    const reading = Promise.withResolvers<Read>();
    this.#waiting.push(reading);
    return reading.promise;
  }

  add(value: unknown): void {
    const reading = this.#waiting.shift();
    if (reading === undefined) this.#items.push(value);
    else reading.resolve({ done: false, value });
  }

  end(): this {
    this.#end = {};
    for (const reading of this.#waiting.splice(0)) reading.resolve(DONE);
    return this;
  }

  fail(error: unknown): void {
    this.#end = { error };
    for (const reading of this.#waiting.splice(0)) reading.reject(error);
  }
}
