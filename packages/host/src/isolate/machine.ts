// A machine: one instance of the engine's WebAssembly, and what crosses its border
// ================================================================================
// The npm package `quickjs-wasi` gives the binary; its wrapper keeps addresses of the heap on this side, which are wrong as
// soon as other memory is put into the instance. Here nothing is kept: every address is taken and given back within one
// call, or comes from the base image (`EntryPoints`). So a machine may be given any memory between two calls.
//
// M1. Nothing of this side refers into the memory between two calls but what the base says.
// M2. A value is a cell, which whoever got its address has to free.
// M3. Texts cross as UTF-8: those of the border are JSON, which has no lone surrogates.

import type { Clock } from "./clock.ts";
import { type Engine, wasm, type WasmImports, type WasmMemory } from "./engine.ts";

/** The functions of the binary that are called here. Addresses are numbers; `qjs_` functions take and give cells. */
export interface EngineExports {
  readonly memory: WasmMemory;
  readonly __stack_pointer: { value: number };
  _initialize(): void;
  qjs_init(): number;
  qjs_set_runtime_and_context(runtime: number, context: number): void;
  qjs_get_runtime_ptr(): number;
  qjs_get_context_ptr(): number;
  qjs_set_memory_limit(bytes: number): void;
  qjs_set_max_stack_size(bytes: number): void;
  qjs_set_interrupt_handler(on: number): void;
  qjs_set_promise_rejection_handler(on: number): void;
  qjs_get_allocated_size(): number;
  qjs_run_gc(): void;
  qjs_compute_memory_usage(at: number): void;
  qjs_compile(code: number, codeBytes: number, name: number, how: number, without: number, lengthAt: number): number;
  qjs_eval_bytecode(code: number, bytes: number): number;
  qjs_call(fn: number, self: number, count: number, args: number): number;
  qjs_is_job_pending(): number;
  qjs_execute_pending_job(): number;
  qjs_get_global(): number;
  qjs_get_undefined(): number;
  qjs_get_prop_string(object: number, name: number): number;
  qjs_set_prop_string(object: number, name: number, value: number): number;
  qjs_new_host_function(name: number, nameBytes: number, length: number): number;
  qjs_new_string(text: number, bytes: number): number;
  qjs_get_string_len(value: number, lengthAt: number): number;
  qjs_free_cstring(text: number): void;
  qjs_get_float64(value: number): number;
  qjs_is_exception(value: number): number;
  qjs_is_undefined(value: number): number;
  qjs_get_exception(): number;
  qjs_free_value(value: number): void;
  wasm_malloc(bytes: number): number;
  wasm_free(address: number): void;
}

/** Named functions that the guest may call: they get one number, and give a text or nothing. They never throw. */
export type HostFunctions = Readonly<Record<string, (argument: number, clock: Clock) => string | undefined>>;

export interface MachineHost {
  readonly clock: Clock;
  readonly functions: HostFunctions;
}

/** An error that guest code threw, or the engine in its place. */
export class GuestError extends Error {
  constructor(name: string, message: string, stack: string | undefined) {
    super(message);
    this.name = name;
    if (stack !== undefined) this.stack = stack;
  }
}

/** A promise that was rejected, and nobody has looked. */
export interface UnhandledRejection {
  readonly message: string;
  readonly stack: string | undefined;
}

/** Each function would keep its own text, and that of those within: more than half of a heap. */
const WITHOUT_SOURCE = 1 << 4;
const NO_MEMORY = "out of memory";
const NOTHING: readonly never[] = [];
const MEMORY_USAGE_FIELDS = 27;
const NOT_THERE = 8; // WASI's EBADF.

export class Machine {
  readonly exports: EngineExports;
  /** By the promise, as the engine knows it: cells of it and of the reason. Empty between two turns (M1). */
  readonly #rejections = new Map<bigint, { readonly promise: number; readonly reason: number }>();

  /** Its memory is what the binary begins with: nothing is initialised, and no heap is there. */
  constructor(engine: Engine, host: MachineHost) {
    const instance = new wasm.Instance(engine.module, this.#imports(host));
    this.exports = instance.exports as EngineExports;
  }

  get memory(): Uint8Array {
    return new Uint8Array(this.exports.memory.buffer);
  }

  /** Of a string that is written; the address has to be freed with `wasm_free`. */
  write(text: string): { readonly at: number; readonly bytes: number } {
    const bytes = Buffer.byteLength(text);
    const at = this.exports.wasm_malloc(bytes + 1);
    if (at === 0) throw new GuestError("InternalError", NO_MEMORY, undefined);
    const target = Buffer.from(this.exports.memory.buffer, at, bytes + 1);
    target.write(text, "utf8");
    target[bytes] = 0;
    return { at, bytes };
  }

  /** The engine's own count of its heap: fields of 64 bits, in the order of its `JSMemoryUsage`. */
  memoryUsage(): readonly number[] {
    const at = this.exports.wasm_malloc(MEMORY_USAGE_FIELDS * BigInt64Array.BYTES_PER_ELEMENT);
    if (at === 0) throw new GuestError("InternalError", NO_MEMORY, undefined);
    this.exports.qjs_compute_memory_usage(at);
    const fields = Array.from(new BigInt64Array(this.exports.memory.buffer, at, MEMORY_USAGE_FIELDS), Number);
    this.exports.wasm_free(at);
    return fields;
  }

  newString(text: string): number {
    const { at, bytes } = this.write(text);
    const cell = this.exports.qjs_new_string(at, bytes);
    this.exports.wasm_free(at);
    return this.#checked(cell);
  }

  /** What the value is as a string. It is freed. */
  takeText(cell: number): string {
    const text = this.#textOf(cell);
    this.exports.qjs_free_value(cell);
    return text;
  }

  /** @param args freed. @throws GuestError */
  call(fn: number, self: number, ...args: readonly number[]): number {
    const { exports } = this;
    const list = args.length === 0 ? 0 : exports.wasm_malloc(args.length * 4);
    const view = new DataView(exports.memory.buffer);
    for (const [index, arg] of args.entries()) view.setUint32(list + index * 4, arg, true);
    const result = exports.qjs_call(fn, self, args.length, list);
    if (list !== 0) exports.wasm_free(list);
    for (const arg of args) exports.qjs_free_value(arg);
    return this.#checked(result);
  }

  /** Runs jobs until none is left. @throws GuestError */
  runJobs(): void {
    while (this.exports.qjs_is_job_pending() !== 0)
      if (this.exports.qjs_execute_pending_job() < 0) throw this.#pendingError();
  }

  /** The code of a script as the engine's own, without its text: functions cannot be printed. @throws GuestError */
  compile(code: string, name: string): Uint8Array {
    const { exports } = this;
    const source = this.write(code);
    const file = this.write(name);
    const lengthAt = exports.wasm_malloc(4);
    const at = exports.qjs_compile(source.at, source.bytes, file.at, 0, WITHOUT_SOURCE, lengthAt);
    if (at === 0) throw this.#pendingError();
    const bytes = new DataView(exports.memory.buffer).getUint32(lengthAt, true);
    return this.memory.slice(at, at + bytes); // The machine is for this alone: nothing is given back.
  }

  /** Runs what `compile` gave. @throws GuestError */
  evaluate(compiled: Uint8Array): void {
    const { exports } = this;
    const at = exports.wasm_malloc(compiled.length);
    this.memory.set(compiled, at);
    const result = exports.qjs_eval_bytecode(at, compiled.length);
    exports.wasm_free(at);
    exports.qjs_free_value(this.#checked(result));
  }

  property(object: number, name: string): number {
    const { at } = this.write(name);
    const cell = this.exports.qjs_get_prop_string(object, at);
    this.exports.wasm_free(at);
    return this.#checked(cell);
  }

  /** Gives the guest functions of the host's, as properties of its global object. */
  defineHostFunctions(names: readonly string[]): void {
    const { exports } = this;
    const global = exports.qjs_get_global();
    for (const name of names) {
      const { at, bytes } = this.write(name);
      const fn = this.#checked(exports.qjs_new_host_function(at, bytes, 0));
      exports.qjs_set_prop_string(global, at, fn);
      exports.qjs_free_value(fn);
      exports.wasm_free(at);
    }
    exports.qjs_free_value(global);
  }

  #checked(cell: number): number {
    if (cell !== 0 && this.exports.qjs_is_exception(cell) === 0) return cell;
    if (cell !== 0) this.exports.qjs_free_value(cell);
    throw this.#pendingError();
  }

  #pendingError(): GuestError {
    const { exports } = this;
    const error = exports.qjs_get_exception();
    const message = this.#part(error, "message") ?? this.#textOf(error);
    const result = new GuestError(this.#part(error, "name") ?? "Error", message, this.#part(error, "stack"));
    exports.qjs_free_value(error);
    return result;
  }

  #part(object: number, name: string): string | undefined {
    const { exports } = this;
    const { at } = this.write(name);
    const cell = exports.qjs_get_prop_string(object, at);
    exports.wasm_free(at);
    const isText = cell !== 0 && exports.qjs_is_exception(cell) === 0 && exports.qjs_is_undefined(cell) === 0;
    const text = isText ? this.#textOf(cell) : undefined;
    if (cell !== 0) exports.qjs_free_value(cell);
    return text;
  }

  #textOf(cell: number): string {
    const { exports } = this;
    const lengthAt = exports.wasm_malloc(4);
    if (lengthAt === 0) throw new GuestError("InternalError", NO_MEMORY, undefined);
    const at = exports.qjs_get_string_len(cell, lengthAt);
    const { buffer } = exports.memory;
    const bytes = at === 0 ? 0 : new DataView(buffer).getUint32(lengthAt, true);
    const text = Buffer.from(buffer, at, bytes).toString("utf8");
    if (at !== 0) exports.qjs_free_cstring(at);
    exports.wasm_free(lengthAt);
    return text;
  }

  #imports(host: MachineHost): WasmImports {
    const view = (): DataView => new DataView(this.exports.memory.buffer);
    const env = {
      host_call: (name: number, nameBytes: number, _self: number, count: number, args: number): number =>
        this.#hostCall(host, Buffer.from(this.exports.memory.buffer, name, nameBytes).toString("latin1"), count, args),
      host_interrupt: (): number => (host.clock.isOver() ? 1 : 0),
      host_promise_rejection: (promise: number, reason: number, isHandled: number): void =>
        this.#rejected(view().getBigUint64(promise, true), { promise, reason }, isHandled !== 0),
      host_module_normalize: (): number => 0, // There are no modules: a bundle is one script.
      host_module_load: (): number => 0,
      host_get_timezone_offset: (): number => 0,
    };
    const wasi = {
      clock_time_get: (_clock: number, _precision: bigint, result: number): number => {
        view().setBigUint64(result, host.clock.ns, true);
        return 0;
      },
      random_get: (at: number, bytes: number): number => {
        this.memory.fill(0, at, at + bytes); // Nothing of the engine may depend on chance.
        return 0;
      },
      fd_write: (): number => NOT_THERE,
      fd_close: (): number => NOT_THERE,
      fd_fdstat_get: (): number => NOT_THERE,
      fd_seek: (): number => NOT_THERE,
    };
    return { env, wasi_snapshot_preview1: wasi };
  }

  /** No code may run now: what it is about is read when the turn is over. */
  #rejected(id: bigint, cells: { readonly promise: number; readonly reason: number }, isHandled: boolean): void {
    this.#forgetRejection(this.#rejections.get(id));
    if (isHandled) {
      this.#rejections.delete(id);
      this.#forgetRejection(cells);
    } else this.#rejections.set(id, cells);
  }

  #forgetRejection(cells: { readonly promise: number; readonly reason: number } | undefined): void {
    if (cells === undefined) return;
    this.exports.qjs_free_value(cells.promise);
    this.exports.qjs_free_value(cells.reason);
  }

  /** Rejections that nobody has handled, now that nothing can go on by itself. */
  takeRejections(): readonly UnhandledRejection[] {
    if (this.#rejections.size === 0) return NOTHING;
    const found = [...this.#rejections.values()].map((cells): UnhandledRejection => {
      const message = this.#part(cells.reason, "message") ?? this.#textOf(cells.reason);
      const stack = this.#part(cells.reason, "stack");
      this.#forgetRejection(cells);
      return { message, stack };
    });
    this.#rejections.clear();
    return found;
  }

  #hostCall(host: MachineHost, name: string, count: number, args: number): number {
    const { exports } = this;
    const first = count > 0 ? new DataView(exports.memory.buffer).getUint32(args, true) : 0;
    const answer = host.functions[name]?.(first === 0 ? Number.NaN : exports.qjs_get_float64(first), host.clock);
    return answer === undefined ? exports.qjs_get_undefined() : this.newString(answer);
  }
}
