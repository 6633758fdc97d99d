// The cast: which agents a world has, as data. Models, tools and messages are made of it (models.ts, tools.ts, and the
// correspondent outside).
//
// C1. An agent delegates to agents with larger numbers only: a tree of sub-agents comes to an end.

import type { AgentMessage } from "@perdure/agents";
import type { RunId } from "@perdure/protocol";
import type { Random } from "../random.ts";

/** What an agent's model may call, beside sub-agents. A world leaves some of them out. */
const TOOLS = ["note", "flaky", "charge", "wire", "nap", "consult", "publish", "deploy"] as const;
export type ToolName = (typeof TOOLS)[number];

/** Tools that a person has to approve. */
export const NEED_APPROVAL: ReadonlySet<string> = new Set<ToolName>(["publish", "deploy"]);

export interface AgentPlan {
  readonly number: number;
  readonly name: string;
  readonly tools: readonly ToolName[];
  /** Numbers of the agents that it may ask and wait for, and that it may start in the background. */
  readonly asks: readonly number[];
  readonly starts: readonly number[];
  /** The tokens that a session may use; null: it has no budget of its own. */
  readonly budgetTokens: number | null;
  readonly maxSteps: number;
  /** Requests above it are compacted; null: the default, which no simulated conversation reaches. */
  readonly contextTokens: number | null;
  /** A second model, asked where the first one fails. */
  readonly fallback: boolean;
}

/** Probabilities of how a model call goes wrong. */
interface ModelFaults {
  readonly cut: number;
  readonly stall: number;
  readonly refused: number;
}

type Policy = NonNullable<AgentMessage["policy"]>;

export type OutsideAction =
  | "stop"
  | "withdraw"
  | "cancel"
  | "kill"
  | "pause"
  | "resume"
  | "restart"
  | "raise"
  | "deny"
  | "writes";

export interface AgentParameters {
  readonly plans: readonly AgentPlan[];
  readonly messages: number;
  readonly sessions: number;
  readonly policies: Readonly<Record<Policy, number>>;
  readonly faults: ModelFaults;
  /** Milliseconds, at most, to a model's first token, and from one token to the next. */
  readonly firstTokenMsMax: number;
  readonly tokenMsMax: number;
  /** Model calls that a process makes at once. */
  readonly concurrency: number;
  /** A budget that messages name, shared by all the sessions that they go to; null: none. */
  readonly teamTokens: number | null;
  /** Weights of what people do to agents, and how often they do something; 0: never. */
  readonly actions: Readonly<Record<OutsideAction, number>>;
  readonly actEveryMs: number;
  /** How often somebody looks at the open approvals, and how often they then answer one. */
  readonly answerEveryMs: number;
  readonly answers: number;
}

const ACTIONS: readonly OutsideAction[] = [
  "stop",
  "withdraw",
  "cancel",
  "kill",
  "pause",
  "resume",
  "restart",
  "raise",
  "deny",
  "writes",
];

export function drawAgents(random: Random): AgentParameters {
  const some = (probability: number, value: () => number) => (random.chance(probability) ? value() : 0);
  const tools = TOOLS.filter(() => random.chance(0.7));
  const count = random.int(1, 3);
  const delegates = random.chance(0.7);
  const budgets = random.chance(0.5);
  return {
    plans: Array.from({ length: count }, (_, number) => drawPlan(random, number, count, tools, delegates, budgets)),
    messages: random.int(1, 7),
    sessions: random.int(1, 2),
    policies: {
      steer: 3,
      interrupt: some(0.6, () => 2),
      queue: some(0.6, () => 2),
      collect: some(0.6, () => 2),
      restart: some(0.4, () => 1),
    },
    faults: {
      cut: some(0.5, () => 0.15),
      stall: some(0.3, () => 0.1),
      refused: some(0.5, () => 0.2),
    },
    firstTokenMsMax: random.pick([0, 5, 60]),
    tokenMsMax: random.pick([0, 3, 30]),
    concurrency: random.pick([1, 2, 1_000]),
    teamTokens: random.chance(0.3) ? random.int(400, 8_000) : null,
    actions: Object.fromEntries(
      ACTIONS.map((action) => [action, some(0.5, () => (action === "cancel" ? 3 : 1))]),
    ) as Record<OutsideAction, number>,
    actEveryMs: some(0.75, () => random.pick([30, 120, 500])),
    answerEveryMs: random.pick([20, 100, 400]),
    answers: random.pick([0.1, 0.5, 1]),
  };
}

function drawPlan(
  random: Random,
  number: number,
  count: number,
  tools: readonly ToolName[],
  delegates: boolean,
  budgets: boolean,
): AgentPlan {
  const others = delegates ? Array.from({ length: count - number - 1 }, (_, at) => number + 1 + at) : [];
  return {
    number,
    name: agentName(number),
    tools: tools.filter(() => random.chance(0.8)),
    asks: others.filter(() => random.chance(0.6)),
    starts: others.filter(() => random.chance(0.6)),
    budgetTokens: budgets && random.chance(0.6) ? random.int(300, 6_000) : null,
    maxSteps: random.chance(0.2) ? random.int(1, 3) : 12,
    contextTokens: random.chance(0.2) ? random.int(150, 400) : null,
    fallback: random.chance(0.2),
  };
}

const AGENT = /^agent\d+$/;

export function agentName(number: number): string {
  return `agent${number}`;
}

/** Is it the name of an agent of the cast? */
export function isAgent(service: string): boolean {
  return AGENT.test(service);
}

const KEY = /^(run_1[0-9A-Za-z]{33})(?:\.(\d+))?-(\d+)$/;

/** Which step of which run an idempotency key names. */
export interface StepName {
  readonly run: RunId;
  readonly generation: number;
  readonly command: number;
}

export function stepOf(idempotencyKey: string): StepName | undefined {
  const match = KEY.exec(idempotencyKey);
  if (match === null) return undefined;
  return { run: match[1] as RunId, generation: Number(match[2] ?? 0), command: Number(match[3]) };
}
