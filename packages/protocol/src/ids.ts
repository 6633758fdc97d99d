// Ids
// ===
// A run id is 24 bytes: 8 of partition key, 16 of uuid, the layout that the Restate service protocol carries as an
// invocation id. As text: `run_1`, 11 base62 digits of the partition key, 22 base62 digits of the uuid.
// The partition key of a keyed run is derived from its service and key, so that all runs of one key meet in one
// partition; the uuid of an idempotent run is derived from what makes it idempotent, so that the same key names the
// same run without any lookup table (E9).
//
// An awakeable id is `sign_1` and base64url without padding of (run id bytes, signal index as u32 big endian).

declare const runIdBrand: unique symbol;

/** `run_1` + 33 base62 digits. */
export type RunId = string & { readonly [runIdBrand]: true };

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const PREFIX = "run_1";
const KEY_DIGITS = 11;
const UUID_DIGITS = 22;
const RUN_ID_BYTES = 24;
const AWAKEABLE_PREFIX = "sign_1";
/** Signal indexes below this are the protocol's own (1 is cancel, 2 to 15 reserved, 16 unused). */
export const FIRST_AWAKEABLE_SIGNAL = 17;
/** The built-in signal that asks a run to cancel itself. */
export const CANCEL_SIGNAL = 1;

export function encodeRunId(bytes: Uint8Array): RunId {
  if (bytes.byteLength !== RUN_ID_BYTES) throw new RangeError(`a run id has 24 bytes, got ${bytes.byteLength}`);
  return (PREFIX + encodeBase62(bytes, 0, 8, KEY_DIGITS) + encodeBase62(bytes, 8, 16, UUID_DIGITS)) as RunId;
}

export function decodeRunId(id: RunId): Uint8Array {
  const bytes = new Uint8Array(RUN_ID_BYTES);
  const start = PREFIX.length;
  decodeBase62(id.slice(start, start + KEY_DIGITS), bytes, 0, 8);
  decodeBase62(id.slice(start + KEY_DIGITS), bytes, 8, 16);
  return bytes;
}

/** The run id in `text` (also as `inv_…`, as the Restate API spells it), or undefined where it is none. */
export function parseRunId(text: string): RunId | undefined {
  const match = /^(?:run|inv)_1([0-9A-Za-z]{33})$/.exec(text);
  if (match === null) return undefined;
  const id = (PREFIX + (match[1] ?? "")) as RunId;
  try {
    decodeRunId(id);
    return id;
  } catch {
    return undefined; // Digits that name a number of more than 24 bytes.
  }
}

/** Big-endian bytes to a fixed number of base62 digits, by long division on 16-bit limbs (no BigInt: this is hot). */
function encodeBase62(bytes: Uint8Array, offset: number, length: number, digits: number): string {
  const limbs: number[] = [];
  for (let i = 0; i < length; i += 2) limbs.push(((bytes[offset + i] ?? 0) << 8) | (bytes[offset + i + 1] ?? 0));
  let text = "";
  for (let d = 0; d < digits; d += 1) {
    let remainder = 0;
    for (let i = 0; i < limbs.length; i += 1) {
      const value = remainder * 65_536 + (limbs[i] ?? 0);
      limbs[i] = Math.floor(value / 62);
      remainder = value % 62;
    }
    text = (DIGITS[remainder] ?? "") + text;
  }
  return text;
}

function decodeBase62(text: string, into: Uint8Array, offset: number, length: number): void {
  for (const character of text) {
    let carry = DIGITS.indexOf(character);
    if (carry < 0) throw new RangeError(`not a base62 digit: ${character}`);
    for (let i = length - 1; i >= 0; i -= 1) {
      const value = (into[offset + i] ?? 0) * 62 + carry;
      into[offset + i] = value & 255;
      carry = value >> 8;
    }
    if (carry !== 0) throw new RangeError("the digits name a number that does not fit");
  }
}

export interface AwakeableRef {
  readonly run: RunId;
  readonly signal: number;
}

export function encodeAwakeableId(ref: AwakeableRef): string {
  const bytes = new Uint8Array(RUN_ID_BYTES + 4);
  bytes.set(decodeRunId(ref.run));
  new DataView(bytes.buffer).setUint32(RUN_ID_BYTES, ref.signal);
  return AWAKEABLE_PREFIX + encodeBase64Url(bytes);
}

/** The awakeable in `text`, or undefined where it is none. */
export function parseAwakeableId(text: string): AwakeableRef | undefined {
  if (!text.startsWith(AWAKEABLE_PREFIX)) return undefined;
  const bytes = decodeBase64Url(text.slice(AWAKEABLE_PREFIX.length));
  if (bytes === undefined || bytes.byteLength !== RUN_ID_BYTES + 4) return undefined;
  const signal = new DataView(bytes.buffer, bytes.byteOffset).getUint32(RUN_ID_BYTES);
  if (signal < FIRST_AWAKEABLE_SIGNAL) return undefined;
  return { run: encodeRunId(bytes.slice(0, RUN_ID_BYTES)), signal };
}

const BASE64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

function encodeBase64Url(bytes: Uint8Array): string {
  let text = "";
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    bits += 8;
    while (bits >= 6) {
      bits -= 6;
      text += BASE64URL[(held >> bits) & 63];
    }
    held &= (1 << bits) - 1;
  }
  return bits > 0 ? text + BASE64URL[(held << (6 - bits)) & 63] : text;
}

function decodeBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  const bytes = new Uint8Array(Math.floor((text.length * 6) / 8));
  let bits = 0;
  let held = 0;
  let at = 0;
  for (const character of text) {
    const digit = BASE64URL.indexOf(character);
    if (digit < 0) return undefined;
    held = ((held << 6) | digit) & 0xffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[at] = (held >> bits) & 255;
      at += 1;
    }
  }
  // Left-over bits must be zero, or two texts would name one awakeable.
  return (held & ((1 << bits) - 1)) === 0 ? bytes : undefined;
}
