// In an isolate there is no gateway: a module that also exports what its model calls share is loaded there like any other.

import type * as here from "./models.ts";

export const models: typeof here.models = () => ({ kind: "models", name: "models", definitions: [], onStart: [] });
