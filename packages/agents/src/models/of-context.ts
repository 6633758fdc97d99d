// The models of a host: its gateway and its resolver. A host that says nothing gets a gateway on its own ports, without limits.

import type { LanguageModelV4 } from "@ai-sdk/provider";
import { importProvider } from "./import-provider.ts";
import { internalsOf, type Context, type SdkPorts } from "@perdure/sdk";
import { ModelGateway } from "./gateway.ts";
import { createModelResolver, type ModelRef } from "./resolver.ts";

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
