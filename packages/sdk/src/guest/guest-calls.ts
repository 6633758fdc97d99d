// Calls of host functions: the hands
// ==================================
// A module that opens with `"use host"` runs in Node; inside an isolate each of its functions is a stand-in, which asks the
// host by name. Arguments and results are JSON (and `Uint8Array`s). A step's `info` may be passed on: the function gets one
// like it, with the same idempotency key, a signal that fires with the step's, and streams that it may write to.

import type { AbortSignalLike } from "../ports.ts";
import { ContextMisuseError, errorFromFailure } from "@perdure/protocol";
import { stepInfoSource } from "../attempt/step-task.ts";
import type { GuestOutbox } from "./guest-outbox.ts";
import type { GuestPorts } from "./guest-ports.ts";
import type { CallOutcome, WireInfo } from "./wire.ts";

interface OpenCall {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** What has to be undone when it has ended. */
  readonly ended: () => void;
}

/** The property that stands for a step's info among arguments. */
export const INFO = "~info";

export class GuestCalls {
  readonly #outbox: GuestOutbox;
  readonly #ports: GuestPorts;
  readonly #open = new Map<number, OpenCall>();
  #last = 0;

  constructor(outbox: GuestOutbox, ports: GuestPorts) {
    this.#outbox = outbox;
    this.#ports = ports;
  }

  /** @param target `module#export` */
  call(target: string, args: readonly unknown[], signal: AbortSignalLike | null = null): Promise<unknown> {
    if (!this.#ports.insideStep()) {
      const [module, name] = target.split("#");
      return Promise.reject(
        new ContextMisuseError(
          `${name ?? target} of ${module ?? target} runs on the host, so it is an effect: call it inside a step, ctx.step("${name ?? "name"}", () => ${name ?? "fn"}(…))`,
        ),
      );
    }
    this.#last += 1;
    const call = this.#last;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const signals: AbortSignalLike[] = signal === null ? [] : [signal];
    const wired = args.map((arg) => this.#wired(arg, signals));
    const abort = (): void => this.#outbox.add({ type: "abortCall", call });
    for (const signal of signals) signal.addEventListener("abort", abort, { once: true });
    const ended = (): void => {
      for (const signal of signals) signal.removeEventListener("abort", abort);
    };
    this.#open.set(call, { resolve, reject, ended });
    this.#outbox.add({ type: "call", call, target, args: wired });
    return promise;
  }

  ended(call: number, outcome: CallOutcome): void {
    const open = this.#open.get(call);
    if (open === undefined) return; // Of a time before the image.
    this.#open.delete(call);
    open.ended();
    if (outcome.kind === "value") open.resolve(outcome.value);
    else open.reject(errorOf(outcome));
  }

  /** The steps that made them are begun again. */
  resume(): void {
    this.#open.clear();
  }

  #wired(arg: unknown, signals: AbortSignalLike[]): unknown {
    const source = stepInfoSource(arg);
    if (source === undefined) return arg;
    signals.push(source.info.signal);
    const info: WireInfo = {
      command: source.command,
      attempt: source.info.attempt,
      idempotencyKey: source.info.idempotencyKey,
    };
    return { [INFO]: info };
  }
}

/** As code in-process would have met it: an error of ours keeps its class, another its name and what it says of retrying. */
function errorOf({ failure, name, retryAfterMs }: Extract<CallOutcome, { kind: "failure" }>): Error {
  if (failure.errorCode !== undefined) return errorFromFailure(failure);
  const error = new HostError(failure.message, name, retryAfterMs);
  if (failure.stack !== undefined) error.stack = failure.stack;
  return error;
}

class HostError extends Error {
  override readonly name: string;
  readonly retryAfter: number | undefined;

  constructor(message: string, name: string, retryAfter: number | undefined) {
    super(message);
    this.name = name;
    this.retryAfter = retryAfter;
  }
}
