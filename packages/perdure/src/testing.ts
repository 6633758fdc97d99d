// perdure/testing: what users test their handlers with.

export { crashAtEveryEntry, CrashTestError, type CrashReport, type CrashTest } from "./testing/crash-at-every-entry.ts";
export type { OpenWait } from "./testing/waits.ts";
export type { TestImages } from "./testing/isolated-runs.ts";
export {
  createTestMemory,
  TestWorld,
  type Execution,
  type ImageCounts,
  type TestFork,
  type TestMemory,
  type TestWorldOptions,
} from "./testing/test-world.ts";
export {
  startScriptedProvider,
  type ScriptedProvider,
  type ScriptedProviderOptions,
} from "./testing/scripted-provider/scripted-provider.ts";
export {
  Bill,
  scriptedModel,
  type BillLine,
  type Script,
  type ScriptedAnswer,
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedReply,
  type ScriptedRequest,
} from "@perdure/agents";
