// What an agent is made of, checked once when it is defined.

import type { SharedV4ProviderOptions } from "@ai-sdk/provider";
import {
  DefinitionError,
  type DurationLike,
  type MemoryMode,
  type ObjectContext,
  type RetryOptions,
} from "@perdure/sdk";
import { checkModels } from "#ask-model";
import { asSource } from "#tool-sources";
import type { FlexibleSchema } from "ai";
import type { BudgetLimits } from "../budget/types.ts";
import type { ModelTimeouts } from "../models/types.ts";
import { modelList, type ModelRef } from "../models/resolver.ts";
import { permissions, type Permissions } from "../permissions/permissions.ts";
import type { PermissionAction, PermissionRule } from "../permissions/types.ts";
import { checkTools, type Toolset } from "../tools/tool.ts";
import type { ToolSource } from "../tools/tool-source.ts";
import type { ArrivalHook } from "./inbox.ts";
import type { Usage } from "./messages.ts";
import type { TranscriptItem } from "./transcript.ts";

export interface AgentOptions {
  /** `provider/model`, a model of the AI SDK, or several in the order of fallback. */
  readonly model: ModelRef | readonly ModelRef[];
  readonly instructions?: string;
  readonly description?: string;
  /** By name; or a list of such sets, and of sources that are asked for their tools in each turn (`mcpTools`). */
  readonly tools?: Toolset | readonly (Toolset | ToolSource)[];
  /** What the whole tree under a session may use; at the limit it pauses and asks. */
  readonly budget?: BudgetLimits;
  /** The answer's form: it is asked of the model, checked, and found in `answer.output`. */
  readonly output?: FlexibleSchema<unknown>;
  /** Model calls in one turn, at most. Default 50. */
  readonly maxSteps?: number;
  /** Ends the turn before another model call is made. */
  readonly stopWhen?: (turn: TurnSoFar) => boolean;
  /** Called after every model call, and before its tools: it may append messages, or set the task aside. */
  readonly onTurn?: (ctx: ObjectContext, turn: TurnSoFar) => void | Promise<void>;
  /** Decides on messages that arrive while the agent is at work. Default: each message's own policy. */
  readonly onArrival?: ArrivalHook;
  readonly permissions?: readonly PermissionRule[];
  /** What becomes of tools that write where no rule says. Default `allow`. */
  readonly writes?: PermissionAction;
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  readonly providerOptions?: SharedV4ProviderOptions;
  /** `interactive` calls go before `batch` ones where limits make them wait. */
  readonly lane?: "interactive" | "batch";
  readonly timeouts?: ModelTimeouts;
  /** How model calls are tried again once the gateway's own tries are used up. Default: for ever, up to 5 minutes apart. */
  readonly retry?: RetryOptions;
  readonly context?: ContextOptions;
  readonly retention?: DurationLike;
  /**
   * `snapshot`: turns run inside isolates, and their execution itself is imaged: a turn wakes as fast after a thousand steps
   * as after ten. What needs Node (tools, models that are no names) comes from modules that begin with "use host". Default
   * `journal`: turns run in Node, and are replayed.
   */
  readonly memory?: MemoryMode;
}

export interface ContextOptions {
  /** The conversation is compacted when a request would be larger. Default 120,000. */
  readonly maxTokens?: number;
  /** About so much of the newest is kept word for word. Default a quarter of `maxTokens`. */
  readonly keepTokens?: number;
  /** Longer results of tools are shown as an excerpt; `read_result` reads the rest. Default 16,000. */
  readonly resultCharsMax?: number;
  /** Instructions for the summary. */
  readonly summarize?: string;
}

export interface TurnSoFar {
  /** Model calls made in this turn. */
  readonly steps: number;
  readonly usage: Usage;
  /** What the requests are made from; the newest item last. */
  readonly transcript: readonly TranscriptItem[];
}

/** An agent's options with their defaults. */
export interface AgentSpec {
  readonly name: string;
  readonly models: readonly ModelRef[];
  readonly instructions: string;
  readonly tools: Toolset;
  readonly sources: readonly ToolSource[];
  readonly permissions: Permissions;
  readonly maxSteps: number;
  readonly contextMaxTokens: number;
  readonly contextKeepTokens: number;
  readonly resultCharsMax: number;
  readonly options: AgentOptions;
}

const MAX_STEPS = 50;
const CONTEXT_TOKENS = 120_000;
const KEEP_SHARE = 4;
const RESULT_CHARS = 16_000;

/** @throws DefinitionError */
export function agentSpec(name: string, options: AgentOptions): AgentSpec {
  const models = modelList(options.model, `agent "${name}"`);
  checkModels(models, `agent "${name}"`);
  const { tools, sources } = toolsOf(name, options.tools ?? {});
  const contextMaxTokens = positive(name, "context.maxTokens", options.context?.maxTokens ?? CONTEXT_TOKENS);
  return {
    name,
    models,
    instructions: options.instructions ?? "",
    tools,
    sources,
    permissions: permissions(options.permissions ?? [], `agent "${name}"`),
    maxSteps: positive(name, "maxSteps", options.maxSteps ?? MAX_STEPS),
    contextMaxTokens,
    contextKeepTokens: options.context?.keepTokens ?? Math.floor(contextMaxTokens / KEEP_SHARE),
    resultCharsMax: positive(name, "context.resultCharsMax", options.context?.resultCharsMax ?? RESULT_CHARS),
    options,
  };
}

function toolsOf(
  agent: string,
  given: NonNullable<AgentOptions["tools"]>,
): { readonly tools: Toolset; readonly sources: readonly ToolSource[] } {
  const tools: Record<string, Toolset[string]> = {};
  const sources: ToolSource[] = [];
  for (const one of isList(given) ? given : [given]) {
    const found = asSource(one);
    if (found !== undefined) {
      if (sources.some(({ source }) => source === found.source))
        throw new DefinitionError(`agent "${agent}" has two sources of tools that are called "${found.source}"`);
      sources.push(found);
      continue;
    }
    const set = one as Toolset;
    checkTools(agent, set);
    const twice = Object.keys(set).find((name) => Object.hasOwn(tools, name));
    if (twice !== undefined) throw new DefinitionError(`agent "${agent}" has two tools that are called "${twice}"`);
    Object.assign(tools, set);
  }
  return { tools, sources };
}

function isList(given: NonNullable<AgentOptions["tools"]>): given is readonly (Toolset | ToolSource)[] {
  return Array.isArray(given);
}

function positive(agent: string, what: string, value: number): number {
  if (Number.isInteger(value) && value > 0) return value;
  throw new DefinitionError(`agent "${agent}": ${what} must be a whole number above 0, not ${value}`);
}
