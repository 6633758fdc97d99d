// Streams: append-only logs under a name
// ======================================
// A stream belongs to a key of an object or workflow, or to a run of a service. Its items have offsets from 0, given in
// the order in which they were stored; there are no gaps. `start` is the first offset that was not trimmed, `end` the one
// that the next item gets.
//
// As text a stream is its parts with slashes between, each as a URL writes it: `service/key/name`, or `run_1…/name`.

import { parseRunId, type RunId } from "./ids.ts";
import type { Payload } from "./payload.ts";

export type StreamOwner = { readonly service: string; readonly key: string } | { readonly run: RunId };

export interface StreamRef {
  readonly owner: StreamOwner;
  readonly name: string;
}

/** Where the bytes of a result stand instead of in the journal. */
export interface Kept {
  /** A stream of the run's owner. */
  readonly stream: string;
  readonly from: number;
  readonly count: number;
  /** `item`: the result is the item. `list`: it is `itemList` of the items. */
  readonly form: "item" | "list";
}

/** Whose streams a run names. */
export function streamOwner(run: {
  readonly id: RunId;
  readonly service: string;
  readonly key: string | null;
}): StreamOwner {
  return run.key === null ? { run: run.id } : { service: run.service, key: run.key };
}

export function streamText({ owner, name }: StreamRef): string {
  const parts = "run" in owner ? [owner.run, name] : [owner.service, owner.key, name];
  return parts.map(encodeURIComponent).join("/");
}

/** The stream in `text`, or undefined where it names none. */
export function parseStream(text: string): StreamRef | undefined {
  const parts = text.split("/").map(decodePart);
  const [first, second, third] = parts;
  if (first === undefined || first === "" || second === undefined || parts.includes(undefined)) return undefined;
  if (parts.length === 3) return third ? { owner: { service: first, key: second }, name: third } : undefined;
  const run = parts.length === 2 ? parseRunId(first) : undefined;
  return run === undefined || second === "" ? undefined : { owner: { run }, name: second };
}

function decodePart(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

/** Items as one JSON array. Bytes, which JSON cannot hold, stand in it as `{"base64": "…"}`. */
export function itemList(items: readonly Payload[]): string {
  return `[${items.map((item) => (typeof item === "string" ? item : `{"base64":"${base64(item)}"}`)).join(",")}]`;
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

function base64(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i += 3) {
    const three = ((bytes[i] ?? 0) << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    for (let shift = 18; shift >= 0; shift -= 6) text += DIGITS[(three >> shift) & 63];
  }
  const missing = (3 - (bytes.length % 3)) % 3;
  return missing === 0 ? text : text.slice(0, -missing) + "=".repeat(missing);
}
