// models(): what the model calls of a process share, exported beside the agents
// ============================================================================
//   export const shared = models({ limits: { openai: { concurrency: 20, tokensPerMinute: 2_000_000 } } });

import { importProvider } from "./import-provider.ts";
import { DefinitionError, type Bundle } from "@perdure/sdk";
import { ModelGateway, type GatewayOptions } from "./gateway.ts";
import { provideModels } from "./of-context.ts";
import { createModelResolver, type ProviderLike } from "./resolver.ts";

export interface ModelsOptions extends Omit<GatewayOptions, "ports"> {
  /** By the name before the slash: `{ openai: createOpenAI({ baseURL: … }) }`. Others are imported as `@ai-sdk/<name>`. */
  readonly providers?: Readonly<Record<string, ProviderLike>>;
  /** How those others are found. Default: from where this package is installed. */
  readonly load?: (name: string) => Promise<ProviderLike>;
}

/** One per deployment. @throws DefinitionError */
export function models(options: ModelsOptions): Bundle {
  const { providers = {}, load = importProvider, ...gateway } = options;
  for (const [name, provider] of Object.entries(providers)) {
    if (typeof provider?.languageModel !== "function")
      throw new DefinitionError(
        `models: providers.${name} is no provider of the AI SDK: write { ${name}: createOpenAI({ … }) }`,
      );
  }
  return {
    kind: "models",
    name: "models",
    definitions: [],
    onStart: [],
    prepare: (ports) =>
      provideModels(ports, {
        gateway: new ModelGateway({ ports, ...gateway }),
        resolve: createModelResolver((name) => {
          const own = Object.hasOwn(providers, name) ? providers[name] : undefined;
          return own === undefined ? load(name) : Promise.resolve(own);
        }),
      }),
  };
}
