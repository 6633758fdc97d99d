// What an implementation of a port proves itself with. The only entry that needs vitest and fast-check.

export { type BlobsContract, describeBlobs, type OpenedBlobs } from "./testing/describe-blobs.ts";
export { describeStore } from "./testing/describe-store.ts";
export {
  fullRun,
  needs,
  type OpenedStore,
  runIdOf,
  runOf,
  stepEntry,
  type StoreContract,
  Writer,
} from "./testing/store-harness.ts";
