// What a model call may use at worst, reserved in the budgets that bind it: by its size, and by the dearest of the models that
// may answer it.

import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import type { Context } from "@perdure/sdk";
import { priceOf } from "#ask-model";
import { estimateTokens } from "../budget/estimate.ts";
import { reserveBudget, type BudgetLease } from "../budget/lease.ts";
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
    price: await priceOf(ctx, models),
    model: models.map(modelName).join(", "),
  });
}

export function bytesOf(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}
