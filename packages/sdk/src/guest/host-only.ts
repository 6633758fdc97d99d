// What stands inside an isolate for an export of a "use host" module that cannot cross over: it throws where it is touched.

import { ContextMisuseError } from "@perdure/protocol";

/** @param kind what it is in Node: "a class". */
export function hostOnly(module: string, name: string, kind: string): object {
  const touch = (): never => {
    throw new ContextMisuseError(
      `"${name}" of ${module} is ${kind}, which stays in Node: only functions and plain data of a "use host" module are there ` +
        `inside an isolate. Export a function that does what you need with it.`,
    );
  };
  // What can be called and constructed, or the engine would say that it cannot, and not why.
  return new Proxy(function () {}, {
    get: touch,
    set: touch,
    has: touch,
    construct: touch,
    apply: touch,
    ownKeys: touch,
  });
}
