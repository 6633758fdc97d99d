// A named promise of a workflow.

import type { WorkflowPromise } from "../context/context.ts";
import { encodeRejection, encodeResult } from "../json.ts";
import type { ReplayAttempt } from "./replay-attempt.ts";

export class WorkflowPromiseReference<T> implements WorkflowPromise<T> {
  readonly #attempt: ReplayAttempt;
  readonly #name: string;

  constructor(attempt: ReplayAttempt, name: string) {
    this.#attempt = attempt;
    this.#name = name;
  }

  get(): Promise<T> {
    return this.#attempt.request({ type: "getPromise", key: this.#name }) as Promise<T>;
  }

  peek(): Promise<T | undefined> {
    return this.#attempt.request({ type: "peekPromise", key: this.#name }) as Promise<T | undefined>;
  }

  resolve(value?: T): Promise<void> {
    const completion = encodeResult(value, `the value of promise "${this.#name}"`);
    return this.#attempt.request({ type: "completePromise", key: this.#name, completion }) as Promise<void>;
  }

  reject(reason: string | Error): Promise<void> {
    return this.#attempt.request({
      type: "completePromise",
      key: this.#name,
      completion: encodeRejection(reason),
    }) as Promise<void>;
  }
}
