// Hosts of URLs: domains, IPv4 in all its spellings, IPv6. Names that are not ASCII are normalized (NFKC, lower case) and
// written in punycode; of the Unicode consortium's mapping table, which is 200 KB, there is no more.

import { TextDecoder } from "../text-encoding.ts";
import { CONTROL, percentDecode, percentEncode } from "./percent.ts";
import { punycode } from "./punycode.ts";

// oxlint-disable-next-line no-control-regex -- These are what must not be in a host.
const FORBIDDEN_HOST = /[\0\t\n\r #/:<>?@[\\\]^|]/;
// oxlint-disable-next-line no-control-regex -- See above.
const FORBIDDEN_DOMAIN = /[\0-\x20"#%/:<>?@[\\\]^`{|}\x7f]/;
/** What is left of bytes that are no text. */
const NO_TEXT = "\ufffd";
/** Characters that are written and mean nothing: soft hyphens, variation selectors and the like. */
const IGNORED = /\u{ad}|\u{34f}|[\u{180b}-\u{180d}]|\u{200b}|\u{2060}|[\u{fe00}-\u{fe0f}]|\u{feff}/gu;
const DOTS = /[\u3002\uff0e\uff61]/g;

/** As it stands in a URL; undefined where it is none. */
export function parseHost(text: string, isSpecial: boolean): string | undefined {
  if (text.startsWith("[")) return text.endsWith("]") ? ipv6Host(text.slice(1, -1)) : undefined;
  if (!isSpecial) return FORBIDDEN_HOST.test(text) ? undefined : percentEncode(text, CONTROL);
  const decoded = new TextDecoder("utf-8", { ignoreBOM: true }).decode(percentDecode(text));
  if (decoded.includes(NO_TEXT)) return undefined;
  const domain = toAscii(decoded);
  if (domain === "" || FORBIDDEN_DOMAIN.test(domain)) return undefined;
  return endsInNumber(domain) ? ipv4(domain) : domain;
}

function toAscii(domain: string): string {
  const mapped = domain.replace(IGNORED, "").normalize("NFKC").toLowerCase().normalize("NFC").replace(DOTS, ".");
  return mapped
    .split(".")
    .map((label) => (/^[\0-\x7f]*$/.test(label) ? label : `xn--${punycode(label)}`)) // oxlint-disable-line no-control-regex
    .join(".");
}

// IPv4
// ----

function endsInNumber(domain: string): boolean {
  const parts = domain.split(".");
  if (parts.at(-1) === "" && parts.length > 1) parts.pop();
  const last = parts.at(-1) ?? "";
  return /^\d+$/.test(last) || /^0x[0-9a-f]*$/i.test(last);
}

function ipv4(domain: string): string | undefined {
  const parts = domain.split(".");
  if (parts.at(-1) === "" && parts.length > 1) parts.pop();
  if (parts.length > 4) return undefined;
  const numbers = parts.map(ipv4Number);
  const last = numbers.at(-1);
  if (last === undefined || numbers.some((number) => number === undefined)) return undefined;
  if (numbers.slice(0, -1).some((number) => (number ?? 0) > 255) || last >= 256 ** (5 - numbers.length))
    return undefined;
  const address = numbers.slice(0, -1).reduce<number>((sum, number, at) => sum + (number ?? 0) * 256 ** (3 - at), last);
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join(".");
}

function ipv4Number(text: string): number | undefined {
  if (text === "") return undefined;
  if (/^0x[0-9a-f]*$/i.test(text)) return text.length === 2 ? 0 : Number.parseInt(text.slice(2), 16);
  if (/^0[0-7]+$/.test(text)) return Number.parseInt(text, 8);
  return /^(?:0|[1-9]\d*)$/.test(text) ? Number(text) : undefined;
}

// IPv6
// ----

function ipv6Host(text: string): string | undefined {
  const pieces = ipv6Pieces(text);
  return pieces === undefined ? undefined : `[${ipv6Text(pieces)}]`;
}

function ipv6Pieces(text: string): readonly number[] | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [head, tail] = [piecesOf(halves[0] ?? "", halves.length === 1), piecesOf(halves[1] ?? "", true)];
  if (head === undefined || tail === undefined) return undefined;
  if (halves.length === 1) return head.length === 8 ? head : undefined;
  const missing = 8 - head.length - tail.length;
  return missing < 1 ? undefined : [...head, ...Array.from({ length: missing }, () => 0), ...tail];
}

/** @param mayEndInIpv4 `1.2.3.4` may stand for the last two. */
function piecesOf(text: string, mayEndInIpv4: boolean): readonly number[] | undefined {
  if (text === "") return [];
  const pieces: number[] = [];
  const parts = text.split(":");
  for (const [at, part] of parts.entries()) {
    if (/^[0-9a-f]{1,4}$/i.test(part)) pieces.push(Number.parseInt(part, 16));
    else if (mayEndInIpv4 && at === parts.length - 1) {
      const bytes = part.split(".").map((byte) => (/^(?:0|[1-9]\d{0,2})$/.test(byte) ? Number(byte) : 256));
      if (bytes.length !== 4 || bytes.some((byte) => byte > 255)) return undefined;
      const [a = 0, b = 0, c = 0, d = 0] = bytes;
      pieces.push(a * 256 + b, c * 256 + d);
    } else return undefined;
  }
  return pieces;
}

/** The longest row of zeros, the first of several, is left out. */
function ipv6Text(pieces: readonly number[]): string {
  let best = { at: -1, length: 1 };
  for (let at = 0; at < pieces.length; at += 1) {
    let length = 0;
    while (pieces[at + length] === 0) length += 1;
    if (length > best.length) best = { at, length };
  }
  const hex = (some: readonly number[]): string => some.map((piece) => piece.toString(16)).join(":");
  if (best.at === -1) return hex(pieces);
  return `${hex(pieces.slice(0, best.at))}::${hex(pieces.slice(best.at + best.length))}`;
}
