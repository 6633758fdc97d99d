// The tools of a world's agents, one of each kind: a step, a step that fails, effects at most once with and without a way
// to find out, durable code that sleeps or calls a service, and what a person has to approve.

import { subagent, tool, type AgentDefinition, type AnyTool, type Toolset } from "@perdure/agents";
import type { Context, RunId } from "@perdure/sdk";
import { z } from "zod";
import { hashText } from "../random.ts";
import { stepOf, type AgentPlan, type ToolName } from "./cast.ts";

export interface ToolPorts {
  /** Programs that tools may call. */
  readonly programs: number;
  delay(ms: number, callback: () => void): () => void;
  /** What was charged, by idempotency key, as the bank knows it: no crash of a host loses it. */
  readonly charges: Set<string>;
  /** The effect of a tool began. `key`: of the step that it is. */
  began(run: RunId, name: string, input: ToolInput, key: string | null): void;
}

/** `id` is the call's own; an approver may change the rest. */
interface ToolInput {
  readonly id: string;
  readonly amount: number;
}

const inputSchema: z.ZodType<ToolInput> = z.object({ id: z.string(), amount: z.number() });

const NAP_MS_MAX = 400;
const STEP_MS_MAX = 40;

export function toolsFor(plan: AgentPlan, agents: readonly AgentDefinition[], ports: ToolPorts): Toolset {
  const own = plan.tools.map((name) => [name, toolOf(name, ports)] as const);
  const asked = plan.asks.flatMap((number) => delegation(agents[number], "ask", false));
  const started = plan.starts.flatMap((number) => delegation(agents[number], "start", true));
  return Object.fromEntries<AnyTool>([...own, ...asked, ...started]);
}

function delegation(agent: AgentDefinition | undefined, verb: string, background: boolean): [string, AnyTool][] {
  return agent === undefined ? [] : [[`${verb}_${agent.name}`, subagent(agent, { background })]];
}

function toolOf(name: ToolName, ports: ToolPorts): AnyTool {
  const retry = { initial: 20, max: 200, maxAttempts: 3 };
  const execute = step(name, ports);
  const durable = { kind: "read", inputSchema } as const;
  switch (name) {
    case "note":
      return tool({ kind: "read", inputSchema, retry, execute });
    case "flaky":
      return tool({ inputSchema, retry, timeout: 400, execute: fails(name, ports) });
    case "charge":
      return tool({
        inputSchema,
        retry,
        atMostOnce: true,
        execute: async (input, info) => {
          ports.charges.add(info.idempotencyKey);
          return await execute(input, info);
        },
        reconcile: ({ idempotencyKey }) =>
          ports.charges.has(idempotencyKey) ? { happened: true, value: "charged before" } : { happened: false },
      });
    case "wire":
      return tool({ inputSchema, retry, atMostOnce: true, execute });
    case "nap":
      return tool({ ...durable, run: (ctx, { amount }) => ctx.sleep(hashText(`nap ${amount}`) % NAP_MS_MAX) });
    case "consult":
      return tool({ ...durable, run: (ctx, { amount }) => consult(ctx, amount % ports.programs) });
    case "publish":
      return tool({ inputSchema, retry, approval: "always", execute });
    case "deploy":
      return tool({
        inputSchema,
        approval: "always",
        expires: 2_000,
        run: async (ctx, input) => {
          ports.began(ctx.runId, name, input, null);
          await ctx.sleep(input.amount);
          return `deployed ${input.amount}`;
        },
      });
  }
}

interface StepInfo {
  readonly idempotencyKey: string;
  readonly abortSignal: AbortSignal;
}

/** Takes a while, and stops when it is told to. */
function step(name: string, ports: ToolPorts): (input: ToolInput, info: StepInfo) => Promise<string> {
  return async (input, { idempotencyKey, abortSignal }) => {
    const run = stepOf(idempotencyKey)?.run;
    if (run !== undefined) ports.began(run, name, input, idempotencyKey);
    await pause(hashText(idempotencyKey) % STEP_MS_MAX, abortSignal, ports);
    return `${name} ${input.amount}`;
  };
}

function fails(
  name: string,
  ports: ToolPorts,
): (input: ToolInput, info: StepInfo & { attempt: number }) => Promise<string> {
  const execute = step(name, ports);
  return async (input, info) => {
    if (hashText(`${info.idempotencyKey} ${info.attempt}`) % 2 === 0) throw new Error(`${name} failed`);
    return await execute(input, info);
  };
}

function pause(ms: number, signal: AbortSignal, ports: ToolPorts): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const cancel = ports.delay(ms, resolve);
  const stop = (): void => {
    cancel();
    reject(new Error("the tool was stopped"));
  };
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  return promise.finally(() => signal.removeEventListener("abort", stop));
}

async function consult(ctx: Context, program: number): Promise<unknown> {
  const consulted = (ctx.call("svc") as { run(input: object): Promise<unknown> }).run({ program });
  return await consulted;
}
