// The random numbers of handler code
// ==================================
// sfc32 of Chris Doty-Humphrey's PractRand (public domain): 128 bits of state, three additions and a rotation a draw.
// Seeded from the run's id alone, so that every attempt of the run draws the same numbers in the same order, also after a
// restart from a later entry, where the entries before it stay and must be met again. (With the run's generation in the
// seed, what those entries were asked with would change.) It replays; it is no source of secrets.

import type { RunId } from "@perdure/protocol";
import { decodeRunId } from "@perdure/protocol";

/** Draws that are thrown away at first, so that close seeds give unrelated sequences. PractRand uses 12 to 15. */
const WARM_UP_DRAWS = 15;
/** 2^32 divided by the golden ratio, odd: the usual multiplier to spread bits. */
const GOLDEN = 0x9e3779b1;
const HEX = "0123456789abcdef";

export class ReplayableRandom {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  /** @param began the entry that the code began with, where it is not the run's first: what was drawn before is not again. */
  constructor(run: RunId, began = 0) {
    const bytes = new DataView(decodeRunId(run).buffer);
    // 24 bytes into 96 bits of seed: two words are folded into each, unalike, so that equal ones do not cancel.
    this.#a = bytes.getUint32(0) ^ Math.imul(bytes.getUint32(12), GOLDEN);
    this.#b = bytes.getUint32(4) ^ Math.imul(bytes.getUint32(16), GOLDEN);
    this.#c = bytes.getUint32(8) ^ Math.imul(bytes.getUint32(20), GOLDEN);
    if (began > 0) this.#c ^= Math.imul(began, GOLDEN);
    for (let i = 0; i < WARM_UP_DRAWS; i += 1) this.#next();
  }

  #next(): number {
    const result = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + result) | 0;
    return result >>> 0;
  }

  /** 53 bits, in [0, 1). */
  random(): number {
    const high = this.#next() >>> 5;
    const low = this.#next() >>> 6;
    return (high * 67_108_864 + low) / 9_007_199_254_740_992;
  }

  /** Version 4 in form. */
  uuid(): string {
    let hex = "";
    for (let word = 0; word < 4; word += 1) {
      let bits = this.#next();
      if (word === 1) bits = ((bits & 0xffff0fff) | 0x4000) >>> 0;
      if (word === 2) bits = ((bits & 0x3fffffff) | 0x80000000) >>> 0;
      for (let shift = 28; shift >= 0; shift -= 4) hex += HEX[(bits >>> shift) & 15];
    }
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  }
}
