// Amounts: what calls use, in whole units
// =======================================
// Money is counted in nano-dollars, as integers: a token costs as little as 50 of them, and sums of fractions of a dollar
// would not come back to where they began. 2^53 of them are nine million dollars.
//
// A wish is a range: `most` is what the call uses at worst, `least` what it can do with (a shorter answer). Between the
// two, dollars grow with tokens.

export interface Amount {
  readonly tokens: number;
  readonly nanoUsd: number;
  readonly calls: number;
}

/** `nanoUsd: null`: the price is not known. */
export interface Cost {
  readonly tokens: number;
  readonly nanoUsd: number | null;
}

export interface Wish {
  readonly calls: number;
  readonly most: Cost;
  readonly least: Cost;
}

const NANO_PER_USD = 1e9;

export const NOTHING: Amount = { tokens: 0, nanoUsd: 0, calls: 0 };

/** Of what is to be reserved: never less than it is. */
export function nanoUsdAtMost(usd: number): number {
  return Math.ceil(usd * NANO_PER_USD);
}

/** Of what was used. Rounding to the nearest never exceeds `nanoUsdAtMost` of the same price. */
export function nanoUsdOf(usd: number): number {
  return Math.round(usd * NANO_PER_USD);
}

export function usdOf(nanoUsd: number): number {
  return nanoUsd / NANO_PER_USD;
}

/** A price that is not known counts as nothing. */
export function amountOf(cost: Cost, calls: number): Amount {
  return { tokens: cost.tokens, nanoUsd: cost.nanoUsd ?? 0, calls };
}

export function plus(a: Amount, b: Amount): Amount {
  return { tokens: a.tokens + b.tokens, nanoUsd: a.nanoUsd + b.nanoUsd, calls: a.calls + b.calls };
}

export function minus(a: Amount, b: Amount): Amount {
  return { tokens: a.tokens - b.tokens, nanoUsd: a.nanoUsd - b.nanoUsd, calls: a.calls - b.calls };
}

/** What `a` has more than `b`, and no less than nothing. */
export function excess(a: Amount, b: Amount): Amount {
  const { tokens, nanoUsd, calls } = minus(a, b);
  return { tokens: Math.max(0, tokens), nanoUsd: Math.max(0, nanoUsd), calls: Math.max(0, calls) };
}

/** Dimensions in which `amount` is more than there is room for. */
export function beyond(amount: Amount, room: Amount): (keyof Amount)[] {
  const dimensions: readonly (keyof Amount)[] = ["tokens", "nanoUsd", "calls"];
  return dimensions.filter((dimension) => amount[dimension] > room[dimension]);
}

/** The most of a wish that there is room for, or undefined where there is none even for the least of it. */
export function mostWithin(wish: Wish, room: Amount): Cost | undefined {
  const { most, least } = wish;
  if (beyond(amountOf(least, wish.calls), room).length > 0) return undefined;
  const tokens = Math.min(most.tokens, room.tokens);
  if (most.nanoUsd === null || least.nanoUsd === null) return { tokens, nanoUsd: null };
  const span = most.tokens - least.tokens;
  const spanUsd = most.nanoUsd - least.nanoUsd;
  const affordable =
    most.nanoUsd <= room.nanoUsd ? span : Math.floor(((room.nanoUsd - least.nanoUsd) / spanUsd) * span);
  let extra = Math.min(tokens - least.tokens, affordable);
  // The division is inexact: it may be one too many, and what is granted must not be.
  while (extra > 0 && priceOf(wish, extra) > room.nanoUsd) extra -= 1;
  return { tokens: least.tokens + extra, nanoUsd: priceOf(wish, extra) };
}

/** Nano-dollars of a wish that is granted with `extra` tokens above the least. */
function priceOf({ most, least }: Wish, extra: number): number {
  const span = most.tokens - least.tokens;
  const [dearest, cheapest] = [most.nanoUsd ?? 0, least.nanoUsd ?? 0];
  if (extra === span) return dearest;
  return Math.min(dearest, cheapest + Math.ceil((extra * (dearest - cheapest)) / span));
}
