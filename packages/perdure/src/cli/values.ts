// Payloads, results and failures in a few words.

import type { Failure, PayloadView, ResultView } from "@perdure/protocol";
import type { Paint } from "./style.ts";
import { cut, formatBytes, printable } from "./text.ts";

export interface ValueOptions {
  readonly paint: Paint;
  /** Columns for a value; undefined: all of it. */
  readonly width: number | undefined;
}

export function payloadText(value: PayloadView, { width }: ValueOptions): string {
  const bytes = bytesIn(value);
  if (bytes !== undefined) return bytes;
  const text = printable(JSON.stringify(value));
  return width === undefined ? text : cut(text, width);
}

/** The API's stand-ins for what is no JSON, or is too long. */
function bytesIn(value: PayloadView): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const [name, ...others] = Object.keys(value);
  const held = (value as Readonly<Record<string, unknown>>)[name ?? ""];
  if (others.length > 0) return undefined;
  if (name === "omitted" && typeof held === "number") return `(${formatBytes(held)}, not shown)`;
  if (name === "base64" && typeof held === "string")
    return `(${formatBytes(Math.floor((held.length * 3) / 4))} that are not JSON)`;
  return undefined;
}

export function resultText(result: ResultView, options: ValueOptions): string {
  switch (result.kind) {
    case "void":
      return options.paint("dim", "nothing");
    case "value":
      return payloadText(result.value, options);
    case "failure":
      return options.paint("red", failureText(result.failure, options.width));
  }
}

/** Where it has to fit somewhere, its first line: the others explain. */
export function failureText(failure: Failure, width?: number): string {
  const text = `${failure.errorCode ?? failure.code} ${failure.message}`;
  return width === undefined ? printable(text) : cut(printable(text.split("\n", 1)[0] ?? ""), width);
}
