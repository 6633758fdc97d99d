// `ctx.fetch`: a request as a step of its own.

import type { DurationLike } from "@perdure/protocol";
import type { RetryOptions } from "./options.ts";

export interface FetchOptions {
  /** Default `GET`, or `POST` where there is a body. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text or bytes; anything else is sent as JSON. */
  readonly body?: unknown;
  /** The step's name. Default: method, host and path. */
  readonly name?: string;
  readonly retry?: RetryOptions;
  /** A try that takes longer is aborted and counts as failed. */
  readonly timeout?: DurationLike;
  /** Ask once, and never blindly again: see the step's option of that name. */
  readonly atMostOnce?: boolean;
  /** Answers that count as a failed try. Default: 408, 429, 500, 502, 503 and 504, whose `Retry-After` is honoured. */
  readonly retryOn?: readonly number[];
}

/** An answer, whole and journaled: it is read as often as you like. */
export interface FetchResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly statusText: string;
  /** Where it came from, redirects followed. */
  readonly url: string;
  readonly headers: FetchHeaders;
  text(): Promise<string>;
  /** @throws SyntaxError where it is not JSON. */
  json<T = unknown>(): Promise<T>;
  bytes(): Promise<Uint8Array>;
}

export interface FetchHeaders extends Iterable<readonly [name: string, value: string]> {
  /** Whatever the case of the name. */
  get(name: string): string | null;
  has(name: string): boolean;
}
