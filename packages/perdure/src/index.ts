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
  ServiceDefinition,
  StandardSchema,
  StepInfo,
  StepOptions,
  Stream,
  StreamWriter,
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
export { serve, type ServeOptions, type Serving } from "./serve.ts";
