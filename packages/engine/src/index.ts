export type { Action } from "./actions.ts";
export type { AttemptHandle } from "./attempt-handle.ts";
export type { Artifact, ArtifactInfo, ArtifactKind, Artifacts } from "./artifacts.ts";
export { Batch, type Counters } from "./batch.ts";
export { decide } from "./decide.ts";
export { type BlobHash, type BlobStore, isBlobHash } from "./blobs.ts";
export { derivedId, type Environment } from "./environment.ts";
export type {
  AttemptEvent,
  EditState,
  Event,
  Fork,
  LoopEvent,
  Migrate,
  Refusal,
  Reply,
  Rewind,
  RunEvent,
  SettleEffect,
  Submit,
  Ticket,
} from "./events.ts";
export { checkLimits, DEFAULT_LIMITS, type Limits } from "./limits.ts";
export { Loop, LoopClosedError, type LoopFigures, type LoopOptions, type LoopState, type Question } from "./loop.ts";
export { createMemoryStorage, matchesRunFilter, openMemoryStore } from "./memory-store.ts";
export type { CommitFate, MemoryStorage, StorageHooks } from "./memory-store.ts";
export { keptResult } from "./kept.ts";
export { NeedsFinder } from "./needs.ts";
export type { Clock, Observer, Scheduler } from "./ports.ts";
export { type SafePoint, safePointOf } from "./moves/safe-point.ts";
export * from "./store.ts";
export { View } from "./view.ts";
