// One turn of a guest: an event in, everything that it has to say out. And what else is done to any machine with a guest.

import { type GuestEvent, type GuestMessage, type Outbox, fromWire, toWire } from "@perdure/sdk/wire";
import type { EntryPoints, Registers } from "./image-codec.ts";
import type { Machine, UnhandledRejection } from "./machine.ts";

/** Rule of the engine: more leaks the shadow stack into images. */
const STACK_BYTES = 512 * 1_024;

/** @throws GuestError, or the trap of the engine */
export function turnOf(machine: Machine, entry: EntryPoints, event: GuestEvent): Outbox {
  const { exports } = machine;
  exports.qjs_free_value(machine.call(entry.turn, entry.undefined, machine.newString(toWire(event))));
  for (;;) {
    machine.runJobs();
    const outbox = machine.takeText(machine.call(entry.settle, entry.undefined));
    if (outbox !== "") return withRejections(fromWire(outbox) as Outbox, machine.takeRejections());
  }
}

function withRejections(outbox: Outbox, rejections: readonly UnhandledRejection[]): Outbox {
  if (rejections.length === 0) return outbox;
  const told = rejections.map(({ message, stack }): GuestMessage => {
    const head = { type: "unhandledRejection", message } as const;
    return stack === undefined ? head : { ...head, stack };
  });
  return { ...outbox, messages: [...told, ...outbox.messages] };
}

/** Limits stand in the memory: to be called after it was written over. */
export function limitMachine({ exports }: Machine, memoryBytes: number): void {
  exports.qjs_set_memory_limit(memoryBytes);
  exports.qjs_set_max_stack_size(STACK_BYTES);
  exports.qjs_set_interrupt_handler(1);
  exports.qjs_set_promise_rejection_handler(1);
}

export function registersOf({ exports }: Machine): Registers {
  return {
    stackPointer: exports.__stack_pointer.value,
    runtime: exports.qjs_get_runtime_ptr(),
    context: exports.qjs_get_context_ptr(),
  };
}
