// Calls of host functions: the hands
// ==================================
// A module that opens with "use host" runs in Node; inside an isolate each of its functions is a stand-in, which asks the
// host by name. Arguments and results are JSON (and `Uint8Array`s). What is no data may be an argument, or a property of one:
//
//   a step's info   the function gets one like it: the same idempotency key, a signal, streams that it may write to
//   an AbortSignal  the function gets one that fires with it
//   a host's value  that is neither function nor data: the function gets it as it is
//   a function      what the host calls it with comes back; what it returns does not
//
// A function of the host that gives one thing after the other (an async generator) gives an async iterable here.

import { ContextMisuseError } from "@perdure/protocol";
import { CallArguments } from "./call-arguments.ts";
import { errorOf } from "./host-error.ts";
import type { GuestOutbox } from "./guest-outbox.ts";
import type { GuestPorts } from "./guest-ports.ts";
import { HostItems } from "./host-items.ts";
import type { CallOutcome, CallWord } from "./wire.ts";

interface OpenCall {
  readonly given: CallArguments;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  items: HostItems | undefined;
}

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
  call(target: string, args: readonly unknown[]): Promise<unknown> {
    if (!this.#ports.insideStep()) return Promise.reject(outsideOfStep(target));
    this.#last += 1;
    const call = this.#last;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const given = new CallArguments(args, (signal, reason) =>
      this.#outbox.add({ type: "abortCall", call, signal, reason }),
    );
    this.#open.set(call, { given, resolve, reject, items: undefined });
    this.#outbox.add({ type: "call", call, target, args: given.plain, handles: given.handles });
    return promise;
  }

  said(call: number, said: CallWord): void {
    const open = this.#open.get(call);
    if (open === undefined) return; // Of a time before the image.
    switch (said.kind) {
      case "callback":
        try {
          open.given.callbacks[said.callback]?.(...said.args);
        } catch (error) {
          this.#close(call, open);
          open.reject(error); // In-process it would have been thrown into the function.
        }
        return;
      case "item":
        if (open.items === undefined) {
          open.items = new HostItems();
          open.resolve(open.items);
        }
        open.items.add(said.value);
        return;
    }
  }

  ended(call: number, outcome: CallOutcome): void {
    const open = this.#open.get(call);
    if (open === undefined) return; // Of a time before the image.
    this.#close(call, open);
    switch (outcome.kind) {
      case "value":
        open.resolve(outcome.value);
        return;
      case "done":
        if (open.items === undefined) open.resolve(new HostItems().end());
        else open.items.end();
        return;
      case "failure":
        if (open.items === undefined) open.reject(errorOf(outcome));
        else open.items.fail(errorOf(outcome));
        return;
    }
  }

  /** The steps that made them are begun again. */
  resume(): void {
    this.#open.clear();
  }

  #close(call: number, open: OpenCall): void {
    this.#open.delete(call);
    open.given.release();
  }
}

function outsideOfStep(target: string): ContextMisuseError {
  const [module, name = "fn"] = target.split("#");
  return new ContextMisuseError(
    `${name} of ${module} runs on the host, so it is an effect: call it inside a step, ctx.step("${name}", () => ${name}(…))`,
  );
}
