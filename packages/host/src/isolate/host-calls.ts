// Functions of host modules, called from isolates: the hands
// ===========================================================
// One call: its arguments are put together again (what is no data among them is named beside them), the function is run, and
// how it ended is what the guest is told. A step's `info` is like the one that a closure gets in-process.
//
// H1. Nothing is said for a call after its end, or after its attempt's.

import {
  type AttemptReplies,
  failureFrom,
  HostFunctionMissingError,
  isPerdureError,
  type Payload,
} from "@perdure/protocol";
import { encode, retryAfterMs, type StepInfo } from "@perdure/sdk/host-side";
import type { CallOutcome, CallWord, WireHandle, WireReason, WireSignal } from "@perdure/sdk/wire";

export type HostFunction = (...args: readonly unknown[]) => unknown;

/** By `module#export`. */
export type HostFunctions = ReadonlyMap<string, HostFunction>;

export interface HostCallRequest {
  readonly target: string;
  readonly args: readonly unknown[];
  readonly handles: readonly WireHandle[];
}

export interface HostCallPorts {
  readonly functions: HostFunctions;
  readonly values: ReadonlyMap<string, unknown>;
  readonly replies: Pick<AttemptReplies, "append">;
  /** To the guest, before the end. */
  readonly say: (said: CallWord) => void;
}

export class HostCall {
  readonly #request: HostCallRequest;
  readonly #ports: HostCallPorts;
  /** By the numbers of the call's signals. */
  readonly #controllers = new Map<number, AbortController>();
  #over = false;

  constructor(request: HostCallRequest, ports: HostCallPorts) {
    this.#request = request;
    this.#ports = ports;
  }

  /** Never rejects: how it ended is what the guest is told. */
  async run(): Promise<CallOutcome> {
    const { target } = this.#request;
    try {
      const fn = this.#ports.functions.get(target);
      if (fn === undefined) throw missing(this.#ports.functions, target);
      const value = await fn(...this.#arguments());
      return isAsyncIterable(value) ? await this.#pass(value) : { kind: "value", value: plain(value, target) };
    } catch (error) {
      return failed(error);
    } finally {
      this.#over = true;
    }
  }

  /** A signal of the guest's has fired. */
  fired(signal: number, reason: WireReason): void {
    this.#controllers.get(signal)?.abort(reason === null ? undefined : errorOf(reason));
  }

  /** Its attempt is over: it is told to stop, and not heard any more. */
  abort(reason: string): void {
    this.#over = true;
    for (const controller of this.#controllers.values()) controller.abort(new Error(reason));
  }

  async #pass(values: AsyncIterable<unknown>): Promise<CallOutcome> {
    for await (const value of values) {
      if (this.#over) break;
      this.#ports.say({ kind: "item", value: plain(value, this.#request.target) });
    }
    return { kind: "done" };
  }

  // Arguments
  // ---------

  #arguments(): readonly unknown[] {
    const args = [...this.#request.args];
    for (const handle of this.#request.handles) {
      const [index, property] = handle.at;
      const value = this.#valueOf(handle);
      if (property === undefined) args[index] = value;
      else (args[index] as Record<string, unknown>)[property] = value;
    }
    return args;
  }

  #valueOf(handle: WireHandle): unknown {
    switch (handle.kind) {
      case "signal":
        return this.#signal(handle.signal);
      case "value":
        return this.#ports.values.get(handle.reference);
      case "callback":
        return (...args: readonly unknown[]) => this.#callBack(handle.callback, args);
      case "info":
        return this.#info(handle);
      default:
        return handle satisfies never;
    }
  }

  #callBack(callback: number, args: readonly unknown[]): void {
    if (this.#over) return;
    this.#ports.say({ kind: "callback", callback, args: args.map((arg) => plain(arg, this.#request.target)) });
  }

  #signal({ number, reason }: WireSignal): AbortSignal {
    const controller = new AbortController();
    if (reason !== undefined) controller.abort(reason === null ? undefined : errorOf(reason));
    this.#controllers.set(number, controller);
    return controller.signal;
  }

  #info(wire: Extract<WireHandle, { readonly kind: "info" }>): StepInfo {
    const { command, attempt, idempotencyKey } = wire;
    const signal = this.#signal(wire.signal);
    return {
      idempotencyKey,
      attempt,
      signal,
      stream: (name) => ({
        write: (...items: readonly unknown[]) => {
          if (this.#over || signal.aborted) return;
          const payloads = items.map((item): Payload => encode(item, `an item of "${name}"`) ?? "null");
          this.#ports.replies.append(name, payloads, `${command}.${attempt}`);
        },
      }),
    };
  }
}

function failed(error: unknown): CallOutcome {
  const delayMs = retryAfterMs(error, Date.now());
  return {
    kind: "failure",
    failure: failureFrom(error),
    name: error instanceof Error ? error.name : "Error",
    ...(isPerdureError(error) ? { retry: error.retry } : {}),
    ...(delayMs === undefined ? {} : { retryAfterMs: delayMs }),
  };
}

function missing(functions: HostFunctions, target: string): HostFunctionMissingError {
  const [module, name] = target.split("#");
  const others = [...functions.keys()].filter((key) => key.startsWith(`${module}#`)).map((key) => key.split("#")[1]);
  const has = others.length === 0 ? "no such module is loaded here" : `it exports ${others.join(", ")}`;
  return new HostFunctionMissingError(
    `a run calls ${name} of ${module}, which this deployment does not have: ${has}. Deploy a module that has it and resume the run.`,
  );
}

/** As the guest gets it: what JSON makes of it, bytes as they are. @throws SerializationError */
function plain(value: unknown, target: string): unknown {
  const payload = encode(value, `what ${target} gave`);
  return typeof payload === "string" ? JSON.parse(payload) : payload;
}

function errorOf({ name, message }: NonNullable<WireReason>): Error {
  return name === "AbortError" || name === "TimeoutError"
    ? new DOMException(message, name)
    : Object.assign(new Error(message), { name });
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}
