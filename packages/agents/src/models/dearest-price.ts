// The price that a call is reserved at: of all models that may answer it, the dearest.

import type { TokenPrice } from "../budget/lease.ts";
import { costOf } from "./prices.ts";

import { modelName, type ModelRef } from "./resolver.ts";

const MILLION = 1_000_000;

/** Null where one of them has no known price. */
export function dearestPrice(models: readonly ModelRef[], now: number): TokenPrice | null {
  let price: TokenPrice = { usdPerInputToken: 0, usdPerOutputToken: 0 };
  for (const model of models) {
    const input = perToken(model, MILLION, 0, now);
    const output = perToken(model, 0, MILLION, now);
    if (input === null || output === null) return null;
    price = {
      usdPerInputToken: Math.max(price.usdPerInputToken, input),
      usdPerOutputToken: Math.max(price.usdPerOutputToken, output),
    };
  }
  return price;
}

function perToken(model: ModelRef, input: number, output: number, now: number): number | null {
  const [provider = "", ...rest] = modelName(model).split("/");
  const cost = costOf({
    provider,
    modelId: rest.join("/"),
    answeredBy: undefined,
    usage: {
      inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: output, text: output, reasoning: 0 },
    },
    now,
  });
  return cost.usd === null ? null : cost.usd / MILLION;
}
