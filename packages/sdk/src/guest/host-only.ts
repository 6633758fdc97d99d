// What stands inside an isolate for an export of a "use host" module that cannot cross over: it throws where it is touched.
// It can be passed on, though, to what asks the host about it by its name: a model is, and a source of tools.

import { ContextMisuseError } from "@perdure/protocol";

/** Registered for all realms and versions: the stub and who asks may come from two copies of this package. */
const REFERENCE: unique symbol = Symbol.for("perdure.hostValue") as never;

/** What is known of the value inside, such as a model's name. */
export type HostFacts = Readonly<Record<string, string | boolean>>;

/** @param kind what it is in Node: "a class". */
export function hostOnly(module: string, name: string, kind: string, facts: HostFacts = {}): object {
  const touch = (): never => {
    throw new ContextMisuseError(
      `"${name}" of ${module} is ${kind}, which stays in Node: only functions and plain data of a "use host" module are there ` +
        `inside an isolate. Export a function that does what you need with it.`,
    );
  };
  const get = (_: object, property: string | symbol): unknown => {
    if (property === REFERENCE) return `${module}#${name}`;
    return typeof property === "string" && Object.hasOwn(facts, property) ? facts[property] : touch();
  };
  // What can be called and constructed, or the engine would say that it cannot, and not why.
  return new Proxy(function () {}, {
    get,
    set: touch,
    has: touch,
    construct: touch,
    apply: touch,
    ownKeys: touch,
  });
}

/** `module#export` of a value that stays in Node; undefined for any other. */
export function hostReference(value: unknown): string | undefined {
  if (typeof value !== "function") return undefined;
  try {
    return (value as unknown as { readonly [REFERENCE]?: string })[REFERENCE];
  } catch {
    return undefined; // Somebody else's proxy.
  }
}
