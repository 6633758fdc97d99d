// Machines that are at hand, each a clean copy of a base
// ======================================================
// A new machine costs an instance of the WebAssembly, the mapping of its memory and the copy of a base: three milliseconds
// and more, of which a restore has one. And its memory is given back only when V8 happens to look. So a machine that is done
// with is kept: what differs from its base is written over with the base, and the next run starts in it. A thousand wake-ups
// a second then need as many machines as are awake at once.
//
// P1. A machine in the pool holds its base, byte for byte, zeros beyond it, and nothing of the run before, its dead stack
//     included.
// P2. A machine that trapped or was interrupted is damaged, and not taken back. Nor is one that has grown by much.
// P3. What was not needed between two calls of `trim` is left to V8.
// P4. Memory never shrinks, and a heap must not find more of it than it knows: a machine that has grown is for images of at
//     least its size.

import { Clock } from "./clock.ts";
import type { Engine } from "./engine.ts";
import { type BaseImage, WASM_PAGE_BYTES } from "./image-codec.ts";
import { HOST_FUNCTIONS } from "./host-functions.ts";
import { type HostFunctions, Machine } from "./machine.ts";
import { changedPages, isZeroPage, PAGE_BYTES, viewOf } from "./spans.ts";

export interface PooledMachine {
  readonly base: BaseImage;
  readonly machine: Machine;
  readonly clock: Clock;
}

/** Each is 1.3 MB of memory, or somewhat more. */
const IDLE_MAX = 32;
const GROWN_BYTES_MAX = 4 * 1_024 * 1_024;

export class MachinePool {
  readonly engine: Engine;
  readonly #functions: HostFunctions;
  /** The one that came back last is the last: its memory is in the processor's cache. */
  #idle: PooledMachine[] = [];
  /** As few as were idle at any time since the last `trim`. */
  #unused = 0;

  constructor(engine: Engine, functions: HostFunctions = HOST_FUNCTIONS) {
    this.engine = engine;
    this.#functions = functions;
  }

  get idle(): number {
    return this.#idle.length;
  }

  /** @param bytes the memory that is needed: it has at most that much (P4). */
  take(base: BaseImage, bytes: number): PooledMachine {
    const exact = this.#idle.findLastIndex((one) => one.base === base && one.machine.memory.length === bytes);
    const at =
      exact >= 0 ? exact : this.#idle.findLastIndex((one) => one.base === base && one.machine.memory.length < bytes);
    const [found] = at === -1 ? [] : this.#idle.splice(at, 1);
    this.#unused = Math.min(this.#unused, this.#idle.length);
    return found ?? create(this.engine, this.#functions, base);
  }

  /** @param isSound it has neither trapped nor been interrupted. */
  giveBack(pooled: PooledMachine, isSound: boolean): void {
    const { base, machine, clock } = pooled;
    if (!isSound || clock.interrupted || machine.memory.length > base.memory.length + GROWN_BYTES_MAX) return;
    clean(machine, base);
    this.#idle.push(pooled);
    if (this.#idle.length > IDLE_MAX) this.#idle.shift();
  }

  /** Called now and then. */
  trim(): void {
    this.#idle = this.#idle.slice(this.#unused);
    this.#unused = this.#idle.length;
  }
}

function create(engine: Engine, functions: HostFunctions, base: BaseImage): PooledMachine {
  const clock = new Clock();
  const machine = new Machine(engine, { clock, functions });
  const missing = base.memory.length - machine.memory.length;
  if (missing > 0) machine.exports.memory.grow(missing / WASM_PAGE_BYTES);
  copy(filledPages(base), machine, base);
  return { base, machine, clock };
}

function clean(machine: Machine, base: BaseImage): void {
  clearStack(machine.memory, base.stackPointer);
  copy(changedPages(machine.memory, base.memory, base.stackPointer), machine, base);
}

function copy(pages: readonly number[], machine: Machine, base: BaseImage): void {
  const { memory, exports } = machine;
  for (const page of pages) {
    const from = page * PAGE_BYTES;
    if (from < base.memory.length) memory.set(base.memory.subarray(from, from + PAGE_BYTES), from);
    else memory.fill(0, from, from + PAGE_BYTES);
  }
  exports.__stack_pointer.value = base.stackPointer;
  exports.qjs_set_runtime_and_context(base.runtime, base.context);
}

/** The stack grows downwards: behind that many pages that it never reached it has reached none. */
const UNTOUCHED_PAGES = 16;

/** Not all of it is looked at: to read a page that was never written maps it. */
function clearStack(memory: Uint8Array, stackPointer: number): void {
  const view = viewOf(memory);
  let untouched = 0;
  const top = stackPointer - (stackPointer % PAGE_BYTES);
  memory.fill(0, top, stackPointer);
  for (let page = top - PAGE_BYTES; page >= 0 && untouched < UNTOUCHED_PAGES; page -= PAGE_BYTES) {
    untouched = isZeroPage(view, page) ? untouched + 1 : 0;
    if (untouched === 0) view.fill(0, page, page + PAGE_BYTES);
  }
}

const FILLED: WeakMap<BaseImage, readonly number[]> = new WeakMap();

/** Most of a base is zeros, as new memory is: what is never written is never mapped. */
function filledPages(base: BaseImage): readonly number[] {
  let pages = FILLED.get(base);
  if (pages === undefined) {
    pages = changedPages(base.memory, new Uint8Array(0));
    FILLED.set(base, pages);
  }
  return pages;
}
