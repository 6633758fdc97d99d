// A call as the API takes it, as the command line says it, and as curl sends it: the same call, three times
// =========================================================================================================
// R1. What is copied runs in a shell as it stands: every text is one word of it, whatever it holds.

import type { Target } from "@perdure/protocol";
import { path, type Query } from "../../api/client.ts";
import { shellWord } from "../../ui/shell-word.ts";

export interface Call {
  readonly target: Target;
  /** JSON text; null: none. */
  readonly input: string | null;
  readonly how: "call" | "send";
  /** Empty: at once. */
  readonly delay: string;
  /** Empty: none. */
  readonly idempotencyKey: string;
}

export interface CallRequest {
  readonly path: string;
  readonly query: Query;
  readonly headers: Readonly<Record<string, string>>;
}

export function callRequest({ target, delay, idempotencyKey }: Call): CallRequest {
  return {
    path: addressOf(target),
    query: { delay },
    headers: idempotencyKey === "" ? {} : { "idempotency-key": idempotencyKey },
  };
}

/** It travels in a header, which holds plain letters; of others a browser says only that the request failed. */
export function isHeaderText(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text) && text === text.trim();
}

function addressOf({ service, key, handler }: Target): string {
  return key === undefined ? path`/calls/${service}/${handler}` : path`/calls/${service}/${key}/${handler}`;
}

export function cliCommand({ target, input, how, delay, idempotencyKey }: Call): string {
  const { service, key, handler } = target;
  const words = [
    "npx perdure",
    how,
    shellWord([service, ...(key === undefined ? [] : [key]), handler].join("/")),
    ...(input === null ? [] : [shellWord(input)]),
    ...(delay === "" ? [] : ["--delay", shellWord(delay)]),
    ...(idempotencyKey === "" ? [] : ["--idempotency-key", shellWord(idempotencyKey)]),
  ];
  return words.join(" ");
}

/** @param origin where this page comes from. */
export function curlCommand(call: Call, origin: string, hasToken: boolean): string {
  const { path: address, headers } = callRequest(call);
  const query = call.delay === "" ? "" : `?delay=${encodeURIComponent(call.delay)}`;
  const words = [
    "curl",
    shellWord(`${origin}${address}${query}`),
    ...Object.entries(headers).flatMap(([name, value]) => ["-H", shellWord(`${name}: ${value}`)]),
    // The token itself stays out of what is pasted elsewhere.
    ...(hasToken ? ['-H "authorization: Bearer $PERDURE_TOKEN"'] : []),
    ...(call.input === null ? ["-X POST"] : ["--json", shellWord(call.input)]),
  ];
  return words.join(" ");
}
