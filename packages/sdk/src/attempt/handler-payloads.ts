// The two ends of a handler: its input is read and checked before it starts, its output checked and written when it ends.

import type { Payload, Result } from "@perdure/protocol";
import type { HandlerSpec } from "../definitions/handler.ts";
import { decode, encodeResult } from "../json.ts";
import { validate } from "../standard-schema.ts";

/** @throws ValidationError, also as a rejection where the schema is an asynchronous one. */
export function readInput(spec: HandlerSpec, payload: Payload | null): unknown {
  const value = payload === null || payload === "" ? undefined : decode(payload);
  const schema = spec.options.input;
  return schema === undefined ? value : validate(schema, value, "the input");
}

/** @throws ValidationError or SerializationError */
export function writeOutput(spec: HandlerSpec, value: unknown): Result | Promise<Result> {
  const schema = spec.options.output;
  if (schema === undefined) return encodeResult(value, "the output");
  const valid = validate(schema, value, "the output");
  return valid instanceof Promise
    ? valid.then((late: unknown) => encodeResult(late, "the output"))
    : encodeResult(valid, "the output");
}
