// SHA-256 (FIPS 180-4) of bytes, or of a text in UTF-8, as hexadecimal digits
// ===========================================================================
// Written out since web crypto answers with a promise that no journal knows: a handler that waited for it between two
// entries would be out of step on replay, or would pay a step for a pure function. It is held against the platform's own
// in its test.

const BLOCK_BYTES = 64;
const LENGTH_BYTES = 8;
/** The one thing of the surroundings that this needs; all of them have it. */
declare const TextEncoder: new () => { encode(text: string): Uint8Array };

const encoder = new TextEncoder();

/** The first 32 bits of the fractional parts of the cube roots of the first 64 primes, and of square roots of the first 8. */
const PRIMES = firstPrimes(64);
const ROUND_CONSTANTS: Uint32Array = Uint32Array.from(PRIMES, (prime) => fraction(prime, 3));
const INITIAL_STATE: Uint32Array = Uint32Array.from(PRIMES.slice(0, 8), (prime) => fraction(prime, 2));

export function sha256(content: string | Uint8Array): string {
  const data = padded(typeof content === "string" ? encoder.encode(content) : content);
  const state = INITIAL_STATE.slice();
  const words = new Uint32Array(BLOCK_BYTES);
  for (let offset = 0; offset < data.byteLength; offset += BLOCK_BYTES) compress(state, words, data, offset);
  return Array.from(state, (word) => word.toString(16).padStart(8, "0")).join("");
}

/** The message, a bit 1, zeros, and the length in bits, as whole blocks. */
function padded(message: Uint8Array): DataView {
  const blocks = Math.ceil((message.byteLength + 1 + LENGTH_BYTES) / BLOCK_BYTES);
  const bytes = new Uint8Array(blocks * BLOCK_BYTES);
  bytes.set(message);
  bytes[message.byteLength] = 0x80;
  const view = new DataView(bytes.buffer);
  view.setBigUint64(bytes.byteLength - LENGTH_BYTES, BigInt(message.byteLength) * 8n);
  return view;
}

function compress(state: Uint32Array, words: Uint32Array, data: DataView, offset: number): void {
  for (let i = 0; i < 16; i += 1) words[i] = data.getUint32(offset + i * 4);
  for (let i = 16; i < 64; i += 1) {
    const early = at(words, i - 15);
    const late = at(words, i - 2);
    const small0 = rotated(early, 7) ^ rotated(early, 18) ^ (early >>> 3);
    const small1 = rotated(late, 17) ^ rotated(late, 19) ^ (late >>> 10);
    words[i] = at(words, i - 16) + small0 + at(words, i - 7) + small1;
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as Eight;
  for (let i = 0; i < 64; i += 1) {
    const big1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
    const choice = (e & f) ^ (~e & g);
    const first = (h + big1 + choice + at(ROUND_CONSTANTS, i) + at(words, i)) | 0;
    const big0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    [h, g, f, e] = [g, f, e, (d + first) | 0];
    [d, c, b, a] = [c, b, a, (first + big0 + majority) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, i) => {
    state[i] = at(state, i) + word;
  });
}

type Eight = [number, number, number, number, number, number, number, number];

/** In bounds by construction. */
function at(words: Uint32Array, index: number): number {
  return words[index] as number;
}

function rotated(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

function firstPrimes(count: number): number[] {
  const primes: number[] = [];
  for (let n = 2; primes.length < count; n += 1) if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  return primes;
}

/** Exact: the integer root of `n` times 2^(32 * degree), without the part before the point. */
function fraction(n: number, degree: 2 | 3): number {
  const target = BigInt(n) << BigInt(32 * degree);
  let low = 0n;
  let high = 1n << 40n;
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    if (middle ** BigInt(degree) <= target) low = middle;
    else high = middle;
  }
  return Number(low & 0xffff_ffffn);
}
