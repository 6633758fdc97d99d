export { ModelGateway, type GatewayFigures, type GatewayOptions } from "./models/gateway.ts";
export type {
  AttemptOutcome,
  AttemptRecord,
  GatewayPorts,
  ModelAnswer,
  ModelAttempt,
  ModelRequest,
  ModelTimeouts,
} from "./models/types.ts";
export { ModelError, type ModelErrorKind } from "./models/model-error.ts";
export { createModelResolver, type ModelRef, type ProviderLike } from "./models/resolver.ts";
export type { Lane } from "./models/fair-queue.ts";
export type { LimiterFigures, LimitOptions } from "./models/limiter.ts";
export type { BreakerOptions, BreakerState } from "./models/breaker.ts";
export type { RetryOptions } from "./models/retry.ts";
export { type Cost, costOf, type ModelPrice, type PriceList } from "./models/prices.ts";
export {
  Bill,
  type BillLine,
  planReply,
  type Script,
  type ScriptedAnswer,
  type ScriptedError,
  type ScriptedFault,
  type ScriptedManner,
  type ScriptedMessage,
  type ScriptedPiece,
  type ScriptedPlan,
  type ScriptedRecording,
  type ScriptedRefusal,
  type ScriptedReply,
  type ScriptedRequest,
  type ScriptedToolCall,
  type ScriptedUsage,
  Sightings,
} from "./models/script.ts";
export { paceMs, type ScriptedModel, scriptedModel, type ScriptedModelOptions } from "./models/scripted-model.ts";
