export { Catalog, RETENTION_MS_DEFAULT, type Targets } from "./catalog.ts";
export { ChangeFeed, type Change, type NumberedChange, type Subscription } from "./change-feed.ts";
export { nodeClock, nodeScheduler } from "./node-ports.ts";
export { childRunId, derivedRunId, idempotentRunId, randomRunId, workflowRunId } from "./run-ids.ts";
export { Runtime, type Accepted, type Finished, type LiveView, type RuntimeFigures, type RuntimeOptions, type SubmitRequest } from "./runtime.ts";
