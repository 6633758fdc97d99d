// A runtime over SQLite in this very process, for what has to be counted from inside.

import { Catalog, createInProcessExecutor, openSqliteStore, Runtime } from "@perdure/host";
import { createRegistry, type AnyDefinition } from "@perdure/sdk";
import type { Store } from "@perdure/engine";

export async function openRuntime(
  data: string,
  definitions: readonly AnyDefinition[],
  wrap: (store: Store) => Store = (store) => store,
): Promise<Runtime> {
  const registry = createRegistry(definitions);
  const runtime = new Runtime({
    store: wrap(await openSqliteStore({ directory: data })),
    executor: createInProcessExecutor(registry, { log: () => undefined }),
    catalog: new Catalog(registry),
  });
  await runtime.start();
  return runtime;
}
