// Models by name: `openai/gpt-5`. Providers are loaded when they are first named, each once.

import type { LanguageModelV4 } from "@ai-sdk/provider";
import { DefinitionError, isPerdureError, UnknownModelError } from "@perdure/protocol";
import { editDistance } from "@perdure/sdk";

/** `provider/model`, or a model of the AI SDK itself. */
export type ModelRef = string | LanguageModelV4;

/**
 * One model or several, as a list.
 * @throws DefinitionError where there is none.
 */
export function modelList(model: ModelRef | readonly ModelRef[], who: string): readonly ModelRef[] {
  const models = typeof model === "string" || !Array.isArray(model) ? [model as ModelRef] : (model as ModelRef[]);
  if (models.length === 0 || models.some((one) => one === undefined || one === ""))
    throw new DefinitionError(`${who} has no model: write "provider/model", such as "openai/gpt-5"`);
  return models;
}

/** `provider/model`, as in the definition: known before a provider is loaded. */
export function modelName(ref: ModelRef): string {
  return typeof ref === "string" ? ref : `${ref.provider.split(".", 1)[0]}/${ref.modelId}`;
}

/** As `createOpenAI()`, `anthropic` and their like are. */
export interface ProviderLike {
  languageModel(modelId: string): LanguageModelV4;
}

interface KnownProvider {
  readonly package: string;
  readonly key?: string;
}

const KNOWN: Readonly<Record<string, KnownProvider>> = {
  "amazon-bedrock": { package: "@ai-sdk/amazon-bedrock", key: "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY" },
  anthropic: { package: "@ai-sdk/anthropic", key: "ANTHROPIC_API_KEY" },
  azure: { package: "@ai-sdk/azure", key: "AZURE_API_KEY" },
  cerebras: { package: "@ai-sdk/cerebras", key: "CEREBRAS_API_KEY" },
  cohere: { package: "@ai-sdk/cohere", key: "COHERE_API_KEY" },
  deepseek: { package: "@ai-sdk/deepseek", key: "DEEPSEEK_API_KEY" },
  fireworks: { package: "@ai-sdk/fireworks", key: "FIREWORKS_API_KEY" },
  google: { package: "@ai-sdk/google", key: "GOOGLE_GENERATIVE_AI_API_KEY" },
  "google-vertex": { package: "@ai-sdk/google-vertex" },
  groq: { package: "@ai-sdk/groq", key: "GROQ_API_KEY" },
  mistral: { package: "@ai-sdk/mistral", key: "MISTRAL_API_KEY" },
  openai: { package: "@ai-sdk/openai", key: "OPENAI_API_KEY" },
  openrouter: { package: "@openrouter/ai-sdk-provider", key: "OPENROUTER_API_KEY" },
  perplexity: { package: "@ai-sdk/perplexity", key: "PERPLEXITY_API_KEY" },
  togetherai: { package: "@ai-sdk/togetherai", key: "TOGETHER_API_KEY" },
  xai: { package: "@ai-sdk/xai", key: "XAI_API_KEY" },
};
/** A name that is so few letters away from a known one is taken for a slip. */
const SLIP_DISTANCE_MAX = 2;

/**
 * @param load gives the provider of a name, such as `import("@ai-sdk/openai").then((m) => m.openai)`. Not asked again once
 *   it succeeded.
 */
export function createModelResolver(
  load: (provider: string) => Promise<ProviderLike>,
): (ref: ModelRef) => Promise<LanguageModelV4> {
  const providers = new Map<string, Promise<ProviderLike>>();
  const provide = (name: string): Promise<ProviderLike> => {
    const known = providers.get(name);
    if (known !== undefined) return known;
    const loading = load(name);
    providers.set(name, loading);
    loading.catch(() => providers.delete(name)); // It may be installed meanwhile.
    return loading;
  };
  return async (ref) => {
    if (typeof ref !== "string") return checked(ref, `${ref.provider}/${ref.modelId}`);
    const [name, modelId] = split(ref);
    return checked(await find(ref, name, modelId, provide), ref);
  };
}

function split(ref: string): readonly [name: string, modelId: string] {
  const at = ref.indexOf("/");
  if (at > 0 && at < ref.length - 1) return [ref.slice(0, at), ref.slice(at + 1)];
  throw new UnknownModelError(`"${ref}" is no model's name: write provider/model, such as openai/gpt-5`);
}

async function find(
  ref: string,
  name: string,
  modelId: string,
  provide: (name: string) => Promise<ProviderLike>,
): Promise<LanguageModelV4> {
  try {
    const provider = await provide(name);
    return provider.languageModel(modelId);
  } catch (error) {
    if (isPerdureError(error)) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new UnknownModelError(`model "${ref}": provider "${name}" cannot be loaded: ${reason}. ${advice(name)}`, {
      cause: error,
    });
  }
}

function advice(name: string): string {
  if (Object.hasOwn(KNOWN, name)) {
    const known = KNOWN[name];
    const key = known?.key === undefined ? "" : ` and set ${known.key}`;
    return `Install it (npm install ${known?.package})${key}.`;
  }
  const near = Object.keys(KNOWN).find((other) => editDistance(name, other) <= SLIP_DISTANCE_MAX);
  if (near !== undefined) return `Did you mean "${near}/…"?`;
  return `If it is a provider of the AI SDK, install it (npm install @ai-sdk/${name}); else give the model object instead.`;
}

function checked(model: LanguageModelV4, name: string): LanguageModelV4 {
  const version: unknown = model?.specificationVersion;
  if (version === "v4") return model;
  throw new UnknownModelError(
    `model "${name}" is of the AI SDK's interface ${String(version)}, and v4 is needed: update its provider's package`,
  );
}

/** The provider that a package of the AI SDK exports: `amazonBedrock` of `@ai-sdk/amazon-bedrock`. @throws Error */
export function providerIn(module: Readonly<Record<string, unknown>>, name: string): ProviderLike {
  const exported = name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const provider = module[exported] as ProviderLike | null | undefined;
  if (typeof provider?.languageModel !== "function")
    throw new Error(`@ai-sdk/${name} exports no provider "${exported}"`);
  return provider;
}
