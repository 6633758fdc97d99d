// perdure/testing: what users test their handlers with.

export { crashAtEveryEntry, CrashTestError, type CrashReport, type CrashTest } from "./testing/crash-at-every-entry.ts";
export {
  createTestMemory,
  TestWorld,
  type Execution,
  type OpenWait,
  type TestMemory,
  type TestWorldOptions,
} from "./testing/test-world.ts";
