// How globals are put where scripts look for them: not enumerable, replaceable, as platforms have them.

export function defineGlobals(values: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(values))
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
}

/** `Object.prototype.toString.call(x)` says the class: libraries tell platform objects by it. */
export function tag(constructor: { readonly prototype: object }, name: string): void {
  Object.defineProperty(constructor.prototype, Symbol.toStringTag, { value: name, configurable: true });
}
