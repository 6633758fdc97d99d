// What the tests of budgets share: callers, and somebody who approves.

import {
  budgetQuestions,
  budgets,
  estimateTokens,
  reserveBudget,
  type BudgetLimits,
  type BudgetStatus,
} from "@perdure/agents";
import { BudgetExhaustedError, isPerdureError, type RunId } from "@perdure/protocol";
import { service, workflow, type AnyDefinition, type Context } from "@perdure/sdk";
import { TestWorld, type TestWorldOptions } from "../../src/testing.ts";

/** A call that uses `inputTokens` and as much of its answer as `uses` says. */
export interface CallInput {
  readonly budgets: readonly string[];
  readonly inputTokens: number;
  readonly maxOutputTokens: number;
  readonly minOutputTokens?: number;
  /** Of the answer that it may give: 1 all of it; more: the provider does not keep to its limit. */
  readonly uses?: number;
  readonly usdPerToken?: number | null;
  readonly model?: string;
  /** How long it takes. */
  readonly takes?: string;
}

export interface CallOutput {
  readonly tokens: number;
  readonly maxOutputTokens: number;
  readonly softPassed: readonly string[];
  readonly wallLeftMs?: number;
}

async function call(ctx: Context, input: CallInput): Promise<CallOutput> {
  const { inputTokens, maxOutputTokens, minOutputTokens = maxOutputTokens, usdPerToken = 0 } = input;
  const price = usdPerToken === null ? null : { usdPerInputToken: usdPerToken, usdPerOutputToken: usdPerToken };
  const estimate = estimateTokens(inputTokens, maxOutputTokens, { bytesPerToken: 1, minOutputTokens });
  using lease = await reserveBudget(ctx, input.budgets, {
    ...estimate,
    price,
    ...(input.model === undefined ? {} : { model: input.model }),
  });
  if (input.takes !== undefined) await ctx.sleep(input.takes);
  const tokens = await ctx.step("model", () => inputTokens + Math.round(lease.maxOutputTokens * (input.uses ?? 1)));
  const { softPassed } = await lease.settle({ tokens, usd: usdPerToken === null ? null : tokens * usdPerToken });
  const { maxOutputTokens: granted, wallLeftMs } = lease;
  return {
    tokens,
    maxOutputTokens: granted,
    softPassed: [...lease.softPassed, ...softPassed],
    ...(wallLeftMs === undefined ? {} : { wallLeftMs }),
  };
}

/** More than a budget remembers of what was settled. */
export const OTHERS = 20;

const caller = service("caller", {
  call,
  /** Lets go of the call, and has made it all the same. */
  async regrets(ctx, input: CallInput): Promise<void> {
    const estimate = estimateTokens(input.inputTokens, input.maxOutputTokens, { bytesPerToken: 1 });
    const lease = await reserveBudget(ctx, input.budgets, { ...estimate, price: null });
    lease.release();
    await lease.settle({ tokens: 60, usd: null });
    const others = Array.from({ length: OTHERS }, () => call(ctx, { ...input, inputTokens: 1, maxOutputTokens: 0 }));
    await Promise.all(others);
    await lease.settle({ tokens: 60, usd: null });
  },
});

export interface TreeInput extends Omit<CallInput, "budgets"> {
  readonly limits: BudgetLimits;
  /** A budget of every child's own, below the root's. */
  readonly childLimits?: BudgetLimits;
  readonly children: number;
  /** Calls of each child, one after another. */
  readonly calls: number;
}

const OVER = "over";

/** A root with children that call at the same time. Gives what they used, and how the budget stands. */
const tree = service("tree", {
  async run(
    ctx,
    input: TreeInput,
  ): Promise<{ readonly used: number; readonly denied: number; readonly root: BudgetStatus }> {
    await ctx.call(budgets, "root").open(input.limits);
    const { limits: _, childLimits, children, ...rest } = input;
    const asChild = (child: number) =>
      ctx.call(tree).child({ ...rest, ...(childLimits === undefined ? {} : { childLimits }), child });
    const outcomes = await Promise.all(Array.from({ length: children }, (_item, child) => asChild(child)));
    return {
      used: outcomes.reduce((sum, outcome) => sum + outcome.used, 0),
      denied: outcomes.reduce((sum, outcome) => sum + outcome.denied, 0),
      root: await ctx.call(budgets, "root").status(),
    };
  },

  async child(
    ctx,
    input: Omit<TreeInput, "limits" | "children"> & { readonly child: number },
  ): Promise<{ readonly used: number; readonly denied: number }> {
    const chain = ["root"];
    if (input.childLimits !== undefined) {
      chain.push(`child ${input.child}`);
      await ctx.call(budgets, `child ${input.child}`).open(input.childLimits);
    }
    let [used, denied] = [0, 0];
    for (let i = 0; i < input.calls; i += 1) {
      const outcome = await call(ctx, { ...input, budgets: chain }).catch((error: unknown) => {
        if (isPerdureError(error) && error.code === BudgetExhaustedError.code) return OVER;
        throw error;
      });
      if (outcome === OVER) denied += 1;
      else used += (outcome as CallOutput).tokens;
    }
    return { used, denied };
  },
});

/** Stands in for the workflow of that name: it asks, and somebody decides. */
export const approvals = workflow("perdure.approvals", {
  async run(ctx, request: { readonly title: string }): Promise<unknown> {
    ctx.set("request", request);
    return ctx.promise("decision").get();
  },
  async decide(ctx, decision: unknown): Promise<void> {
    await ctx.promise("decision").resolve(decision);
  },
});

export const SERVICES: readonly AnyDefinition[] = [budgets, budgetQuestions, caller, tree, approvals];

export interface Question {
  readonly id: string;
  readonly title: string;
  readonly input: unknown;
  readonly approvers?: readonly string[];
}

/** A world with a person in it. */
export class BudgetWorld extends TestWorld {
  #names = 0;

  constructor(options: Partial<TestWorldOptions> = {}) {
    super({ services: SERVICES, ...options });
  }

  /** Questions that are open, oldest first. */
  async questions(): Promise<readonly Question[]> {
    const runs = await this.runs();
    return runs
      .filter(({ service: name, handler, status }) => name === approvals.name && handler === "run" && isOpen(status))
      .map(({ key, input }) => ({ id: key ?? "", ...(JSON.parse(String(input)) as Omit<Question, "id">) }));
  }

  async decide(question: Question, decision: object): Promise<void> {
    await this.#ask({ service: approvals.name, key: question.id, handler: "decide" }, { at: this.now, ...decision });
  }

  async openBudget(budget: string, limits: BudgetLimits): Promise<void> {
    await this.#ask({ service: budgets.name, key: budget, handler: "open" }, limits);
  }

  async status(budget: string): Promise<BudgetStatus> {
    return (await this.#ask({ service: budgets.name, key: budget, handler: "status" })) as BudgetStatus;
  }

  async raise(budget: string, input: object): Promise<unknown> {
    return this.#ask({ service: budgets.name, key: budget, handler: "raise" }, input);
  }

  async deny(budget: string, input: object): Promise<unknown> {
    return this.#ask({ service: budgets.name, key: budget, handler: "deny" }, input);
  }

  /** Starts a call, and lets it come as far as it can. */
  async start(input: CallInput): Promise<RunId> {
    this.#names += 1;
    const run = await this.submit({ service: "caller", handler: "call" }, input, `call ${this.#names}`);
    await this.settle();
    return run;
  }

  /** One of the messages that budgets send to themselves. */
  async say(budget: string, handler: string, input: object): Promise<unknown> {
    return this.#ask({ service: budgets.name, key: budget, handler }, input);
  }

  async #ask(
    target: { readonly service: string; readonly key: string; readonly handler: string },
    input?: unknown,
  ): Promise<unknown> {
    this.#names += 1;
    const run = await this.submit(target, input, `ask ${this.#names}`);
    await this.settle();
    const result = (await this.run(run))?.result;
    if (result?.kind === "failure") throw new Error(`${result.failure.errorCode} ${result.failure.message}`);
    return result?.kind === "value" ? JSON.parse(String(result.value)) : undefined;
  }
}

function isOpen(status: string): boolean {
  return status === "running" || status === "suspended";
}

export const aCall = (input: Partial<CallInput> = {}): CallInput => ({
  budgets: ["b"],
  inputTokens: 10,
  maxOutputTokens: 90,
  ...input,
});

export async function worldWith(limits: BudgetLimits): Promise<BudgetWorld> {
  const world = await new BudgetWorld().open();
  await world.openBudget("b", limits);
  return world;
}

export async function outputOf(world: BudgetWorld, run: RunId): Promise<CallOutput> {
  const result = await world.finish(run);
  if (result?.kind !== "value") throw new Error(JSON.stringify(result));
  return JSON.parse(String(result.value)) as CallOutput;
}

export async function statusesOf(world: BudgetWorld, runs: readonly RunId[]): Promise<readonly (string | undefined)[]> {
  return Promise.all(runs.map(async (run) => (await world.run(run))?.status));
}
