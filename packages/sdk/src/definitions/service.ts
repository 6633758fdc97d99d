// Definitions: service(), object(), workflow()
// ============================================
// A definition is data: a name, a kind and handlers. It is what is served, what is called (`ctx.call(inbox, key)`), and
// where all types come from. Handlers need no annotations on `ctx`: it is typed by the kind.

import type { DurationLike, HandlerMode, ServiceKind } from "@perdure/protocol";
import { DefinitionError } from "@perdure/protocol";
import type {
  Context,
  ObjectContext,
  ObjectSharedContext,
  WorkflowContext,
  WorkflowSharedContext,
} from "../context/context.ts";
import type { RetryOptions } from "../context/options.ts";
import type {
  AnyInput,
  DefinedHandler,
  HandlerFunction,
  HandlerSpec,
  MigrateHook,
  SharedHandler,
  WrappedHandler,
} from "./handler.ts";
import { WRAPPED } from "./handler.ts";
import { checkHandlerOptions } from "./manifest.ts";
import { checkHandlerName, checkServiceName } from "./names.ts";

export type ServiceHandler = HandlerFunction<Context> | DefinedHandler<Context, AnyInput, AnyInput>;
export type ObjectHandler =
  | HandlerFunction<ObjectContext>
  | DefinedHandler<ObjectContext, AnyInput, AnyInput>
  | SharedHandler<ObjectSharedContext, AnyInput, AnyInput>;
type WorkflowRunHandler = HandlerFunction<WorkflowContext> | DefinedHandler<WorkflowContext, AnyInput, AnyInput>;
type WorkflowSharedHandler =
  | HandlerFunction<WorkflowSharedContext>
  | DefinedHandler<WorkflowSharedContext, AnyInput, AnyInput>
  | SharedHandler<WorkflowSharedContext, AnyInput, AnyInput>;

export interface ServiceHandlers {
  readonly [name: string]: ServiceHandler;
}
export interface ObjectHandlers {
  readonly [name: string]: ObjectHandler;
}
export interface WorkflowHandlers {
  readonly run: WorkflowRunHandler;
  readonly [name: string]: WorkflowSharedHandler;
}

/** How the runs of a definition are remembered. */
export type MemoryMode = "journal" | "snapshot";

/** Defaults for all handlers of a definition; each may set its own. */
export interface DefinitionOptions {
  readonly description?: string;
  readonly retry?: RetryOptions;
  readonly retention?: DurationLike;
  readonly internal?: boolean;
  /** For runs of older code that go over to this one, by the handler's safe points. */
  readonly migrate?: MigrateHook;
  /**
   * `snapshot`: handlers run inside an isolate, and their execution itself is imaged, so that a run wakes as fast after
   * 100,000 steps as after ten and needs no determinism. Default `journal`: they run in Node, and are replayed.
   */
  readonly memory?: MemoryMode;
  /** The object is an agent: surfaces that know agents show it as one. */
  readonly agent?: true;
  /** Definitions that this one needs: they are served along with it. */
  readonly companions?: readonly AnyDefinition[];
}

interface DefinitionBase<Kind extends ServiceKind, H> {
  readonly kind: Kind;
  readonly name: string;
  readonly handlers: H;
  readonly options: DefinitionOptions;
  /** The same handlers as the runtime sees them. */
  readonly specs: ReadonlyMap<string, HandlerSpec>;
  /** Definitions that this one needs. */
  readonly companions?: readonly AnyDefinition[];
}

export interface ServiceDefinition<H> extends DefinitionBase<"service", H> {}
export interface ObjectDefinition<H> extends DefinitionBase<"object", H> {}
export interface WorkflowDefinition<H> extends DefinitionBase<"workflow", H> {}
export type KeyedDefinition<H> = ObjectDefinition<H> | WorkflowDefinition<H>;
export type AnyDefinition = ServiceDefinition<unknown> | ObjectDefinition<unknown> | WorkflowDefinition<unknown>;

/** Handlers without a key: any number of them run at a time. */
export function service<const H extends ServiceHandlers>(
  name: string,
  handlers: H,
  options: DefinitionOptions = {},
): ServiceDefinition<H> {
  return define("service", name, handlers, options, () => "service");
}

/** Handlers with a key and state under it: one exclusive handler at a time per key, in order of arrival. */
export function object<const H extends ObjectHandlers>(
  name: string,
  handlers: H,
  options: DefinitionOptions = {},
): ObjectDefinition<H> {
  return define("object", name, handlers, options, (_, isShared) => (isShared ? "shared" : "exclusive"));
}

/** A `run` handler that runs once per key, and handlers that may look at it and settle its promises meanwhile. */
export function workflow<const H extends WorkflowHandlers>(
  name: string,
  handlers: H,
  options: DefinitionOptions = {},
): WorkflowDefinition<H> {
  if (typeof handlers !== "object" || handlers === null || !Object.hasOwn(handlers, "run")) {
    throw new DefinitionError(`workflow "${name}" needs a handler "run"`);
  }
  return define("workflow", name, handlers, options, (handlerName) => (handlerName === "run" ? "workflow" : "shared"));
}

function define<Kind extends ServiceKind, H extends object>(
  kind: Kind,
  name: string,
  handlers: H,
  options: DefinitionOptions,
  modeOf: (handler: string, isShared: boolean) => HandlerMode,
): DefinitionBase<Kind, H> {
  checkServiceName(name);
  if (options.memory !== undefined && options.memory !== "journal" && options.memory !== "snapshot")
    throw new DefinitionError(`"${name}": memory is "journal" or "snapshot", not ${JSON.stringify(options.memory)}`);
  const specs = new Map<string, HandlerSpec>();
  for (const [handlerName, value] of Object.entries(handlers)) {
    checkHandlerName(name, handlerName);
    const wrapped = unwrap(value);
    if (wrapped === undefined)
      throw new DefinitionError(
        `"${name}.${handlerName}" is not a handler: write a function, handler({ … }, fn) or shared(fn)`,
      );
    const mode = modeOf(handlerName, wrapped.shared);
    if (wrapped.shared && mode !== "shared") {
      throw new DefinitionError(
        `"${name}.${handlerName}" cannot be shared: ${kind === "service" ? "a service has no key to share" : 'a workflow\'s "run" is exclusive'}`,
      );
    }
    const merged = { ...inherited(options), ...wrapped.options };
    checkHandlerOptions(`${name}.${handlerName}`, merged);
    specs.set(handlerName, { service: name, name: handlerName, mode, fn: wrapped.fn, options: merged });
  }
  if (specs.size === 0) throw new DefinitionError(`"${name}" has no handlers`);
  const { companions } = options;
  return Object.freeze({ kind, name, handlers, options, specs, ...(companions === undefined ? {} : { companions }) });
}

/** What handlers take over from their definition. */
function inherited(options: DefinitionOptions): DefinitionOptions {
  const { description: _, companions: __, agent: ___, memory: ____, ...rest } = options;
  return rest;
}

function unwrap(value: unknown): WrappedHandler | undefined {
  if (typeof value === "function") return { fn: value as HandlerFunction<AnyInput>, options: {}, shared: false };
  if (typeof value !== "object" || value === null) return undefined;
  return (value as { readonly [WRAPPED]?: WrappedHandler })[WRAPPED];
}

export function isDefinition(value: unknown): value is AnyDefinition {
  if (typeof value !== "object" || value === null) return false;
  const candidate = value as Partial<AnyDefinition>;
  return (
    typeof candidate.name === "string" &&
    candidate.specs instanceof Map &&
    (candidate.kind === "service" || candidate.kind === "object" || candidate.kind === "workflow")
  );
}
