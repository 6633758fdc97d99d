// Randomness of our own, so that a seed means the same on every machine and in every version of Node.
//
// R1. `split(name)` gives a stream that depends on the seed and the name only: one more draw in one component does not
//     shift what the others draw.

/** A 32-bit hash of a text (FNV-1a with a final mix). */
export function hashText(text: string, seed = 0): number {
  let hash = (0x811c9dc5 ^ seed) >>> 0;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return mix(hash);
}

function mix(value: number): number {
  let hash = value >>> 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** A generator of the sfc32 family (Chris Doty-Humphrey, public domain). */
export class Random {
  readonly #seed: number;
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: number) {
    this.#seed = seed >>> 0;
    this.#a = mix(this.#seed ^ 0x9e3779b9);
    this.#b = mix(this.#a ^ Math.floor(seed / 4_294_967_296));
    this.#c = mix(this.#b ^ 0x243f6a88);
    for (let i = 0; i < 12; i += 1) this.#draw();
  }

  split(name: string): Random {
    return new Random(hashText(name, this.#seed));
  }

  #draw(): number {
    const result = (this.#a + this.#b + this.#counter) >>> 0;
    this.#counter = (this.#counter + 1) >>> 0;
    this.#a = (this.#b ^ (this.#b >>> 9)) >>> 0;
    this.#b = (this.#c + (this.#c << 3)) >>> 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + result) >>> 0;
    return result;
  }

  /** In [0, 1). */
  next(): number {
    return this.#draw() / 4_294_967_296;
  }

  /** A whole number from `min` to `max`, both included. */
  int(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    const item = list[this.int(0, list.length - 1)];
    if (item === undefined) throw new RangeError("nothing to pick from");
    return item;
  }

  /** A key of `weights`, as often as its weight says. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const entries = Object.entries(weights) as [K, number][];
    let rest = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [key, weight] of entries) {
      rest -= weight;
      if (rest < 0) return key;
    }
    return (entries.at(-1) as [K, number])[0];
  }
}
