// TextEncoder, TextDecoder: UTF-8. The work is left to functions of the engine that are compiled: a loop over bytes takes
// several times as long in an isolate.

import { tag } from "./define.ts";

declare const escape: (text: string) => string;
declare const unescape: (text: string) => string;
declare const btoa: (binary: string) => string;
declare const atob: (base64: string) => string;

interface Base64 {
  fromBase64(text: string): Uint8Array<ArrayBuffer>;
}

/** A byte a character, well-formed UTF-8. */
const binaryOf = (text: string): string => unescape(encodeURIComponent(text.toWellFormed()));

export function encodeUtf8(text: string): Uint8Array<ArrayBuffer> {
  return (Uint8Array as unknown as Base64).fromBase64(btoa(binaryOf(text)));
}

export class TextEncoder {
  get encoding(): string {
    return "utf-8";
  }

  encode(text = ""): Uint8Array<ArrayBuffer> {
    return encodeUtf8(String(text));
  }

  encodeInto(text: string, destination: Uint8Array): { read: number; written: number } {
    let read = 0;
    let written = 0;
    for (const character of String(text)) {
      const bytes = encodeUtf8(character);
      if (written + bytes.length > destination.length) break;
      destination.set(bytes, written);
      written += bytes.length;
      read += character.length;
    }
    return { read, written };
  }
}

const LABELS: ReadonlySet<string> = new Set([
  ...["unicode-1-1-utf-8", "unicode11utf8", "unicode20utf8", "utf-8", "utf8", "x-unicode20utf8"],
]);
const BOM = "\ufeff";
const NONE: Uint8Array<ArrayBuffer> = new Uint8Array(0);

export class TextDecoder {
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;
  /** The begin of a character whose end has not come yet. */
  #rest: Uint8Array = NONE;
  #isBomSeen = false;

  constructor(label = "utf-8", options: { readonly fatal?: boolean; readonly ignoreBOM?: boolean } = {}) {
    if (!LABELS.has(String(label).trim().toLowerCase()))
      throw new RangeError(`the encoding "${label}" is not there inside an isolate, which has utf-8 alone`);
    this.fatal = options?.fatal === true;
    this.ignoreBOM = options?.ignoreBOM === true;
  }

  get encoding(): string {
    return "utf-8";
  }

  decode(input?: ArrayBuffer | ArrayBufferView, options: { readonly stream?: boolean } = {}): string {
    const isMore = options?.stream === true;
    const bytes = joined(this.#rest, bytesOf(input));
    const end = isMore ? bytes.length - unfinishedBytes(bytes) : bytes.length;
    this.#rest = isMore ? bytes.slice(end) : NONE;
    const text = this.#decode(bytes.subarray(0, end));
    const isStart = !this.#isBomSeen && text !== "";
    this.#isBomSeen = isMore && (this.#isBomSeen || text !== "");
    return isStart && !this.ignoreBOM && text.startsWith(BOM) ? text.slice(1) : text;
  }

  #decode(bytes: Uint8Array): string {
    try {
      return decodeURIComponent(escape(atob((bytes as unknown as { toBase64(): string }).toBase64())));
    } catch {
      // Not UTF-8.
      if (!this.fatal) return lenient(bytes);
      this.#rest = NONE;
      throw Object.assign(new TypeError("The encoded data was not valid for encoding utf-8"), {
        code: "ERR_ENCODING_INVALID_ENCODED_DATA",
      });
    }
  }
}

export function bytesOf(input: unknown): Uint8Array {
  if (input === undefined) return NONE;
  if (input instanceof Uint8Array) return input;
  if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
  if (input instanceof ArrayBuffer || input instanceof SharedArrayBuffer) return new Uint8Array(input as ArrayBuffer);
  throw new TypeError("an ArrayBuffer or a view of one is needed");
}

export function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const filled = parts.filter((part) => part.length > 0);
  if (filled.length <= 1) return filled[0] ?? NONE;
  const whole = new Uint8Array(filled.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of filled) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** How many bytes at the end may be the begin of a character. */
function unfinishedBytes(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const lead = sequenceAt(bytes, bytes.length - back);
    if (lead !== undefined) return lead.isCut ? back : 0;
  }
  return 0;
}

interface Sequence {
  /** Bytes that belong together, if but to be replaced together. */
  readonly length: number;
  readonly isValid: boolean;
  /** It is right so far, and the bytes end. */
  readonly isCut: boolean;
}

/** The sequence that begins at a byte; undefined where none can begin. */
function sequenceAt(bytes: Uint8Array, at: number): Sequence | undefined {
  const lead = bytes[at] ?? 0;
  if (lead < 0x80) return { length: 1, isValid: true, isCut: false };
  const needed =
    lead >= 0xc2 && lead <= 0xdf ? 2 : lead >= 0xe0 && lead <= 0xef ? 3 : lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
  if (needed === 0) return undefined;
  let length = 1;
  while (length < needed) {
    const next = bytes[at + length];
    if (next === undefined) return { length, isValid: false, isCut: true };
    const [low, high] = length === 1 ? secondByteRange(lead) : [0x80, 0xbf];
    if (next < low || next > high) return { length, isValid: false, isCut: false };
    length += 1;
  }
  return { length, isValid: true, isCut: false };
}

/** Neither longer than needed, nor a surrogate, nor beyond the last code point. */
function secondByteRange(lead: number): readonly [low: number, high: number] {
  if (lead === 0xe0) return [0xa0, 0xbf];
  if (lead === 0xed) return [0x80, 0x9f];
  if (lead === 0xf0) return [0x90, 0xbf];
  if (lead === 0xf4) return [0x80, 0x8f];
  return [0x80, 0xbf];
}

/** What is wrong becomes U+FFFD, once for each piece that could have begun a character. */
function lenient(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const sequence = sequenceAt(bytes, at) ?? { length: 1, isValid: false };
    text += sequence.isValid ? characterOf(bytes.subarray(at, at + sequence.length)) : "\ufffd";
    at += sequence.length;
  }
  return text;
}

const characterOf = (bytes: Uint8Array): string => decodeURIComponent(escape(String.fromCharCode(...bytes)));

tag(TextEncoder, "TextEncoder");
tag(TextDecoder, "TextDecoder");
