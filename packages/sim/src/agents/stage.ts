// The stage: the agents of the cast as definitions, and the gateway that they share, for one life of a host.

import { agent, Bill, createModelResolver, type AgentDefinition, ModelGateway, provideModels } from "@perdure/agents";
import type { AnyDefinition, ObjectContext, SdkPorts } from "@perdure/sdk";
import type { AgentParameters, AgentPlan } from "./cast.ts";
import { modelsFor, type ModelPorts } from "./models.ts";
import { toolsFor, type ToolPorts } from "./tools.ts";

/** What a test puts between agents and what they stand on, to break a promise on purpose. */
export type BentContext = (ctx: ObjectContext) => ObjectContext;

export interface StagePorts extends ModelPorts, ToolPorts {
  readonly bend?: BentContext | undefined;
}

export function defineAgents(ports: StagePorts): readonly AnyDefinition[] {
  const agents: AgentDefinition[] = [];
  for (const plan of ports.parameters.plans.toReversed()) agents[plan.number] = defineAgent(plan, agents, ports);
  const { bend } = ports;
  return bend === undefined ? agents : agents.map((definition) => bent(definition, bend));
}

function defineAgent(plan: AgentPlan, agents: readonly AgentDefinition[], ports: StagePorts): AgentDefinition {
  const { budgetTokens, contextTokens, maxSteps } = plan;
  return agent(plan.name, {
    model: modelsFor(plan, ports),
    tools: toolsFor(plan, agents, ports),
    maxSteps,
    maxOutputTokens: 300,
    retry: { initial: 30, factor: 2, max: 1_000 },
    ...(budgetTokens === null ? {} : { budget: { tokens: budgetTokens } }),
    ...(contextTokens === null ? {} : { context: { maxTokens: contextTokens, keepTokens: 80 } }),
  });
}

/** Messages are handled with another context. */
function bent(definition: AgentDefinition, bend: BentContext): AgentDefinition {
  const specs = new Map(definition.specs);
  const send = specs.get("send");
  if (send === undefined) return definition;
  specs.set("send", { ...send, fn: (ctx: ObjectContext, input: unknown) => send.fn(bend(ctx), input) });
  return { ...definition, specs };
}

const GATEWAY = {
  retry: { retriesMax: 1, initialMs: 20, waitMsMax: 200 },
  timeouts: { firstTokenMs: 500, betweenTokensMs: 300 },
  breaker: { callsMin: 4, openMs: 300 },
} as const;

/** Gives the handlers on these ports a gateway of their own, as each process has one. */
export function provideGateway(ports: SdkPorts, { concurrency }: AgentParameters): void {
  provideModels(ports, {
    gateway: new ModelGateway({ ports, ...GATEWAY, limits: { scripted: { concurrency } } }),
    resolve: createModelResolver((name) => Promise.reject(new Error(`the cast has no provider "${name}"`))),
  });
}

/** The definitions without anything behind them: for those who only want to know what is served. */
export function playbill(parameters: AgentParameters): readonly AnyDefinition[] {
  return defineAgents({
    seed: 0,
    parameters,
    programs: 1,
    charges: new Set(),
    bill: new Bill(),
    delay: () => () => undefined,
    faultsOn: () => false,
    asked: () => undefined,
    began: () => undefined,
  });
}
