// One isolate: a QuickJS instance that holds the heap of one run
// ==============================================================
// A thin shell over `quickjs-wasi`, which knows its traps:
// N1. Only named host functions are given in: others are numbered anew after a restore and answer to each other's names.
// N2. No image while a frame of the guest is on the stack: it would lose that frame without a word. `#depth` guards it.
// N3. The stack is limited, so that an overflow ends in an error of the guest and not in a damaged stack pointer.
// N4. An instance that trapped, or was interrupted, is never used again.

import { randomBytes } from "node:crypto";
import { assert, ImageMismatchError, IsolateLimitError } from "@perdure/protocol";
import { GUEST, RANDOM_BYTES, SET_CLOCK, type GuestEvent, type Outbox, fromWire, toWire } from "@perdure/sdk/wire";
import { JSException, QuickJS, type QuickJSOptions } from "quickjs-wasi";
import type { Engine } from "./engine.ts";
import { scrubFreeMemory } from "./scrub.ts";
import { SCRIPT } from "./stack-traces.ts";
import { rehearse } from "./rehearse.ts";
import {
  applyImage,
  type BaseImage,
  changedPages,
  encodeImage,
  PAGE_BYTES,
  readImageHeader,
  type Registers,
  WASM_PAGE_BYTES,
} from "./image-codec.ts";

export interface InstanceLimits {
  /** The time that code may run without waiting for anything. */
  readonly turnMs: number;
  readonly memoryBytes: number;
}

/** Rule of the engine: more leaks the shadow stack into images. */
const STACK_BYTES = 512 * 1_024;
const GARBAGE_RATIO = 1.5;
const NANOSECONDS = 1_000_000n;
/** Loading a bundle is not a turn of a run, and may take longer. */
const LOAD_MS_MAX = 60_000;

export class Instance {
  readonly base: BaseImage;
  readonly #vm: QuickJS;
  readonly #clock: Clock;
  #depth = 0;
  /** Allocated bytes above which there may be garbage that is worth a search. */
  #collectAbove: number;

  private constructor(vm: QuickJS, clock: Clock, base: BaseImage) {
    this.#vm = vm;
    this.#collectAbove = vm.getAllocatedSize() * GARBAGE_RATIO;
    this.#clock = clock;
    this.base = base;
  }

  /** A fresh copy of the base. */
  static async start(engine: Engine, base: BaseImage, limits: InstanceLimits): Promise<Instance> {
    checkEngine(engine, base.engine, "the base image");
    const clock = new Clock(limits.turnMs);
    const vm = await QuickJS.restore(
      {
        memory: sized(base.memory.length),
        stackPointer: base.stackPointer,
        runtimePtr: base.runtime,
        contextPtr: base.context,
        extensions: [],
      },
      options(engine, clock, limits),
    );
    const memory = new Uint8Array(vm._getMemory().buffer);
    for (const { from, to } of filledPages(base)) memory.set(base.memory.subarray(from, to), from);
    registerHost(vm, clock);
    const instance = new Instance(vm, clock, base);
    instance.#applyLimits(limits);
    return instance;
  }

  /** @throws ImageDamagedError, ImageMismatchError */
  static async restore(engine: Engine, base: BaseImage, image: Uint8Array, limits: InstanceLimits): Promise<Instance> {
    const header = readImageHeader(image);
    checkEngine(engine, header.engine, "the image");
    if (header.base !== base.hash)
      throw new ImageMismatchError(
        `the image is a difference to base ${short(header.base)}, not to ${short(base.hash)}`,
      );
    const instance = await Instance.start(engine, base, limits);
    instance.#overwrite(image, limits);
    return instance;
  }

  #overwrite(image: Uint8Array, limits: InstanceLimits): void {
    const header = readImageHeader(image);
    const exports = this.#vm._getExports();
    const memory = this.#vm._getMemory();
    const missing = header.memoryPages - memory.buffer.byteLength / WASM_PAGE_BYTES;
    if (missing > 0) memory.grow(missing);
    applyImage(image, header, this.base, new Uint8Array(memory.buffer));
    exports.qjs_set_runtime_and_context(header.runtime, header.context);
    exports.__stack_pointer.value = header.stackPointer;
    this.#applyLimits(limits);
  }

  /** They stand in the memory: to be called after it was written over. */
  #applyLimits(limits: InstanceLimits): void {
    const exports = this.#vm._getExports();
    exports.qjs_set_memory_limit(limits.memoryBytes);
    exports.qjs_set_max_stack_size(STACK_BYTES);
    exports.qjs_set_interrupt_handler(1);
  }

  /**
   * Gives the guest an event, and lets it run until nothing in it can go on by itself.
   * @throws IsolateLimitError, or what the engine throws; the instance is useless then (N4)
   */
  turn(event: GuestEvent): Outbox {
    this.#depth += 1;
    try {
      this.#clock.begin();
      return turnOf(this.#vm, event);
    } catch (error) {
      throw this.#told(error);
    } finally {
      this.#depth -= 1;
    }
  }

  /** The image of what it is now. It has to wait: `Outbox.imageableAt` says so. */
  capture(): Uint8Array {
    assert(this.#depth === 0, "N2: an instance is imaged between turns");
    // Going through the whole heap moves its objects' links: 15 % more to store, so only where it may find something.
    if (this.#vm.getAllocatedSize() > this.#collectAbove) this.#collect();
    scrub(this.#vm);
    return encodeImage(this.#memory, this.#registers, this.base);
  }

  /** What an image would hold, for people. */
  measure(): { readonly memoryBytes: number; readonly liveBytes: number; readonly changedPages: number } {
    return {
      memoryBytes: this.#memory.length,
      liveBytes: this.#vm.getAllocatedSize(),
      changedPages: changedPages(this.#memory, this.base.memory).length,
    };
  }

  #collect(): void {
    this.#vm.runGC();
    this.#collectAbove = this.#vm.getAllocatedSize() * GARBAGE_RATIO;
  }

  get memoryBytes(): number {
    return this.#memory.length;
  }

  dispose(): void {
    this.#vm.dispose();
  }

  get #memory(): Uint8Array {
    return new Uint8Array(this.#vm._getMemory().buffer);
  }

  get #registers(): Registers {
    return registersOf(this.#vm);
  }

  #told(error: unknown): unknown {
    if (this.#clock.interrupted)
      return new IsolateLimitError(
        `the code ran for ${this.#clock.turnMs} ms without waiting for anything: an isolate is for thinking, not for computing; put heavy work into a "use host" module or a service`,
      );
    if (!(error instanceof JSException)) return error;
    const { name, message, stack } = error;
    error.dispose();
    if (message.includes("out of memory"))
      return new IsolateLimitError(
        `the code needs more memory than the ${this.#vm._getMemory().buffer.byteLength} bytes that it has`,
      );
    return Object.assign(new Error(message), { name, stack });
  }
}

/** Loads a bundle into an empty instance and takes the memory that all runs of it start from. */
export async function makeBase(
  engine: Engine,
  bundle: { readonly code: string; readonly hash: string },
): Promise<Omit<BaseImage, "hash">> {
  const clock = new Clock(LOAD_MS_MAX);
  const vm = await QuickJS.create(options(engine, clock, { turnMs: LOAD_MS_MAX, memoryBytes: 512 * 1_024 * 1_024 }));
  try {
    for (const [name, call] of Object.entries(hostFunctions(vm, clock))) {
      using fn = vm.newFunction(name, call);
      vm.setProp(vm.global, name, fn);
    }
    clock.begin();
    vm.evalCode(bundle.code, SCRIPT).dispose();
    vm.executePendingJobs();
    rehearse((event) => turnOf(vm, event));
    vm.runGC();
    scrub(vm);
    const { memory, stackPointer, runtimePtr, contextPtr } = vm.snapshot();
    return { engine: engine.hash, bundle: bundle.hash, memory, stackPointer, runtime: runtimePtr, context: contextPtr };
  } catch (error) {
    if (!(error instanceof JSException)) throw error;
    const { message, stack } = error;
    error.dispose();
    throw Object.assign(new Error(message), { stack });
  } finally {
    vm.dispose();
  }
}

function turnOf(vm: QuickJS, event: GuestEvent): Outbox {
  using entry = vm.global.getProp(GUEST);
  using turn = entry.getProp("turn");
  using settle = entry.getProp("settle");
  using text = vm.newString(toWire(event));
  vm.callFunction(turn, vm.undefined, text).dispose();
  for (;;) {
    vm.executePendingJobs();
    using settled = vm.callFunction(settle, vm.undefined);
    const outbox = settled.toString();
    if (outbox !== "") return fromWire(outbox) as Outbox;
  }
}

/** What the guest reads as the time, and how long it may run. */
class Clock {
  readonly turnMs: number;
  interrupted = false;
  #ns = 0n;
  #deadline = 0;

  constructor(turnMs: number) {
    this.turnMs = turnMs;
  }

  begin(): void {
    this.#deadline = performance.now() + this.turnMs;
  }

  set(ms: number): void {
    this.#ns = BigInt(Math.trunc(ms)) * NANOSECONDS;
  }

  readonly wasi: NonNullable<QuickJSOptions["wasi"]> = (memory) => ({
    clock_time_get: (_id: number, _precision: bigint, result: number) => {
      new DataView(memory.buffer).setBigUint64(result, this.#ns, true);
      return 0;
    },
    random_get: (pointer: number, length: number) => {
      new Uint8Array(memory.buffer, pointer, length).fill(0); // Nothing of the engine may depend on chance.
      return 0;
    },
  });

  readonly interrupt: () => boolean = () => {
    if (performance.now() > this.#deadline) this.interrupted = true;
    return this.interrupted;
  };
}

function options(engine: Engine, clock: Clock, limits: InstanceLimits): QuickJSOptions {
  return {
    wasm: engine.module,
    wasi: clock.wasi,
    memoryLimit: limits.memoryBytes,
    maxStackSize: STACK_BYTES,
    interruptHandler: clock.interrupt,
    timezoneOffset: 0,
  };
}

type HostCallbacks = Readonly<Record<string, Parameters<QuickJS["newFunction"]>[1]>>;

function hostFunctions(vm: QuickJS, clock: Clock): HostCallbacks {
  return {
    [SET_CLOCK]: (ms) => {
      clock.set(ms?.toNumber() ?? 0);
      return vm.undefined;
    },
    [RANDOM_BYTES]: (count) => vm.newString(randomBytes(count?.toNumber() ?? 0).toString("hex")),
  };
}

function registerHost(vm: QuickJS, clock: Clock): void {
  for (const [name, call] of Object.entries(hostFunctions(vm, clock))) vm.registerHostCallback(name, call);
}

function registersOf(vm: QuickJS): Registers {
  const exports = vm._getExports();
  return {
    stackPointer: exports.__stack_pointer.value as number,
    runtime: exports.qjs_get_runtime_ptr(),
    context: exports.qjs_get_context_ptr(),
  };
}

/**
 * Memory of that size with nothing in it, as `QuickJS.restore` takes memory: a new instance's is all zeros already, and most
 * of a base is, too. Writing only what is not halves the time of a restore: pages that are never written are never mapped.
 */
function sized(byteLength: number): Uint8Array {
  return { byteLength, length: 0 } as Uint8Array;
}

interface Range {
  readonly from: number;
  readonly to: number;
}

const FILLED: WeakMap<BaseImage, readonly Range[]> = new WeakMap();

/** The parts of a base that are not all zeros. */
function filledPages(base: BaseImage): readonly Range[] {
  let ranges = FILLED.get(base);
  if (ranges === undefined) {
    ranges = changedPages(base.memory, new Uint8Array(0)).reduce<Range[]>((list, page) => {
      const from = page * PAGE_BYTES;
      const last = list.at(-1);
      const joined = last?.to === from;
      if (joined) list.pop();
      list.push({ from: joined ? last.from : from, to: from + PAGE_BYTES });
      return list;
    }, []);
    FILLED.set(base, ranges);
  }
  return ranges;
}

/** The runtime is the first thing that an instance allocates. */
function scrub(vm: QuickJS): void {
  scrubFreeMemory(new Uint8Array(vm._getMemory().buffer), vm._getExports().qjs_get_runtime_ptr());
}

function checkEngine(engine: Engine, needed: string, what: string): void {
  if (needed === engine.hash) return;
  throw new ImageMismatchError(
    `${what} was made by the JavaScript engine ${short(needed)}, and this Perdure has ${short(engine.hash)}: heaps of one make no sense to another. Run it with the version of Perdure that made it, or restart the run from its journal.`,
  );
}

function short(hash: string): string {
  return hash.slice(0, 12);
}
