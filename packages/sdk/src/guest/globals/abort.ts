// AbortController and AbortSignal.

import { tag } from "./define.ts";
import { Event, EventTarget, type Listener } from "./events.ts";
import { platformError } from "./platform-error.ts";
import { setTimeout } from "./timers.ts";

const KEY: unique symbol = Symbol("made by the platform");

export class AbortSignal extends EventTarget {
  #isAborted = false;
  #reason: unknown = undefined;
  #onabort: Listener | null = null;
  /** Those that `any` made of this one: they are aborted before anybody is told. */
  readonly #dependents: AbortSignal[] = [];
  /** What `any` made this one of, none of which was made by `any`. */
  #sources: readonly AbortSignal[] = [];

  constructor(key?: typeof KEY) {
    if (key !== KEY) throw new TypeError("Illegal constructor");
    super();
  }

  static abort(reason?: unknown): AbortSignal {
    const signal = new AbortSignal(KEY);
    signal.#settle(reason);
    return signal;
  }

  static timeout(ms: number): AbortSignal {
    const signal = new AbortSignal(KEY);
    setTimeout(() => signal._abort(platformError("The operation was aborted due to timeout", "TimeoutError")), ms);
    return signal;
  }

  static any(signals: Iterable<AbortSignal>): AbortSignal {
    const all = [...signals];
    const result = new AbortSignal(KEY);
    const aborted = all.find((signal) => signal.aborted);
    if (aborted !== undefined) {
      result.#settle(aborted.reason);
      return result;
    }
    result.#sources = all.flatMap((signal) => (signal.#sources.length === 0 ? signal : signal.#sources));
    for (const source of new Set(result.#sources)) source.#dependents.push(result);
    return result;
  }

  get aborted(): boolean {
    return this.#isAborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  get onabort(): Listener | null {
    return this.#onabort;
  }

  set onabort(listener: Listener | null) {
    if (this.#onabort !== null) this.removeEventListener("abort", this.#onabort);
    this.#onabort = typeof listener === "function" ? listener : null;
    if (this.#onabort !== null) this.addEventListener("abort", this.#onabort);
  }

  throwIfAborted(): void {
    if (this.#isAborted) throw this.#reason;
  }

  /** @internal */
  _abort(reason: unknown): void {
    if (this.#isAborted) return;
    this.#settle(reason);
    const told = this.#dependents.splice(0).filter((dependent) => !dependent.aborted);
    for (const dependent of told) dependent.#settle(this.#reason);
    this.dispatchEvent(new Event("abort"));
    for (const dependent of told) dependent.dispatchEvent(new Event("abort"));
  }

  #settle(reason: unknown): void {
    this.#isAborted = true;
    this.#reason = reason === undefined ? platformError("This operation was aborted", "AbortError") : reason;
  }
}

export class AbortController {
  readonly #signal: AbortSignal = new AbortSignal(KEY);

  get signal(): AbortSignal {
    return this.#signal;
  }

  abort(reason?: unknown): void {
    this.#signal._abort(reason);
  }
}

tag(AbortSignal, "AbortSignal");
tag(AbortController, "AbortController");
