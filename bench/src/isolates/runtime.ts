// A runtime whose snapshot runs live in isolates, in this very process, for what has to be counted from inside.

import {
  bundleModule,
  Catalog,
  createInProcessExecutor,
  createIsolateExecutor,
  createRoutedExecutor,
  loadHostModules,
  openSqliteStore,
  Runtime,
  type IsolateExecutor,
  type IsolateOptions,
} from "@perdure/host";
import type { Store } from "@perdure/engine";
import { createRegistry, type AnyDefinition } from "@perdure/sdk";

export interface IsolateRuntime {
  readonly runtime: Runtime;
  readonly store: Store;
  readonly isolates: IsolateExecutor;
  close(): Promise<void>;
}

export interface IsolateRuntimeOptions extends Pick<IsolateOptions, "threads" | "policy"> {
  readonly data: string;
  readonly definitions: readonly AnyDefinition[];
  /** The module that exports them. */
  readonly source: URL;
  /** How long an attempt that is remembered by its journal stays in memory while it waits. */
  readonly suspendAfterMs?: number;
}

export async function openIsolateRuntime(options: IsolateRuntimeOptions): Promise<IsolateRuntime> {
  const { data, definitions, source, suspendAfterMs, ...isolated } = options;
  const registry = createRegistry(definitions);
  const store = await openSqliteStore({ directory: data });
  const bundle = await bundleModule({ entry: source.pathname });
  const deployment = await store.artifacts.put("bundle", Buffer.from(bundle.code), {});
  const log = (): void => undefined;
  const { functions, values } = await loadHostModules(bundle);
  const isolates = createIsolateExecutor({
    artifacts: store.artifacts,
    hostFunctions: functions,
    hostValues: values,
    log,
    ...isolated,
  });
  await isolates.prepare(deployment);
  const inProcess = createInProcessExecutor(registry, {
    log,
    ...(suspendAfterMs === undefined ? {} : { suspendAfterMs }),
  });
  const inIsolates = new Set(definitions.filter((one) => one.options.memory === "snapshot").map(({ name }) => name));
  const runtime = new Runtime({
    store,
    executor: createRoutedExecutor(inProcess, isolates),
    catalog: new Catalog(registry, { deployment: ({ service }) => (inIsolates.has(service) ? deployment : null) }),
  });
  await runtime.start();
  return {
    runtime,
    store,
    isolates,
    async close() {
      await runtime.close(1_000);
      await isolates.close();
    },
  };
}
