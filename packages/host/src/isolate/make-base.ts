// Loads a bundle into an empty machine and takes the memory that all runs of it start from.

import { assert } from "@perdure/protocol";
import { GUEST } from "@perdure/sdk/wire";
import { Clock } from "./clock.ts";
import type { Engine } from "./engine.ts";
import { HOST_FUNCTIONS } from "./host-functions.ts";
import type { BaseImage, EntryPoints } from "./image-codec.ts";
import { GuestError, Machine } from "./machine.ts";
import { rehearse } from "./rehearse.ts";
import { scrub } from "./scrub.ts";
import { spansOf } from "./spans.ts";
import { SCRIPT } from "./stack-traces.ts";
import { limitMachine, registersOf, turnOf } from "./turn.ts";

/** Loading a bundle is not a turn of a run, and may take longer. */
const LOAD_MS_MAX = 60_000;
const LOAD_MEMORY_BYTES_MAX = 512 * 1_024 * 1_024;

/** @throws what the bundle throws while it is loaded */
export function makeBase(
  engine: Engine,
  bundle: { readonly code: string; readonly hash: string },
): Omit<BaseImage, "hash"> {
  const clock = new Clock();
  const machine = new Machine(engine, { clock, functions: HOST_FUNCTIONS });
  const stackPointer = machine.exports.__stack_pointer.value;
  assert(isZero(machine.memory.subarray(0, stackPointer)), "the stack of the engine lies below everything else");
  clock.begin(LOAD_MS_MAX);
  const entry = load(machine, bundle.code);
  const turn = (event: Parameters<typeof turnOf>[2]): ReturnType<typeof turnOf> => {
    clock.begin(LOAD_MS_MAX);
    return turnOf(machine, entry, event);
  };
  rehearse(turn);
  turn({ type: "forget", now: 0 });
  machine.exports.qjs_run_gc();
  scrub(machine);
  const registers = registersOf(machine);
  const memory = machine.memory.slice().fill(0, 0, registers.stackPointer);
  rehearse(turn);
  scrub(machine);
  const { spans } = spansOf(machine.memory, memory, registers.stackPointer);
  return { engine: engine.hash, bundle: bundle.hash, ...registers, entry, memory, dictionary: spans };
}

function load(machine: Machine, code: string): EntryPoints {
  const { exports } = machine;
  exports._initialize();
  assert(exports.qjs_init() === 0, "the engine has a runtime");
  limitMachine(machine, LOAD_MEMORY_BYTES_MAX);
  machine.defineHostFunctions(Object.keys(HOST_FUNCTIONS));
  try {
    machine.evaluate(code, SCRIPT);
    machine.runJobs();
    const global = exports.qjs_get_global();
    const guest = machine.property(global, GUEST);
    const entry: EntryPoints = {
      undefined: exports.qjs_get_undefined(),
      turn: machine.property(guest, "turn"),
      settle: machine.property(guest, "settle"),
    };
    exports.qjs_free_value(guest);
    exports.qjs_free_value(global);
    return entry;
  } catch (error) {
    if (!(error instanceof GuestError)) throw error;
    throw Object.assign(new Error(error.message), { stack: error.stack });
  }
}

function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0);
}
