// structuredClone: a copy of what can be copied, with circles and shared parts as they are.

import { platformError } from "./platform-error.ts";
import { Blob } from "./fetch/blob.ts";

const ERRORS: Readonly<Record<string, ErrorConstructor>> = {
  Error,
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
};

export function structuredClone<T>(value: T, options: { readonly transfer?: readonly unknown[] } = {}): T {
  const moved = new Set<ArrayBuffer>();
  for (const buffer of options?.transfer ?? []) {
    if (!(buffer instanceof ArrayBuffer)) throw uncloneable(buffer, "cannot be transferred: only ArrayBuffers can");
    if (moved.has(buffer) || buffer.detached) throw uncloneable(buffer, "cannot be transferred twice");
    moved.add(buffer);
  }
  const copy = new Copy().of(value);
  for (const buffer of moved) buffer.transfer(); // Taken from its owner when all of the copy is made, and not before.
  return copy as T;
}

class Copy {
  readonly #made: Map<object, object> = new Map();

  of(value: unknown): unknown {
    if (typeof value === "symbol" || typeof value === "function") throw uncloneable(value);
    if (typeof value !== "object" || value === null) return value;
    const known = this.#made.get(value);
    if (known !== undefined) return known;
    return this.#leaf(value) ?? this.#container(value);
  }

  #keep<T extends object>(original: object, copy: T): T {
    this.#made.set(original, copy);
    return copy;
  }

  /** What holds no values of others. */
  #leaf(value: object): object | undefined {
    if (value instanceof Date) return this.#keep(value, new Date(value.getTime()));
    if (value instanceof RegExp) return this.#keep(value, new RegExp(value.source, value.flags));
    if (value instanceof Number || value instanceof String || value instanceof Boolean || value instanceof BigInt)
      return this.#keep(value, Object(value.valueOf()) as object);
    if (value instanceof ArrayBuffer) return this.#keep(value, this.#buffer(value));
    if (ArrayBuffer.isView(value)) return this.#keep(value, this.#view(value));
    if (value instanceof Blob) return this.#keep(value, value); // They never change.
    if (UNCLONEABLE.some((kind) => value instanceof kind)) throw uncloneable(value);
    return undefined;
  }

  #buffer(value: ArrayBuffer): ArrayBuffer {
    if (value.detached) throw uncloneable(value, "was transferred already");
    return value.slice(0);
  }

  #view(value: ArrayBufferView): object {
    const buffer = this.of(value.buffer) as ArrayBuffer;
    if (value instanceof DataView) return new DataView(buffer, value.byteOffset, value.byteLength);
    const array = value as Uint8Array;
    const Kind = array.constructor as new (buffer: ArrayBuffer, offset: number, length: number) => object;
    return new Kind(buffer, array.byteOffset, array.length);
  }

  #container(value: object): object {
    if (value instanceof Map) {
      const copy = this.#keep(value, new Map());
      for (const [key, item] of [...value]) copy.set(this.of(key), this.of(item));
      return copy;
    }
    if (value instanceof Set) {
      const copy = this.#keep(value, new Set());
      for (const item of [...value]) copy.add(this.of(item));
      return copy;
    }
    if (value instanceof Error) return this.#error(value);
    const copy = this.#keep<object>(value, Array.isArray(value) ? Object.assign([], { length: value.length }) : {});
    for (const key of Object.keys(value)) define(copy, key, this.of((value as Record<string, unknown>)[key]));
    return copy;
  }

  #error(value: Error): Error {
    const copy = this.#keep(value, new (ERRORS[value.name] ?? Error)(value.message));
    for (const key of ["message", "stack"] as const)
      if (Object.hasOwn(value, key)) Object.defineProperty(copy, key, hidden(value[key]));
    if (Object.hasOwn(value, "cause")) Object.defineProperty(copy, "cause", hidden(this.of(value.cause)));
    return copy;
  }
}

const UNCLONEABLE: readonly (abstract new () => object)[] = [Promise, WeakMap, WeakSet, WeakRef] as never;

const hidden = (value: unknown): PropertyDescriptor => ({
  value,
  writable: true,
  configurable: true,
  enumerable: false,
});

/** Not by assignment: a key may be `__proto__`. */
function define(copy: object, key: string, value: unknown): void {
  Object.defineProperty(copy, key, { value, writable: true, configurable: true, enumerable: true });
}

function uncloneable(value: unknown, why = "could not be cloned"): Error {
  const shown =
    typeof value === "function" || typeof value === "symbol" ? String(value) : Object.prototype.toString.call(value);
  return platformError(`${shown} ${why}.`, "DataCloneError");
}
