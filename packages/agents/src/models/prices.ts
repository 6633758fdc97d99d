// What a call cost
// ================
// From the registry of prices that `@pydantic/genai-prices` brings, or from the caller's own. What is not known is said to
// be unknown, with the reason; it is never 0. The provider is always named to the registry: a model of the same name at
// another provider may cost something else.

import type { LanguageModelV4Usage } from "@ai-sdk/provider";
import { calcPrice, findProvider } from "#price-registry";

export type Cost = { readonly usd: number } | { readonly usd: null; readonly reason: string };

/** US dollars for a million tokens. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  /** Input that the provider had in its cache; `input` where absent. */
  readonly cacheRead?: number;
  /** Input that the provider wrote into its cache; `input` where absent. */
  readonly cacheWrite?: number;
}

/** By `provider/model`. */
export type PriceList = Readonly<Record<string, ModelPrice>>;

const MILLION = 1_000_000;

/** Names of the AI SDK's providers that the registry knows under another one. */
const REGISTRY_NAMES: Readonly<Record<string, string>> = {
  "amazon-bedrock": "aws",
  bedrock: "aws",
  "google-vertex": "google",
  vertex: "google",
  togetherai: "together",
  xai: "x-ai",
};

export interface Charge {
  /** As models name it: `openai.responses`. */
  readonly provider: string;
  readonly modelId: string;
  /** The exact version that answered, where the provider says so. */
  readonly answeredBy: string | undefined;
  readonly usage: LanguageModelV4Usage;
  readonly now: number;
}

/** `openai` of `openai.responses`. */
export function providerName(provider: string): string {
  return provider.split(".", 1)[0] ?? provider;
}

export function costOf(charge: Charge, own: PriceList = {}): Cost {
  const input = charge.usage.inputTokens.total;
  const output = charge.usage.outputTokens.total;
  if (input === undefined || output === undefined) return unknown("the provider did not report what was used");
  const name = providerName(charge.provider);
  const price = own[`${name}/${charge.modelId}`];
  if (price !== undefined) return { usd: ownCost(charge.usage, input, output, price) };
  return registryCost(charge, name, input, output);
}

function ownCost({ inputTokens }: LanguageModelV4Usage, input: number, output: number, price: ModelPrice): number {
  const read = inputTokens.cacheRead ?? 0;
  const written = inputTokens.cacheWrite ?? 0;
  const plain = Math.max(0, input - read - written);
  const perMillion =
    plain * price.input +
    read * (price.cacheRead ?? price.input) +
    written * (price.cacheWrite ?? price.input) +
    output * price.output;
  return perMillion / MILLION;
}

function registryCost(charge: Charge, name: string, input: number, output: number): Cost {
  const providerId = REGISTRY_NAMES[name] ?? name;
  // The registry also finds providers by resemblance; a gateway called "my-openai" is none that it knows.
  if (findProvider({ providerId })?.id !== providerId) return unknown(`no prices of the provider "${name}" are known`);
  const usage = {
    input_tokens: input,
    cache_read_tokens: charge.usage.inputTokens.cacheRead ?? 0,
    cache_write_tokens: charge.usage.inputTokens.cacheWrite ?? 0,
    output_tokens: output,
  };
  try {
    for (const modelId of new Set([charge.modelId, charge.answeredBy ?? charge.modelId])) {
      const found = calcPrice(usage, modelId, { providerId, timestamp: new Date(charge.now) });
      if (found !== null) return { usd: found.total_price };
    }
  } catch (error) {
    return unknown(`what ${charge.provider} reports does not add up: ${error instanceof Error ? error.message : "?"}`);
  }
  return unknown(`no price of "${name}/${charge.modelId}" is known`);
}

const unknown = (reason: string): Cost => ({ usd: null, reason });
