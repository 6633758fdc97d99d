// The models of a host: its gateway and its resolver. A host that says nothing gets a gateway on its own ports, without limits.

import type { LanguageModelV4 } from "@ai-sdk/provider";
import { internalsOf, type Context, type SdkPorts } from "@perdure/sdk";
import { ModelGateway } from "./gateway.ts";
import { createModelResolver, type ModelRef, type ProviderLike } from "./resolver.ts";

export interface Models {
  readonly gateway: ModelGateway;
  readonly resolve: (ref: ModelRef) => Promise<LanguageModelV4>;
}

const MODELS: WeakMap<SdkPorts, Models> = new WeakMap();

/** Gives the handlers that run on these ports their models. To be called before the first of them starts. */
export function provideModels(ports: SdkPorts, models: Models): void {
  MODELS.set(ports, models);
}

export function modelsOf(ctx: Context): Models {
  return modelsAt(internalsOf(ctx).ports);
}

/** Of the handlers that run on these ports. */
export function modelsAt(ports: SdkPorts): Models {
  let models = MODELS.get(ports);
  if (models === undefined) {
    models = { gateway: new ModelGateway({ ports }), resolve: createModelResolver(importProvider) };
    MODELS.set(ports, models);
  }
  return models;
}

/** The AI SDK's package of that name, from where this package is installed. */
export async function importProvider(name: string): Promise<ProviderLike> {
  return providerIn((await import(`@ai-sdk/${name}`)) as Readonly<Record<string, unknown>>, name);
}

/** The provider that a package of the AI SDK exports: `amazonBedrock` of `@ai-sdk/amazon-bedrock`. @throws Error */
export function providerIn(module: Readonly<Record<string, unknown>>, name: string): ProviderLike {
  const exported = name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const provider = module[exported] as ProviderLike | null | undefined;
  if (typeof provider?.languageModel !== "function")
    throw new Error(`@ai-sdk/${name} exports no provider "${exported}"`);
  return provider;
}
