// Spans: the words of a memory that differ from a base, in the order of their addresses
//
//   words that are as in the base, words that differ: a varint each | the words that differ, as they are now
//
// The words as they are, and not XORed with those of the base: new objects lie where the base has nothing, or something
// else, so that what repeats in them is found by whoever compresses it.

import { ImageDamagedError } from "@perdure/protocol";

export const PAGE_BYTES = 4_096;
const WORD_BYTES = 4;
const VARINT_BYTES_MAX = 5;
/** Up to here a loop is faster than a call. */
const SHORT_BYTES = 64;
const ZEROS = Buffer.alloc(PAGE_BYTES);

export interface Spans {
  readonly spans: Uint8Array;
  /** How many words differ. */
  readonly words: number;
}

/** What differs from address `from` on. */
export function spansOf(memory: Uint8Array, base: Uint8Array, from: number): Spans {
  const now = new Uint32Array(memory.buffer, memory.byteOffset, memory.length / WORD_BYTES);
  const before = new Uint32Array(base.buffer, base.byteOffset, base.length / WORD_BYTES);
  const writer = new SpanWriter(now, from / WORD_BYTES);
  for (const page of changedPages(memory, base, from)) {
    const first = Math.max(from, page * PAGE_BYTES) / WORD_BYTES;
    const end = ((page + 1) * PAGE_BYTES) / WORD_BYTES;
    const same = end <= before.length ? before : NOTHING;
    const shift = end <= before.length ? 0 : page * (PAGE_BYTES / WORD_BYTES);
    for (let at = first; at < end; ) {
      if (now[at] === same[at - shift]) at += 1;
      else {
        const begin = at;
        while (at < end && now[at] !== same[at - shift]) at += 1;
        writer.add(begin, at);
      }
    }
  }
  return writer.take();
}

const NOTHING = new Uint32Array(PAGE_BYTES / WORD_BYTES);

class SpanWriter {
  readonly #memory: Uint32Array;
  #bytes = Buffer.allocUnsafe(32_768);
  #length = 0;
  /** Where the last written span ends. */
  #end: number;
  /** What is not written yet: the next words may go on with it. */
  #from = 0;
  #to = 0;
  #words = 0;

  constructor(memory: Uint32Array, from: number) {
    this.#memory = memory;
    this.#end = from;
  }

  add(from: number, to: number): void {
    if (from !== this.#to) {
      this.#flush();
      this.#from = from;
    }
    this.#to = to;
  }

  take(): Spans {
    this.#flush();
    return { spans: this.#bytes.subarray(0, this.#length), words: this.#words };
  }

  #flush(): void {
    const count = this.#to - this.#from;
    if (count === 0) return;
    this.#makeRoom(2 * VARINT_BYTES_MAX + count * WORD_BYTES);
    this.#varint(this.#from - this.#end);
    this.#varint(count);
    const bytes = this.#bytes;
    let length = this.#length;
    for (let at = this.#from; at < this.#to; at += 1) {
      const word = this.#memory[at] as number;
      bytes[length] = word;
      bytes[length + 1] = word >>> 8;
      bytes[length + 2] = word >>> 16;
      bytes[length + 3] = word >>> 24;
      length += WORD_BYTES;
    }
    this.#length = length;
    this.#end = this.#to;
    this.#words += count;
  }

  #varint(value: number): void {
    let rest = value;
    for (; rest > 127; rest >>>= 7) this.#bytes[this.#length++] = (rest & 127) | 128;
    this.#bytes[this.#length++] = rest;
  }

  #makeRoom(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(2 * (this.#length + bytes));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}

/** @param from where the spans begin. @returns how many words it wrote. @throws ImageDamagedError */
export function applySpans(spans: Uint8Array, memory: Uint8Array, from: number): number {
  let read = 0;
  let write = from;
  let words = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; shift < 7 * VARINT_BYTES_MAX; shift += 7) {
      const byte = spans[read++] ?? 0;
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
    throw new ImageDamagedError("an image has a number that is too long");
  };
  while (read < spans.length) {
    write += varint() * WORD_BYTES;
    const bytes = varint() * WORD_BYTES;
    if (read + bytes > spans.length || write + bytes > memory.length)
      throw new ImageDamagedError("an image has words beyond its memory");
    if (bytes <= SHORT_BYTES) for (let at = 0; at < bytes; at += 1) memory[write + at] = spans[read + at] as number;
    else memory.set(spans.subarray(read, read + bytes), write);
    read += bytes;
    write += bytes;
    words += bytes / WORD_BYTES;
  }
  return words;
}

/** Indexes of the pages that differ from address `from` on; a page beyond the base differs where it is not all zeros. */
export function changedPages(memory: Uint8Array, base: Uint8Array, from = 0): readonly number[] {
  const now = viewOf(memory);
  const before = viewOf(base);
  const changed: number[] = [];
  for (let at = from - (from % PAGE_BYTES); at < now.length; at += PAGE_BYTES) {
    const to = at + PAGE_BYTES;
    const same = at < before.length ? now.compare(before, at, to, at, to) === 0 : isZeroPage(now, at);
    if (!same) changed.push(at / PAGE_BYTES);
  }
  return changed;
}

export function isZeroPage(view: Buffer, from: number): boolean {
  return view.compare(ZEROS, 0, PAGE_BYTES, from, from + PAGE_BYTES) === 0;
}

export function viewOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
