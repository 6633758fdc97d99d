// Starts the scripted provider as a process, and asks it for its figures.

import { once } from "node:events";
import { type Child, startModule } from "../children.ts";
import type { ProviderFigures } from "./provider.ts";

export interface RunningProvider {
  /** For clients of OpenAI's API. */
  readonly url: string;
  figures(): Promise<ProviderFigures>;
  stop(): Promise<void>;
}

export async function startProvider(): Promise<RunningProvider> {
  const child: Child & { ready: { url: string } } = await startModule(
    "provider",
    new URL("./provider.ts", import.meta.url),
    [],
  );
  return {
    url: child.ready.url,
    async figures() {
      const answer = once(child.process, "message");
      child.process.send("figures");
      return (await answer)[0] as ProviderFigures;
    },
    stop: child.stop,
  };
}
