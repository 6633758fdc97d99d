// The arguments of one call, told apart: data, and what is none. The call's signals are listened to until it ends.

import { stepInfoSource } from "../attempt/step-task.ts";
import { hostReference } from "./host-only.ts";
import type { AbortSignalLike } from "../ports.ts";
import type { WireHandle, WireReason, WireSignal } from "./wire.ts";

type Callback = (...args: readonly unknown[]) => unknown;
type Place = WireHandle["at"];

declare const AbortSignal: abstract new () => AbortSignalLike;

export class CallArguments {
  readonly plain: readonly unknown[];
  readonly handles: WireHandle[] = [];
  /** By their numbers. */
  readonly callbacks: Callback[] = [];
  readonly #fired: (signal: number, reason: WireReason) => void;
  readonly #release: (() => void)[] = [];
  #signals = 0;

  constructor(args: readonly unknown[], fired: (signal: number, reason: WireReason) => void) {
    this.#fired = fired;
    this.plain = args.map((arg, index) => this.#told(arg, [index]));
  }

  /** Nothing is listened to any more. */
  release(): void {
    for (const release of this.#release.splice(0)) release();
  }

  #told(arg: unknown, at: readonly [number]): unknown {
    if (this.#isHandle(arg, at)) return null;
    if (!isPlainObject(arg)) return arg;
    const entries = Object.entries(arg).filter(([property, value]) => !this.#isHandle(value, [at[0], property]));
    return Object.fromEntries(entries);
  }

  #isHandle(value: unknown, at: Place): boolean {
    const handle = this.#handleOf(value, at);
    if (handle !== undefined) this.handles.push(handle);
    return handle !== undefined;
  }

  #handleOf(value: unknown, at: Place): WireHandle | undefined {
    const reference = hostReference(value);
    if (reference !== undefined) return { at, kind: "value", reference };
    if (typeof value === "function")
      return { at, kind: "callback", callback: this.callbacks.push(value as Callback) - 1 };
    if (value instanceof AbortSignal) return { at, kind: "signal", signal: this.#signal(value) };
    const source = stepInfoSource(value);
    if (source === undefined) return undefined;
    const { attempt, idempotencyKey, signal } = source.info;
    return { at, kind: "info", command: source.command, attempt, idempotencyKey, signal: this.#signal(signal) };
  }

  #signal(signal: AbortSignalLike): WireSignal {
    const number = this.#signals;
    this.#signals += 1;
    if (signal.aborted) return { number, reason: reasonOf(signal) };
    const heard = (): void => this.#fired(number, reasonOf(signal));
    signal.addEventListener("abort", heard, { once: true });
    this.#release.push(() => signal.removeEventListener("abort", heard));
    return { number };
  }
}

function reasonOf({ reason }: { readonly reason: unknown }): WireReason {
  if (reason instanceof Error) return { name: reason.name, message: reason.message };
  return typeof reason === "string" ? { name: "AbortError", message: reason } : null;
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
