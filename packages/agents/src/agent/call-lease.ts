// What a model call may use at worst, reserved in the budgets that bind it: by its size, and by the dearest of the models that
// may answer it.

import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { internalsOf, type Context } from "@perdure/sdk";
import { estimateTokens } from "../budget/estimate.ts";
import { reserveBudget, type BudgetLease, type TokenPrice } from "../budget/lease.ts";
import { costOf } from "../models/prices.ts";
import { modelName, type ModelRef } from "../models/resolver.ts";

export interface LeasedCall {
  readonly models: readonly ModelRef[];
  readonly options: Pick<LanguageModelV4CallOptions, "prompt" | "tools" | "maxOutputTokens">;
  /** Root first. */
  readonly budgets: readonly string[];
}

/** Where a budget has to be kept and nothing limits the answer. */
const OUTPUT_TOKENS_MAX = 8_192;

/** @throws BudgetExhaustedError where more was denied. */
export async function leaseCall(ctx: Context, { models, options, budgets }: LeasedCall): Promise<BudgetLease> {
  const bytes = bytesOf([options.prompt, options.tools]);
  const estimate = estimateTokens(bytes, options.maxOutputTokens ?? OUTPUT_TOKENS_MAX);
  return await reserveBudget(ctx, budgets, {
    ...estimate,
    price: dearest(models, internalsOf(ctx).ports.now()),
    model: models.map(modelName).join(", "),
  });
}

const MILLION = 1_000_000;

/** Of all that may answer. Null where one of them has no known price. */
function dearest(models: readonly ModelRef[], now: number): TokenPrice | null {
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

export function bytesOf(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}
