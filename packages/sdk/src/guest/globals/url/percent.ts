// Percent-encoding, as the URL standard has it: by sets of characters.

import { encodeUtf8 } from "../text-encoding.ts";

/** Is a character below U+007F of the set? Controls and everything above always are. */
export type EncodeSet = (code: number) => boolean;

const setOf = (characters: string, base?: EncodeSet): EncodeSet => {
  const codes = new Set(Array.from(characters, (character) => character.charCodeAt(0)));
  return (code) => codes.has(code) || base?.(code) === true;
};

export const CONTROL: EncodeSet = () => false;
export const FRAGMENT: EncodeSet = setOf(' "<>`');
export const QUERY: EncodeSet = setOf(' "#<>');
export const SPECIAL_QUERY: EncodeSet = setOf("'", QUERY);
export const PATH: EncodeSet = setOf("?^`{}", QUERY);
export const USERINFO: EncodeSet = setOf("/:;=@[\\]|", PATH);
const FORM_SAFE = /[A-Za-z0-9*\-._]/;

export function percentEncode(text: string, set: EncodeSet): string {
  let encoded = "";
  for (const character of text.toWellFormed()) {
    const code = character.codePointAt(0) ?? 0;
    encoded += code > 0x1f && code < 0x7f && !set(code) ? character : encodedBytes(character);
  }
  return encoded;
}

/** `application/x-www-form-urlencoded`. */
export function formEncode(text: string): string {
  let encoded = "";
  for (const character of text.toWellFormed())
    encoded += character === " " ? "+" : FORM_SAFE.test(character) ? character : encodedBytes(character);
  return encoded;
}

function encodedBytes(character: string): string {
  let encoded = "";
  for (const byte of encodeUtf8(character)) encoded += `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  return encoded;
}

export function percentDecode(text: string): Uint8Array {
  const bytes = encodeUtf8(text);
  if (!text.includes("%")) return bytes;
  const decoded = new Uint8Array(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const hex = bytes[at] === 0x25 ? String.fromCharCode(bytes[at + 1] ?? 0, bytes[at + 2] ?? 0) : "";
    const isEncoded = /^[0-9A-Fa-f]{2}$/.test(hex);
    decoded[length] = isEncoded ? Number.parseInt(hex, 16) : (bytes[at] ?? 0);
    length += 1;
    if (isEncoded) at += 2;
  }
  return decoded.subarray(0, length);
}
