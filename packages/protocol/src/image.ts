// Images: the captured execution of a run
// =======================================
// A run is `image(i)` plus `entries(i+1 …)`. An attempt that can capture its heap says so (`AttemptReplies.image`) when its
// code has seen the entries up to `i` and waits; a later attempt starts from there and is owed only the entries after it.
//
// I1. Every command that the code had asked for when it was captured stands in the journal at or before `entry`.
// I2. An image is a shortcut and never the truth: without it the whole journal gives the same execution (E10).

import type { Instant } from "./time.ts";

/** What an image is: the execution of a run as it was when its code had seen the entries up to `entry` and waited. */
export interface ImageInfo {
  /** Index of the last entry that the code had seen; every command it had asked for by then stands at or before it. */
  readonly entry: number;
  /** SHA-256 of the bytes, hex. Content address: equal images of several runs are stored once. */
  readonly hash: string;
  /** Artifact (hash) that the bytes are a difference to: the heap with the code loaded, before the handler began. */
  readonly base: string;
  /** Bytes as stored. */
  readonly size: number;
  readonly at: Instant;
  /** Given by a person; named images are kept as long as the run. */
  readonly name: string | null;
}

export interface StartImage {
  readonly info: ImageInfo;
  readonly bytes: Uint8Array;
}

/** What an attempt captured. */
export interface CapturedImage {
  readonly entry: number;
  readonly hash: string;
  readonly base: string;
  readonly bytes: Uint8Array;
}
