// One isolate: a machine that holds the heap of one run
// =====================================================
// N1. No image while a frame of the guest is on the stack: it would lose that frame without a word. `#depth` guards it.
// N2. The stack is limited, so that an overflow ends in an error of the guest and not in a damaged stack pointer.
// N3. An instance that trapped, or was interrupted, is never used again, nor is its machine.

import { assert, ImageMismatchError, IsolateLimitError } from "@perdure/protocol";
import type { GuestEvent, Outbox } from "@perdure/sdk/wire";
import {
  applyImage,
  type BaseImage,
  encodeImage,
  type ImageHeader,
  readImageHeader,
  WASM_PAGE_BYTES,
} from "./image-codec.ts";
import { GuestError } from "./machine.ts";
import type { MachinePool, PooledMachine } from "./machine-pool.ts";
import { scrub } from "./scrub.ts";
import { changedPages } from "./spans.ts";
import { limitMachine, registersOf, turnOf } from "./turn.ts";

export interface InstanceLimits {
  /** The time that code may run without waiting for anything. */
  readonly turnMs: number;
  readonly memoryBytes: number;
}

const GARBAGE_RATIO = 1.5;

export class Instance {
  readonly base: BaseImage;
  readonly #pool: MachinePool;
  readonly #pooled: PooledMachine;
  readonly #limits: InstanceLimits;
  #depth = 0;
  #state: "sound" | "broken" | "disposed" = "sound";
  /** Allocated bytes above which there may be garbage that is worth a search. */
  #collectAbove: number;

  private constructor(pool: MachinePool, pooled: PooledMachine, limits: InstanceLimits) {
    this.#pool = pool;
    this.#pooled = pooled;
    this.#limits = limits;
    this.base = pooled.base;
    this.#collectAbove = pooled.machine.exports.qjs_get_allocated_size() * GARBAGE_RATIO;
  }

  /** A copy of the base, where a run begins. @throws ImageMismatchError */
  static start(pool: MachinePool, base: BaseImage, limits: InstanceLimits): Instance {
    return Instance.#open(pool, base, limits, base.memory.length);
  }

  static #open(pool: MachinePool, base: BaseImage, limits: InstanceLimits, memoryBytes: number): Instance {
    checkEngine(pool, base.engine, "the base image");
    const pooled = pool.take(base, memoryBytes);
    limitMachine(pooled.machine, limits.memoryBytes);
    return new Instance(pool, pooled, limits);
  }

  /** @throws ImageDamagedError, ImageMismatchError */
  static restore(pool: MachinePool, base: BaseImage, image: Uint8Array, limits: InstanceLimits): Instance {
    const header = readImageHeader(image);
    checkEngine(pool, header.engine, "the image");
    if (header.base !== base.hash)
      throw new ImageMismatchError(
        `the image is a difference to base ${short(header.base)}, not to ${short(base.hash)}`,
      );
    const instance = Instance.#open(pool, base, limits, header.memoryPages * WASM_PAGE_BYTES);
    try {
      instance.#overwrite(image, header);
    } catch (error) {
      instance.#state = "broken";
      throw error;
    }
    return instance;
  }

  #overwrite(image: Uint8Array, header: ImageHeader): void {
    const { machine } = this.#pooled;
    const { exports } = machine;
    const missing = header.memoryPages - machine.memory.length / WASM_PAGE_BYTES;
    if (missing > 0) exports.memory.grow(missing);
    applyImage(image, header, this.base, machine.memory);
    exports.qjs_set_runtime_and_context(header.runtime, header.context);
    exports.__stack_pointer.value = header.stackPointer;
    limitMachine(machine, this.#limits.memoryBytes); // It stands in the memory.
  }

  /**
   * Gives the guest an event, and lets it run until nothing in it can go on by itself.
   * @throws IsolateLimitError, or what the engine throws; the instance is useless then (N3)
   */
  turn(event: GuestEvent): Outbox {
    assert(this.#state === "sound", "N3: a turn needs a sound instance");
    const { machine, clock } = this.#pooled;
    this.#depth += 1;
    try {
      clock.begin(this.#limits.turnMs);
      return turnOf(machine, this.base.entry, event);
    } catch (error) {
      this.#state = "broken";
      throw this.#told(error);
    } finally {
      this.#depth -= 1;
    }
  }

  /** The image of what it is now. It has to wait: `Outbox.imageableAt` says so. */
  capture(): Uint8Array {
    assert(this.#depth === 0, "N1: an instance is imaged between turns");
    const { machine } = this.#pooled;
    // Going through the whole heap moves its objects' links, which is more to store: only where it may find something.
    if (machine.exports.qjs_get_allocated_size() > this.#collectAbove) this.#collect();
    scrub(machine);
    return encodeImage(machine.memory, registersOf(machine), this.base);
  }

  /** What an image would hold, for people. */
  measure(): { readonly memoryBytes: number; readonly liveBytes: number; readonly changedPages: number } {
    const { machine } = this.#pooled;
    const { stackPointer } = registersOf(machine);
    return {
      memoryBytes: this.memoryBytes,
      liveBytes: machine.exports.qjs_get_allocated_size(),
      changedPages: changedPages(machine.memory, this.base.memory, stackPointer).length,
    };
  }

  /** What lives in its heap. */
  get memoryUsage(): readonly number[] {
    return this.#pooled.machine.memoryUsage();
  }

  #collect(): void {
    const { exports } = this.#pooled.machine;
    exports.qjs_run_gc();
    this.#collectAbove = exports.qjs_get_allocated_size() * GARBAGE_RATIO;
  }

  get memoryBytes(): number {
    return this.#pooled.machine.memory.length;
  }

  dispose(): void {
    if (this.#state === "disposed") return;
    const isSound = this.#state === "sound";
    this.#state = "disposed"; // The machine is another run's from here on.
    this.#pool.giveBack(this.#pooled, isSound);
  }

  #told(error: unknown): unknown {
    const { clock, machine } = this.#pooled;
    if (clock.interrupted)
      return new IsolateLimitError(
        `the code ran for ${this.#limits.turnMs} ms without waiting for anything: an isolate is for thinking, not for computing; put heavy work into a "use host" module or a service`,
      );
    if (!(error instanceof GuestError) || error.name !== "InternalError") return error;
    // What the engine itself gives up, code cannot catch.
    return new IsolateLimitError(
      error.message.includes("out of memory")
        ? `the code needs more memory than the ${machine.memory.length} bytes that it has`
        : `the code made more than the JavaScript engine of isolates can hold: ${error.message}`,
    );
  }
}

function checkEngine({ engine }: MachinePool, needed: string, what: string): void {
  if (needed === engine.hash) return;
  throw new ImageMismatchError(
    `${what} was made by the JavaScript engine ${short(needed)}, and this Perdure has ${short(engine.hash)}: heaps of one make no sense to another. Run it with the version of Perdure that made it, or restart the run from its journal.`,
  );
}

function short(hash: string): string {
  return hash.slice(0, 12);
}
