// Calling other handlers: what the targets look like, typed from their definitions.

import type { RunId } from "@perdure/protocol";
import type { HandlerArguments, HandlerOutput } from "../definitions/handler.ts";

/** A run as seen from a handler. */
export interface RunHandle<T = unknown> {
  readonly id: RunId;
  /** Its output, once it has ended; its failure is thrown. */
  result(): Promise<T>;
  /** Its output if it is there already. */
  output(): Promise<RunOutput<T>>;
  /** Puts a message into the run, where `ctx.signal(name)` or `ctx.signals(name)` takes it. */
  signal(name: string, value?: unknown): void;
  /** Asks the run to cancel itself: what it waits for throws, and it may compensate. */
  cancel(): void;
}

export type RunOutput<T> = { readonly ready: true; readonly value: T } | { readonly ready: false };

/** The run behind a call. */
export interface ChildHandle {
  /** Known as soon as the call is journaled. */
  id(): Promise<RunId>;
  signal(name: string, value?: unknown): Promise<void>;
  cancel(): Promise<void>;
}

/** The answer of a call, with a handle on the run that gives it. */
export type CallPromise<T> = Promise<T> & { readonly handle: ChildHandle };

/** The handlers of a definition, to be called and awaited. */
export type Calls<H> = {
  readonly [K in keyof H]: (...input: HandlerArguments<H[K]>) => CallPromise<HandlerOutput<H[K]>>;
};
/** The handlers of a definition, to be started without waiting for them. The promise need not be awaited. */
export type Sends<H> = {
  readonly [K in keyof H]: (...input: HandlerArguments<H[K]>) => Promise<RunHandle<HandlerOutput<H[K]>>>;
};

/**
 * Handlers of a target that is known by its name only: nothing is known about them, as with `JSON.parse`. (An index
 * signature would make every handler possibly undefined.)
 */
// oxlint-disable-next-line typescript/no-explicit-any
export type UntypedCalls = any;
// oxlint-disable-next-line typescript/no-explicit-any
export type UntypedSends = any;
