// perdure: what users import. Definitions, the context's types, errors, and serve().

export { handler, isDefinition, object, service, shared, workflow } from "@perdure/sdk";
export type {
  AnyDefinition,
  Awakeable,
  CallOptions,
  Context,
  DefinitionOptions,
  HandlerOptions,
  KeyedDefinition,
  Log,
  ObjectContext,
  ObjectDefinition,
  ObjectSharedContext,
  Reconciled,
  RetryOptions,
  RunHandle,
  SendOptions,
  Servable,
  ServiceDefinition,
  StandardSchema,
  StepInfo,
  StepOptions,
  WorkflowContext,
  WorkflowDefinition,
  WorkflowPromise,
  WorkflowSharedContext,
} from "@perdure/sdk";
export {
  CancelledError,
  ContextMisuseError,
  DefinitionError,
  isPerdureError,
  PerdureError,
  SerializationError,
  StepFailedError,
  TerminalError,
  UnknownEffectError,
  ValidationError,
} from "@perdure/protocol";
export type { DurationLike, RunId, ServiceManifest } from "@perdure/protocol";
export { schedule, schedules } from "@perdure/agents";
export type {
  CatchUp,
  Overlap,
  Schedule,
  ScheduleSpec,
  ScheduleStart,
  ScheduleState,
  ScheduleTarget,
  ScheduleView,
} from "@perdure/agents";
export { serve, type ServeOptions, type Serving } from "./serve.ts";
