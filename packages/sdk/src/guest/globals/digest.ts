// SHA-1 and SHA-256, of bytes. An isolate is slow at this: some 100 KB take a second there. What is larger belongs to a step
// on the host.

type Round = (state: Uint32Array, words: Uint32Array) => void;

interface Algorithm {
  readonly start: readonly number[];
  readonly words: number;
  readonly round: Round;
}

const rotateRight = (word: number, bits: number): number => (word >>> bits) | (word << (32 - bits));
const rotateLeft = (word: number, bits: number): number => (word << bits) | (word >>> (32 - bits));

/** The first 32 bits of the fractional parts of the roots of the first primes. */
const rootsOfPrimes = (count: number, exponent: number): readonly number[] => {
  const roots: number[] = [];
  for (let candidate = 2; roots.length < count; candidate += 1) {
    let isPrime = true;
    for (let factor = 2; factor * factor <= candidate; factor += 1) if (candidate % factor === 0) isPrime = false;
    if (isPrime) roots.push(((candidate ** exponent * 2 ** 32) % 2 ** 32) >>> 0);
  }
  return roots;
};

let constants: readonly number[] | undefined;

const SHA_256: Algorithm = {
  get start() {
    return rootsOfPrimes(8, 1 / 2);
  },
  words: 64,
  round: (state, words) => {
    constants ??= rootsOfPrimes(64, 1 / 3);
    for (let at = 16; at < 64; at += 1) {
      const [a, b] = [words[at - 15] as number, words[at - 2] as number];
      const s0 = rotateRight(a, 7) ^ rotateRight(a, 18) ^ (a >>> 3);
      const s1 = rotateRight(b, 17) ^ rotateRight(b, 19) ^ (b >>> 10);
      words[at] = (words[at - 16] as number) + s0 + (words[at - 7] as number) + s1;
    }
    let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
    for (let at = 0; at < 64; at += 1) {
      const s1 = rotateRight(e, 6) ^ rotateRight(e, 11) ^ rotateRight(e, 25);
      const first = (h + s1 + ((e & f) ^ (~e & g)) + (constants[at] as number) + (words[at] as number)) >>> 0;
      const s0 = rotateRight(a, 2) ^ rotateRight(a, 13) ^ rotateRight(a, 22);
      const second = (s0 + ((a & b) ^ (a & c) ^ (b & c))) >>> 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) >>> 0, c, b, a, (first + second) >>> 0];
    }
    add(state, [a, b, c, d, e, f, g, h]);
  },
};

const SHA_1: Algorithm = {
  start: [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0],
  words: 80,
  round: (state, words) => {
    for (let at = 16; at < 80; at += 1) {
      const [w, x, y, z] = [words[at - 3], words[at - 8], words[at - 14], words[at - 16]] as [
        number,
        number,
        number,
        number,
      ];
      words[at] = rotateLeft(w ^ x ^ y ^ z, 1);
    }
    let [a, b, c, d, e] = state as unknown as [number, number, number, number, number];
    for (let at = 0; at < 80; at += 1) {
      const [mixed, constant] =
        at < 20
          ? [(b & c) | (~b & d), 0x5a827999]
          : at < 40
            ? [b ^ c ^ d, 0x6ed9eba1]
            : at < 60
              ? [(b & c) | (b & d) | (c & d), 0x8f1bbcdc]
              : [b ^ c ^ d, 0xca62c1d6];
      const next = (rotateLeft(a, 5) + mixed + e + constant + (words[at] as number)) >>> 0;
      [e, d, c, b, a] = [d, c, rotateLeft(b, 30) >>> 0, a, next];
    }
    add(state, [a, b, c, d, e]);
  },
};

const ALGORITHMS: Readonly<Record<string, Algorithm>> = { "SHA-1": SHA_1, "SHA-256": SHA_256 };
const BLOCK_BYTES = 64;

/** Undefined where the algorithm is not there. */
export function digest(algorithm: string, bytes: Uint8Array): Uint8Array | undefined {
  const found = Object.hasOwn(ALGORITHMS, algorithm) ? ALGORITHMS[algorithm] : undefined;
  if (found === undefined) return undefined;
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / BLOCK_BYTES) * BLOCK_BYTES);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setBigUint64(padded.length - 8, BigInt(bytes.length) * 8n);
  const state = Uint32Array.from(found.start);
  const words = new Uint32Array(found.words);
  for (let block = 0; block < padded.length; block += BLOCK_BYTES) {
    for (let at = 0; at < 16; at += 1) words[at] = view.getUint32(block + 4 * at);
    found.round(state, words);
  }
  const result = new DataView(new ArrayBuffer(4 * state.length));
  for (const [at, word] of state.entries()) result.setUint32(4 * at, word);
  return new Uint8Array(result.buffer);
}

function add(state: Uint32Array, values: readonly number[]): void {
  for (const [at, value] of values.entries()) state[at] = (state[at] as number) + value;
}
