export { Catalog, RETENTION_MS_DEFAULT, type Targets } from "./catalog.ts";
export { ChangeFeed, type Change, type NumberedChange, type Subscription } from "./change-feed.ts";
export { createRoutedExecutor } from "./executors/routed.ts";
export { createInProcessExecutor, type InProcessOptions } from "./executors/in-process.ts";
export { hostFetch } from "./fetch.ts";
export {
  describeEffect,
  EffectGuard,
  type EffectGuardOptions,
  type GuardMode,
  type UnjournaledEffect,
} from "./guard/effect-guard.ts";
export { installWatches } from "./guard/watches.ts";
export { Migrator, type MigrationRequest, type MigratorOptions } from "./migrator.ts";
export { createStateMigrator, type StateMigrator } from "./state-migrator.ts";
export { nodeClock, nodeScheduler } from "./node-ports.ts";
export { childRunId, derivedRunId, idempotentRunId, randomRunId, workflowRunId } from "./run-ids.ts";
export {
  Runtime,
  type Accepted,
  type Finished,
  type ForkRequest,
  type LiveView,
  type OnAsked,
  type Rewound,
  type RuntimeFigures,
  type RuntimeOptions,
  type SubmitRequest,
} from "./runtime.ts";
export type { StreamListener, StreamWatch } from "./stream-feed.ts";
export { openDirectoryBlobs } from "./blobs/directory.ts";
export { openSqliteStore, type SqliteStoreOptions } from "./stores/sqlite/open.ts";
export { bundleModule, type BundleOptions, type IsolateBundle } from "./isolate/bundle/bundle-module.ts";
export { createIsolateExecutor, type IsolateExecutor, type IsolateOptions } from "./isolate/executor.ts";
export type { ThreadPorts } from "./isolate/isolate-thread.ts";
export type { ImagePolicy } from "./isolate/thread-messages.ts";
export { withSourceMap } from "./isolate/stack-traces.ts";
export { RESTORE_MS_BOUNDS, type IsolateFigures } from "./isolate/figures.ts";
export { loadHostModules, type HostFunction, type HostModule } from "./isolate/bundle/host-modules.ts";
