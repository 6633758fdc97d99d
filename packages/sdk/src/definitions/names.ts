// Names stand in paths, in command lines and in the store, so what they may be is fixed.

import { DefinitionError } from "@perdure/protocol";

const NAME = /^[A-Za-z_][A-Za-z0-9_.-]*$/;
const NAME_LENGTH_MAX = 200;

/** First segments of paths that the server itself answers. */
const RESERVED_SERVICES: ReadonlySet<string> = new Set([
  "restate",
  "perdure",
  "openapi",
  "openapi.json",
  "health",
  "healthz",
  "ready",
  "version",
  "metrics",
  "discover",
  "invoke",
  "admin",
  "favicon.ico",
]);

/** JavaScript asks any object for these: a target with such a handler could not be told from a promise or a value. */
const RESERVED_HANDLERS: ReadonlySet<string> = new Set([
  "then",
  "catch",
  "finally",
  "constructor",
  "prototype",
  "toString",
  "toJSON",
  "valueOf",
  "hasOwnProperty",
  "__proto__",
]);

/** @throws DefinitionError */
export function checkServiceName(name: string): string {
  checkForm(name, "service");
  if (RESERVED_SERVICES.has(name))
    throw new DefinitionError(`"${name}" cannot be the name of a service: the server answers under /${name} itself`);
  return name;
}

/** @throws DefinitionError */
export function checkHandlerName(service: string, name: string): string {
  checkForm(name, `handler of "${service}"`);
  if (RESERVED_HANDLERS.has(name))
    throw new DefinitionError(
      `"${name}" cannot be the name of a handler (in "${service}"): JavaScript gives it a meaning of its own`,
    );
  return name;
}

function checkForm(name: string, what: string): void {
  if (typeof name !== "string" || !NAME.test(name)) {
    throw new DefinitionError(
      `"${String(name)}" cannot be the name of a ${what}: use letters, digits, "_", "." and "-", and begin with a letter or "_"`,
    );
  }
  if (name.length > NAME_LENGTH_MAX)
    throw new DefinitionError(
      `the name of a ${what} has at most ${NAME_LENGTH_MAX} characters, this one ${name.length}`,
    );
}
