// Loads a bundle into an empty machine and takes the memory that all runs of it start from.

import { assert } from "@perdure/protocol";
import { GUEST, type GuestEvent, type Outbox } from "@perdure/sdk/wire";
import { Clock } from "./clock.ts";
import type { Engine } from "./engine.ts";
import { HOST_FUNCTIONS } from "./host-functions.ts";
import type { BaseImage, EntryPoints, Registers } from "./image-codec.ts";
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
  try {
    // Compiled elsewhere, so that what the compiler leaves behind is in no base.
    const compiled = empty(engine).machine.compile(bundle.code, SCRIPT);
    const { machine, clock } = empty(engine);
    const entry = load(machine, compiled);
    const turn = (event: GuestEvent): Outbox => {
      clock.begin(LOAD_MS_MAX);
      return turnOf(machine, entry, event);
    };
    return { engine: engine.hash, bundle: bundle.hash, entry, ...rehearsed(machine, turn) };
  } catch (error) {
    if (!(error instanceof GuestError)) throw error;
    throw Object.assign(new Error(error.message), { stack: error.stack });
  }
}

/** A machine with a runtime, and no code in it. */
function empty(engine: Engine): { readonly machine: Machine; readonly clock: Clock } {
  const clock = new Clock();
  clock.begin(LOAD_MS_MAX);
  const machine = new Machine(engine, { clock, functions: HOST_FUNCTIONS });
  const { exports } = machine;
  const stack = machine.memory.subarray(0, exports.__stack_pointer.value);
  assert(
    stack.every((byte) => byte === 0),
    "the stack of the engine lies below everything else: images are without it",
  );
  exports._initialize();
  assert(exports.qjs_init() === 0, "the engine has a runtime");
  limitMachine(machine, LOAD_MEMORY_BYTES_MAX);
  return { machine, clock };
}

function load(machine: Machine, compiled: Uint8Array): EntryPoints {
  const { exports } = machine;
  machine.defineHostFunctions(Object.keys(HOST_FUNCTIONS));
  machine.evaluate(compiled);
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
}

/** The memory after a rehearsal that is forgotten, and what another one that waits differs from it. */
function rehearsed(
  machine: Machine,
  turn: (event: GuestEvent) => Outbox,
): Registers & Pick<BaseImage, "memory" | "dictionary"> {
  rehearse(turn);
  turn({ type: "forget", now: 0 });
  machine.exports.qjs_run_gc();
  scrub(machine);
  const registers = registersOf(machine);
  const memory = machine.memory.slice().fill(0, 0, registers.stackPointer);
  rehearse(turn);
  scrub(machine);
  const { spans } = spansOf(machine.memory, memory, registers.stackPointer);
  return { ...registers, memory, dictionary: new Uint8Array(spans) };
}
