// perdure, as code inside an isolate sees it (`memory: "snapshot"`): the same names, and what belongs to the host throws.

import { ContextMisuseError } from "@perdure/protocol";

export { handler, isDefinition, object, service, shared, workflow } from "@perdure/sdk";
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
export {
  agent,
  approvals,
  budgets,
  child,
  durable,
  EVENTS,
  mcpTools,
  models,
  newApprovalId,
  reserveBudget,
  schedule,
  schedules,
  serviceTool,
  subagent,
  tool,
  TRANSCRIPT,
} from "@perdure/agents";

/** There as a name, since a module that is served may also serve itself. */
export function serve(): never {
  throw new ContextMisuseError(
    "serve() is not there inside an isolate: the module was loaded to run its handlers. Call it in a module of its own, " +
      "which imports the definitions.",
  );
}
