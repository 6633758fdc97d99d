// A model call of a turn: one step, whose result is the transcript's next item
// =============================================================================
// Its tokens go to the stream `events` as they come. What is settled is never asked for again (E2); a try that was cut stands
// in `events` with its own attempt, and the next one begins anew.
//
// Budgets: what the call uses at worst is reserved before it, what it used is settled after it, in all budgets of the tree.

import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import type { ObjectContext, RetryOptions, StepInfo } from "@perdure/sdk";
import { askModel } from "#ask-model";
import type { BudgetLease } from "../budget/lease.ts";
import type { ModelAsk } from "../models/model-ask.ts";
import type { ModelAnswer } from "../models/types.ts";
import { bytesOf, leaseCall } from "./call-lease.ts";
import type { AgentSpec } from "./definition.ts";
import { EVENTS } from "./events.ts";
import type { Usage } from "./messages.ts";
import { TRANSCRIPT, type AssistantItem } from "./transcript.ts";

export interface ModelCall<Item> {
  readonly spec: AgentSpec;
  /** Names the call in `events`: the offset that its answer gets in the transcript. */
  readonly call: string;
  /** The step's name. */
  readonly name: string;
  /** What goes into the transcript. */
  readonly item: (answer: ModelAnswer, usage: Usage) => Item;
  readonly options: Omit<LanguageModelV4CallOptions, "abortSignal">;
  readonly interrupt: AbortSignal;
  readonly budgets: readonly string[];
  /** What it says is not for watchers: that it goes on is. */
  readonly unseen: boolean;
  /** A budget's soft threshold was passed. */
  readonly softPassed: (budgets: readonly string[]) => void;
}

/** For as long as it takes: what the gateway gives up on is mostly a provider that is down. */
export const MODEL_RETRY: RetryOptions = { initial: "1s", factor: 2, max: "5m" };

/** Undefined where it was interrupted before it was begun. */
export async function callModel<Item extends { readonly usage: Usage }>(
  ctx: ObjectContext,
  request: ModelCall<Item>,
): Promise<Item | undefined> {
  const lease = request.budgets.length === 0 ? undefined : await lend(ctx, request);
  if (request.interrupt.aborted) {
    lease?.release();
    return undefined;
  }
  try {
    const retry = request.spec.options.retry ?? MODEL_RETRY;
    const item = await ctx.step(request.name, (info) => ask(ctx, request, info, lease), { retry, into: TRANSCRIPT });
    if (lease !== undefined) {
      const { inputTokens, outputTokens, usd } = item.usage;
      const { softPassed } = await lease.settle({ tokens: inputTokens + outputTokens, usd });
      if (softPassed.length > 0) request.softPassed(softPassed);
    }
    return item;
  } catch (error) {
    lease?.release();
    throw error;
  }
}

async function lend(
  ctx: ObjectContext,
  { spec, options, budgets, softPassed }: ModelCall<unknown>,
): Promise<BudgetLease> {
  const lease = await leaseCall(ctx, { models: spec.models, options, budgets });
  if (lease.softPassed.length > 0) softPassed(lease.softPassed);
  return lease;
}

async function ask<Item>(
  ctx: ObjectContext,
  { spec, call, options, interrupt, item, unseen }: ModelCall<Item>,
  info: StepInfo,
  lease: BudgetLease | undefined,
): Promise<Item> {
  const { lane = "interactive", timeouts } = spec.options;
  const request: ModelAsk = {
    models: spec.models,
    options: lease === undefined ? options : { ...options, maxOutputTokens: lease.maxOutputTokens },
    key: `${spec.name}/${ctx.key}`,
    lane,
    live: { call, stream: EVENTS, showsParts: !unseen },
    ...(timeouts === undefined ? {} : { timeouts }),
  };
  const answer = await askModel(ctx, request, info, { interrupt });
  return item(answer, usageOf(answer, options));
}

/** An answer as the transcript keeps it. */
export function assistantItem(call: string, answer: ModelAnswer, usage: Usage): AssistantItem {
  return {
    type: "assistant",
    call,
    content: answer.content,
    finish: answer.finishReason.unified,
    usage,
    cost: answer.cost,
    model: `${answer.provider}/${answer.modelId}`,
    ...(answer.partial ? { partial: true as const } : {}),
  };
}

/** A cut answer has no figures of the provider: about four bytes are a token. */
const BYTES_PER_TOKEN = 4;

export function usageOf(
  { usage, cost, content }: ModelAnswer,
  options: Pick<LanguageModelV4CallOptions, "prompt" | "tools">,
): Usage {
  const input = usage.inputTokens.total;
  const output = usage.outputTokens.total;
  if (input !== undefined && output !== undefined)
    return { inputTokens: input, outputTokens: output, usd: cost.usd, calls: 1 };
  return {
    inputTokens: input ?? Math.ceil(bytesOf([options.prompt, options.tools]) / BYTES_PER_TOKEN),
    outputTokens: output ?? Math.ceil(bytesOf(content) / BYTES_PER_TOKEN),
    usd: cost.usd,
    calls: 1,
    estimated: true,
  };
}
