// The AI SDK's packages by name, from where this package is installed.

import { providerIn, type ProviderLike } from "./resolver.ts";

/** `@ai-sdk/<name>`. */
export async function importProvider(name: string): Promise<ProviderLike> {
  return providerIn((await import(`@ai-sdk/${name}`)) as Readonly<Record<string, unknown>>, name);
}
