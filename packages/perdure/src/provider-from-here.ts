// Providers of models by name, as the user's project has them installed: looked for from the working directory.

import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { providerIn, type ProviderLike } from "@perdure/agents";

export async function providerFromHere(name: string): Promise<ProviderLike> {
  const path = createRequire(join(process.cwd(), "package.json")).resolve(`@ai-sdk/${name}`);
  return providerIn((await import(pathToFileURL(path).href)) as Readonly<Record<string, unknown>>, name);
}
