// subagent(): an agent as a tool of another. Each call is a session of its own, under a key below the parent's, unless the
// model names one to go on with. Budgets of the parent bind the child's calls.

import type { JSONValue } from "@ai-sdk/provider";
import { CancelledError, type ObjectContext } from "@perdure/sdk";
import { z } from "zod";
import type { AgentDefinition } from "../agent/agent.ts";
import type { AgentAnswer, AgentMessage } from "../agent/messages.ts";
import { tool, type AgentTool, type DurableToolInfo } from "./tool.ts";

export interface SubagentOptions {
  /** For the parent's model. Default: the agent's own description. */
  readonly description?: string;
  /**
   * The parent goes on at once, and is told when the child has ended; meanwhile its model may look, wait, steer, interrupt
   * and abandon. Default: the parent waits for the answer.
   */
  readonly background?: boolean;
}

interface Delegation {
  readonly task: string;
  readonly session?: string | undefined;
}

const input: z.ZodType<Delegation> = z.object({
  task: z.string().describe("what to do; the sub-agent knows nothing else of this conversation"),
  session: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/)
    .optional()
    .describe("the name of an earlier sub-agent to go on with; left out: a new one"),
});

export function subagent(definition: AgentDefinition, options: SubagentOptions = {}): AgentTool<Delegation, JSONValue> {
  const { name, options: own } = definition;
  const background = options.background === true;
  return tool({
    description: options.description ?? own.description ?? `Delegates a task to the agent "${name}".`,
    kind: "read", // What the child does, its own permissions decide.
    inputSchema: input,
    run: async (ctx, { task, session }, info): Promise<JSONValue> => {
      const child = session ?? `${name}-${info.toolCallId}`;
      const key = `${ctx.key}/${child}`;
      const message: AgentMessage = { text: task, policy: "queue", from: info.agent, budgets: info.budgets };
      return background
        ? await startChild(ctx, info, definition, { child, key, message })
        : await callChild(ctx, info, definition, { child, key, message });
    },
  });
}

interface Start {
  readonly child: string;
  readonly key: string;
  readonly message: AgentMessage;
}

async function callChild(
  ctx: ObjectContext,
  info: DurableToolInfo,
  definition: AgentDefinition,
  { child, key, message }: Start,
): Promise<JSONValue> {
  const answer = ctx.call(definition, key).send(message);
  const abandon = (): void => {
    // An interruption leaves the child alone: the parent waits on. Only what calls the parent's work off reaches it.
    if (info.abortSignal.reason === "interrupt") return;
    answer.handle.cancel().catch(() => undefined); // It has ended.
  };
  info.abortSignal.addEventListener("abort", abandon, { once: true });
  try {
    const run = await answer.handle.id();
    info.child({ name: child, agent: definition.name, key, run, background: false });
    return shown(await answer);
  } catch (error) {
    // The child's own cancel is a result; the parent's is its end.
    if (error instanceof CancelledError && !ctx.abortSignal.aborted)
      throw new Error(`The sub-agent ${child} was cancelled.`, { cause: error });
    throw error;
  } finally {
    info.abortSignal.removeEventListener("abort", abandon);
  }
}

async function startChild(
  ctx: ObjectContext,
  info: DurableToolInfo,
  definition: AgentDefinition,
  { child, key, message }: Start,
): Promise<JSONValue> {
  const { id: run } = await ctx.send(definition, key).send(message);
  await ctx.send(info.agent, ctx.key).watch({ name: child, agent: definition.name, key, run });
  info.child({ name: child, agent: definition.name, key, run, background: true });
  return { child, status: "started", note: "You will be told when it has ended." };
}

function shown({ text, output }: AgentAnswer): JSONValue {
  return output === undefined ? text : (output as JSONValue);
}
