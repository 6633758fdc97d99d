// In an isolate no provider can be loaded by its name: its code was put together before.

import { UnknownModelError } from "@perdure/protocol";
import type * as node from "./import-provider.ts";

export const importProvider: typeof node.importProvider = async (name) => {
  throw new UnknownModelError(
    `the provider "${name}" is not loaded inside an isolate, where no code is added later: import its package in the module of the ` +
      `agent and give the model itself, or leave the agent at memory: "journal"`,
  );
};
