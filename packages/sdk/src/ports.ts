// What the SDK asks of its surroundings. Nothing in here reads a clock, draws a random number or sets a timer itself.

import type { DurationMs, Instant, RunId } from "@perdure/protocol";
import type { StepInfo } from "./context/options.ts";

/** `AbortSignal` where the program's types know it (Node, browsers), else as much of it as is needed. */
export type AbortSignalLike = typeof globalThis extends { readonly AbortSignal: { readonly prototype: infer S } }
  ? S
  : MinimalAbortSignal;

interface MinimalAbortSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: () => void, options?: { readonly once?: boolean }): void;
  removeEventListener(type: "abort", listener: () => void): void;
  throwIfAborted(): void;
}

export interface AbortControllerLike {
  readonly signal: AbortSignalLike;
  abort(reason?: unknown): void;
}

export type LogLevel = "debug" | "info" | "warn" | "error";

export interface LogRecord {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>> | undefined;
  readonly run: RunId;
  readonly service: string;
  readonly handler: string;
  readonly key: string | null;
}

/** Whose code is about to run. For guards and tracing that hosts put around it. */
export interface HandlerScope {
  readonly run: RunId;
  readonly service: string;
  readonly handler: string;
  readonly key: string | null;
}

export interface StepScope extends HandlerScope {
  readonly step: string;
  readonly command: number;
}

export interface FetchRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string | Uint8Array | null;
}

/** Plain JSON: it is journaled. The body is text where it is UTF-8. */
export interface FetchAnswer {
  readonly status: number;
  readonly statusText: string;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: { readonly text: string } | { readonly base64: string } | null;
}

export interface SdkPorts {
  now(): Instant;
  /** In [0, 1). For jitter only: user code draws from its own, replayable generator. */
  random(): number;
  /** Calls back once every microtask that is queued, or that those queue, has run. In Node: `process.nextTick`. */
  afterMicrotasks(callback: () => void): void;
  /**
   * Calls back once nothing at all is left to run in this turn of the event loop, ticks among it. In Node: `setImmediate`.
   * Asked only for code that says it uses ticks; without it `afterMicrotasks` has to do.
   */
  afterTicks?(callback: () => void): void;
  /** Calls back once, not before `ms` have passed; the function that it returns cancels. At most 2^31 - 1 ms are asked. */
  delay(ms: DurationMs, callback: () => void): () => void;
  createAbortController(): AbortControllerLike;
  /** Sends a request from within a step, and reads its answer to the end. Rejects where none came. */
  fetch?(request: FetchRequest, info: StepInfo): Promise<FetchAnswer>;
  log?(record: LogRecord): void;
  /** Calls `body` (at once, exactly once) inside whatever the host keeps around handler code. */
  runHandler?<T>(scope: HandlerScope, body: () => T): T;
  /** The same for the closures of steps. */
  runStep?<T>(scope: StepScope, body: () => T): T;
  /** Calls `begin` when the closure of a step may begin. Without it that is at once. */
  beginStep?(begin: () => void): void;
  /** Told before each entry of the journal is delivered: the time that it was written. */
  delivering?(at: Instant): void;
  /** Is the code that calls right now inside a step's closure? Without it only its synchronous part is known. */
  insideStep?(): boolean;
  /** There where code runs apart from its host: calls a function of the host's by name (`perdure#…`), within a step. */
  callHost?(target: string, args: readonly unknown[]): Promise<unknown>;
}
