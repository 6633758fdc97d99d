// Values as payloads
// ==================
// A value is written as JSON text; a `Uint8Array` passes as its bytes; `undefined` is void. What code gets back is always
// what is read from the payload, live as on replay, so that the two cannot differ: a Date comes back as its text, a Map
// as `{}`, on the first run already and not only after a crash.
// Bytes are copied on both sides: the buffer may come from a pool, and the journal may be held in memory.

import type { Payload, Result } from "@perdure/protocol";
import {
  failureFrom,
  failureResult,
  SerializationError,
  TerminalError,
  ValidationError,
  VOID,
} from "@perdure/protocol";

/** @throws SerializationError naming the place in the value that JSON cannot hold. */
export function encode(value: unknown, what: string): Payload | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "object" && value instanceof Uint8Array) return new Uint8Array(value);
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    const culprit = findCulprit(value, what, []);
    throw new SerializationError(culprit ?? `${what} cannot be written as JSON`, { cause });
  }
  if (text === undefined) throw new SerializationError(`${what} is a ${typeof value}, which JSON cannot hold`);
  return text;
}

export function encodeResult(value: unknown, what: string): Result {
  const payload = encode(value, what);
  return payload === undefined ? VOID : { kind: "value", value: payload };
}

export function decodeResult(result: Result): unknown {
  return result.kind === "value" ? decode(result.value) : undefined;
}

/** What somebody's promise is rejected with. */
export function encodeRejection(reason: string | Error): Result {
  return failureResult(failureFrom(typeof reason === "string" ? new TerminalError(reason) : reason));
}

/** @throws ValidationError where the text is not JSON (it was written by somebody else). */
export function decode(payload: Payload): unknown {
  if (typeof payload !== "string") return new Uint8Array(payload);
  try {
    return JSON.parse(payload);
  } catch (cause) {
    throw new ValidationError(`not JSON: ${(cause as Error).message}`, { cause, metadata: { path: "$" } });
  }
}

/** Where and why `JSON.stringify` threw. Runs only after it did. */
function findCulprit(value: unknown, path: string, above: readonly object[]): string | undefined {
  if (typeof value === "bigint") return `${path} is a bigint, which JSON cannot hold: write it as text`;
  if (typeof value !== "object" || value === null) return undefined;
  if (above.includes(value)) return `${path} refers back to an object that contains it, which JSON cannot hold`;
  const trail = [...above, value];
  try {
    const own = (value as { readonly toJSON?: unknown }).toJSON;
    if (typeof own === "function") return findCulprit(own.call(value, ""), path, trail);
    for (const key of Object.keys(value)) {
      const place = Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`;
      const found = findCulprit((value as Record<string, unknown>)[key], place, trail);
      if (found !== undefined) return found;
    }
  } catch (error) {
    return `${path} throws when it is read: ${error instanceof Error ? error.message : String(error)}`;
  }
  return undefined;
}
