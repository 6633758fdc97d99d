// Tools: what an agent may do
// ===========================
// A tool of the AI SDK is a tool here. Beyond that a tool says how it is made durable:
//
//   execute(input, info)   one effect: a journaled step, tried again after errors, run once more only if its result was lost.
//                          With `atMostOnce` never again unasked; `reconcile` finds out what became of it.
//   run(ctx, input, info)  durable code: whatever `ctx` offers, such as calls of services, waiting for days, sub-agents.

import type { DurationLike, ObjectContext, Reconciled, RetryOptions } from "@perdure/sdk";
import { DefinitionError } from "@perdure/sdk";
import type { FlexibleSchema } from "ai";
import type { ChildRecord } from "../agent/session-state.ts";
import type { ApprovalRequest } from "../approvals/types.ts";
import type { ToolApproval, ToolKind } from "../permissions/types.ts";

export interface ToolInfo {
  readonly toolCallId: string;
  /** Fires when the call is interrupted or cancelled, and when its time is over. */
  readonly abortSignal: AbortSignal;
  /** Stable over tries, crashes and replays: hand it to the outside world. */
  readonly idempotencyKey: string;
  /** From 1. */
  readonly attempt: number;
  /** Tells watchers how far it is. */
  progress(data: unknown): void;
  /** As the AI SDK's tools get them: always empty here, the conversation is not handed to tools. */
  readonly messages: never[];
}

export interface DurableToolInfo {
  readonly toolCallId: string;
  /** Fires when the call is interrupted. What `ctx` waits for goes on waiting: race it where that matters. */
  readonly abortSignal: AbortSignal;
  /** The agent's name and session, for those who delegate. */
  readonly agent: string;
  /** Budgets that bind this agent's calls, root first. */
  readonly budgets: readonly string[];
  /** Makes a sub-agent known to the session and to watchers. */
  child(child: ChildRecord): void;
}

export interface AgentTool<Input = unknown, Output = unknown> {
  readonly description?: string;
  /** zod, any Standard Schema, or `jsonSchema(…)` of the AI SDK. */
  readonly inputSchema: FlexibleSchema<Input>;
  /** Does it only look (`read`), or change something (`write`, the default)? Permissions and the write switch ask. */
  readonly kind?: ToolKind;
  /** Ask a person first. */
  readonly approval?: ToolApproval;
  readonly approvers?: readonly string[];
  readonly expires?: NonNullable<ApprovalRequest["expires"]>;
  readonly escalate?: NonNullable<ApprovalRequest["escalate"]>;
  execute?(input: Input, info: ToolInfo): Output | Promise<Output>;
  run?(ctx: ObjectContext, input: Input, info: DurableToolInfo): Output | Promise<Output>;
  /** How errors of `execute` are tried again; after the last one the model sees the error. Default: 3 tries. */
  readonly retry?: RetryOptions;
  /** A try of `execute` that takes longer is aborted and counts as failed. */
  readonly timeout?: DurationLike;
  /** The effect is never run blindly a second time. */
  readonly atMostOnce?: boolean;
  readonly reconcile?: (info: { readonly idempotencyKey: string }) => Promise<Reconciled<Output>> | Reconciled<Output>;
}

/** Any tool, whatever its input is. */
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyTool = AgentTool<any, any>;

export type Toolset = Readonly<Record<string, AnyTool>>;

/** Types a tool by its schema. */
export function tool<Input, Output>(definition: AgentTool<Input, Output>): AgentTool<Input, Output> {
  return definition;
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** @throws DefinitionError */
export function checkTools(agent: string, tools: Toolset): void {
  for (const [name, tool] of Object.entries(tools)) {
    const where = `tool "${name}" of agent "${agent}"`;
    if (!NAME.test(name))
      throw new DefinitionError(
        `${where}: a tool's name has 1 to 64 letters, digits, "_" and "-": providers take no others`,
      );
    if (tool.inputSchema === undefined)
      throw new DefinitionError(`${where} has no inputSchema: z.object({}) is an empty one`);
    const { approval } = tool as { readonly approval?: unknown };
    if (approval !== undefined && approval !== "always" && approval !== "never" && typeof approval !== "function")
      throw new DefinitionError(
        `${where}: approval is "always", "never" or a function of the input, not ${JSON.stringify(approval)}`,
      );
    if ((typeof tool.execute === "function") === (typeof tool.run === "function"))
      throw new DefinitionError(`${where} needs one of execute (one effect) and run (durable code)`);
  }
}
