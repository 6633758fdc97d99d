// Orders that every store has in common (T5).

import type { Timer } from "../store.ts";

/** By code point, as UTF-8 bytes compare; `<` on strings compares UTF-16 units, which differs above U+FFFF. */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i += 1) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
}

/** Surrogates stand for code points above all other units. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x1_0000 : unit;
}

export function compareTimers(a: Timer, b: Timer): number {
  return a.at - b.at || a.run - b.run || compareText(a.kind, b.kind) || a.id - b.id;
}

/** Where `item` stands, or would stand, in a sorted list. */
export function lowerBound<T, I = T>(list: readonly T[], item: I, compare: (a: T, b: I) => number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compare(list[middle] as T, item) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
