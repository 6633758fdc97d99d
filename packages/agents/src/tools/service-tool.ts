// serviceTool(): a handler of a service, an object or a workflow as a tool
// ========================================================================
//   tools: { bill: serviceTool(billing, "charge", { description: "Charges a customer.", key: ({ customer }) => customer }) }
//
// The model is told the handler's own input schema, and the handler checks what it gets. A tool call is a call of the
// handler, journaled like any other: exactly one run of it, which is cancelled along with the agent's, and whose failure the
// model sees. Its idempotency key names the agent's run and the tool call, for the handler to hand on.

import type { JSONObject, JSONSchema7 } from "@ai-sdk/provider";
import {
  DefinitionError,
  jsonSchemaOf,
  validate,
  type Context,
  type HandlerArguments,
  type HandlerOutput,
  type HandlerSpec,
  type KeyedDefinition,
  type RunHandle,
  type ServiceDefinition,
  type StandardSchema,
} from "@perdure/sdk";
import { asSchema, jsonSchema, type FlexibleSchema, type Schema } from "ai";
import { tool, type AgentTool, type AnyTool, type DurableToolInfo } from "./tool.ts";

/** What the tool takes: the handler's argument; nothing where it has none. */
type InputOf<H> = HandlerArguments<H> extends [] ? Record<string, never> : NonNullable<HandlerArguments<H>[0]>;

export interface ServiceToolOptions<Input>
  extends Pick<AgentTool<Input>, "approval" | "approvers" | "expires" | "escalate" | "kind"> {
  /** For the model. Default: the handler's own. */
  readonly description?: string;
  /** For a handler without an input schema, or whose schema cannot be said as JSON Schema. */
  readonly inputSchema?: FlexibleSchema<Input>;
}

export interface KeyedToolOptions<Input> extends ServiceToolOptions<Input> {
  /** Whose object or workflow it is. */
  readonly key: (input: Input, info: ServiceToolInfo) => string;
}

/** Of the implementation, which the overloads give its types. */
// oxlint-disable-next-line typescript/no-explicit-any
type AnyInput = any;

/** One-way: the tool's result is the id of the run that was started. */
export interface OneWay {
  readonly send: true;
}

export interface ServiceToolInfo {
  readonly toolCallId: string;
  /** The agent's name and session. */
  readonly agent: string;
  readonly session: string;
}

export interface Started {
  readonly run: string;
  readonly status: "started";
}

/** @throws DefinitionError where there is no such handler, or nothing tells the model what it takes. */
export function serviceTool<H, K extends keyof H & string>(
  definition: ServiceDefinition<H>,
  handler: K,
  options: ServiceToolOptions<InputOf<H[K]>> & OneWay,
): AgentTool<InputOf<H[K]>, Started>;
export function serviceTool<H, K extends keyof H & string>(
  definition: ServiceDefinition<H>,
  handler: K,
  options?: ServiceToolOptions<InputOf<H[K]>>,
): AgentTool<InputOf<H[K]>, HandlerOutput<H[K]>>;
export function serviceTool<H, K extends keyof H & string>(
  definition: KeyedDefinition<H>,
  handler: K,
  options: KeyedToolOptions<InputOf<H[K]>> & OneWay,
): AgentTool<InputOf<H[K]>, Started>;
export function serviceTool<H, K extends keyof H & string>(
  definition: KeyedDefinition<H>,
  handler: K,
  options: KeyedToolOptions<InputOf<H[K]>>,
): AgentTool<InputOf<H[K]>, HandlerOutput<H[K]>>;
export function serviceTool(
  definition: ServiceDefinition<unknown> | KeyedDefinition<unknown>,
  handler: string,
  options: ServiceToolOptions<AnyInput> & Partial<KeyedToolOptions<AnyInput> & OneWay> = {},
): AnyTool {
  const where = `serviceTool of "${definition.name}.${handler}"`;
  const spec = definition.specs.get(handler);
  if (spec === undefined) throw new DefinitionError(`${where}: there are ${[...definition.specs.keys()].join(", ")}`);
  const { key, send, description = spec.options.description, inputSchema, ...others } = options;
  if (definition.kind !== "service" && key === undefined)
    throw new DefinitionError(`${where} needs a key: key: (input) => …`);
  const input = inputOf(spec, inputSchema, where);
  return tool<unknown, unknown>({
    ...others,
    ...(description === undefined ? {} : { description }),
    inputSchema: input.schema,
    run: async (ctx, given, info) => {
      const value = input.unwrap(given);
      const target = key?.(value, { toolCallId: info.toolCallId, agent: info.agent, session: ctx.key });
      const idempotencyKey = idempotencyKeyOf(ctx, info);
      const handlers = target === undefined ? [{ idempotencyKey }] : [target, { idempotencyKey }];
      if (send !== true) return await callable(ctx.call, ctx, definition.name, handlers)[handler]?.(value);
      const started = (await callable(ctx.send, ctx, definition.name, handlers)[handler]?.(value)) as RunHandle;
      return { run: started.id, status: "started" };
    },
  });
}

type Callable = Readonly<Record<string, (input: unknown) => Promise<unknown>>>;

/** By name: what the definition's types say was checked by the overloads. */
function callable(
  how: Context["call"] | Context["send"],
  ctx: Context,
  name: string,
  rest: readonly unknown[],
): Callable {
  return Reflect.apply(how, ctx, [name, ...rest]) as Callable;
}

// The idempotency key
// -------------------

const CALLS: WeakMap<Context, Map<string, number>> = new WeakMap();

/** Some models count their tool calls from one in each answer: then the same id is another call, and gets another number. */
function idempotencyKeyOf(ctx: Context, { toolCallId }: DurableToolInfo): string {
  let counts = CALLS.get(ctx);
  if (counts === undefined) CALLS.set(ctx, (counts = new Map()));
  const count = (counts.get(toolCallId) ?? 0) + 1;
  counts.set(toolCallId, count);
  return `${ctx.runId}/${toolCallId}${count === 1 ? "" : `/${count}`}`;
}

// The input
// ---------

interface Input {
  readonly schema: FlexibleSchema<unknown>;
  /** What the handler gets of what the tool is given. */
  readonly unwrap: (given: unknown) => unknown;
}

const NO_INPUT: JSONSchema7 = { type: "object", properties: {}, additionalProperties: false };

function inputOf(spec: HandlerSpec, given: FlexibleSchema<unknown> | undefined, where: string): Input {
  if (given !== undefined) return { schema: asSchema(given), unwrap: (value) => value };
  const own: StandardSchema | undefined = spec.options.input;
  if (own === undefined && spec.fn.length < 2) return { schema: jsonSchema(NO_INPUT), unwrap: () => undefined };
  const json = own === undefined ? undefined : jsonSchemaOf(own, "input");
  if (own === undefined || json === undefined)
    throw new DefinitionError(
      `${where}: nothing tells the model what it takes. Give the handler an input schema, or the tool an inputSchema`,
    );
  if (isObject(json)) return { schema: checked(json, own, (value) => value), unwrap: (value) => value };
  // Models call functions with objects only.
  const unwrap = (value: unknown): unknown => (value as { readonly input?: unknown }).input;
  const wrapped: JSONSchema7 = { type: "object", properties: { input: json }, required: ["input"] };
  return { schema: checked(wrapped, own, unwrap), unwrap };
}

function isObject(json: object): boolean {
  return (json as JSONSchema7).type === "object";
}

/** Checked here, so that a slip is the model's to correct; handed on as it is, since the handler's schema transforms it. */
function checked(json: object, own: StandardSchema, unwrap: (value: unknown) => unknown): Schema<unknown> {
  return jsonSchema(json as JSONSchema7, {
    validate: async (value) => {
      try {
        await validate(own, unwrap((value ?? {}) as JSONObject), "the input");
        return { success: true, value };
      } catch (error) {
        return { success: false, error: error as Error };
      }
    },
  });
}
