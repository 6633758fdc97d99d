export type {
  Awakeable,
  Context,
  Log,
  ObjectContext,
  ObjectSharedContext,
  WorkflowContext,
  WorkflowPromise,
  WorkflowSharedContext,
} from "./context/context.ts";
export type {
  CallPromise,
  Calls,
  ChildHandle,
  RunHandle,
  RunOutput,
  Sends,
  UntypedCalls,
  UntypedSends,
} from "./context/calls.ts";
export type { CallOptions, Reconciled, RetryOptions, SendOptions, StepInfo, StepOptions } from "./context/options.ts";
export type { FetchHeaders, FetchOptions, FetchResponse } from "./context/fetch.ts";
export type { Stream, StreamWriter } from "./context/streams.ts";
export type {
  AnyDefinition,
  DefinitionOptions,
  KeyedDefinition,
  MemoryMode,
  ObjectDefinition,
  ObjectHandler,
  ObjectHandlers,
  ServiceDefinition,
  ServiceHandler,
  ServiceHandlers,
  WorkflowDefinition,
  WorkflowHandlers,
} from "./definitions/service.ts";
export type { Bundle, Servable, StartCall } from "./definitions/bundle.ts";
export { isServable } from "./definitions/bundle.ts";
export { isDefinition, object, service, workflow } from "./definitions/service.ts";
export type {
  DefinedHandler,
  HandlerArguments,
  HandlerOptions,
  HandlerOutput,
  HandlerSpec,
  MigrateHook,
  SharedHandler,
} from "./definitions/handler.ts";
export { handler, shared } from "./definitions/handler.ts";
export { manifestOf, resolveRetry } from "./definitions/manifest.ts";
export type { Registry } from "./definitions/registry.ts";
export { createRegistry, editDistance } from "./definitions/registry.ts";
export type { SchemaInput, SchemaOutput, StandardSchema } from "./standard-schema.ts";
export { jsonSchemaOf, validate } from "./standard-schema.ts";
export type {
  AbortControllerLike,
  AbortSignalLike,
  FetchAnswer,
  FetchRequest,
  HandlerScope,
  LogLevel,
  LogRecord,
  SdkPorts,
  StepScope,
} from "./ports.ts";
export type { ContextInternals } from "./internals.ts";
export { internalsOf } from "./internals.ts";
export { hostReference } from "./guest/host-only.ts";
export type { ExecutorOptions } from "./attempt/executor.ts";
export { createExecutor } from "./attempt/executor.ts";
export { migrateState, type StateMigration } from "./attempt/migrate-state.ts";
export { retryAfterMs } from "./attempt/backoff.ts";
export {
  CancelledError,
  ContextMisuseError,
  DefinitionError,
  isPerdureError,
  PerdureError,
  RetriesExhaustedError,
  SerializationError,
  StepFailedError,
  TerminalError,
  UnknownEffectError,
  ValidationError,
} from "@perdure/protocol";
export type { DurationLike, Headers, RunId, ServiceManifest } from "@perdure/protocol";
