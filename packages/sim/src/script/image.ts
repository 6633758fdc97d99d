// Images of the scripted executor. Its code are generators, which cannot be copied: an image holds what the lives of the
// machine before it were given, from the first on, and how far the code had come. The machine lives through that again,
// saying nothing, and looks at no journal but the entries after the image.

import type { CapturedImage, Entry, Payload, RunId } from "@perdure/protocol";
import { sha256 } from "@perdure/protocol";

/** One attempt, from its start to where it was captured. */
export interface Life {
  /** Who it was. */
  readonly run: RunId;
  /** Of the first life; the later ones have what it made of it. */
  readonly state: readonly (readonly [string, Payload])[] | null;
  /** Given at its start, and while it lived. */
  readonly given: readonly Entry[];
  readonly told: readonly Entry[];
}

export interface ScriptImage {
  /** Index of the last entry that the code had seen. */
  readonly seen: number;
  /** Commands that it had asked for. */
  readonly asked: number;
  readonly lives: readonly Life[];
}

export const SCRIPT_BASE: string = sha256("the script executor");

export function encodeImage(image: ScriptImage): CapturedImage {
  const bytes = Buffer.from(JSON.stringify(image), "utf8");
  return { entry: image.seen, hash: sha256(bytes), base: SCRIPT_BASE, bytes: new Uint8Array(bytes) };
}

export function decodeImage(bytes: Uint8Array): ScriptImage {
  return JSON.parse(Buffer.from(bytes).toString("utf8")) as ScriptImage;
}
