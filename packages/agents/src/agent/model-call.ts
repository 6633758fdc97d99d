// A model call of a turn: one step, whose result is the transcript's next item
// =============================================================================
// Its tokens go to the stream `events` as they come. What is settled is never asked for again (E2); a try that was cut stands
// in `events` with its own attempt, and the next one begins anew.
//
// Budgets: what the call uses at worst is reserved before it, what it used is settled after it, in all budgets of the tree.

import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { internalsOf, type ObjectContext, type RetryOptions, type StepInfo } from "@perdure/sdk";
import { estimateTokens } from "../budget/estimate.ts";
import { reserveBudget, type BudgetLease, type TokenPrice } from "../budget/lease.ts";
import { costOf } from "../models/prices.ts";
import { modelsOf } from "../models/of-context.ts";
import type { ModelAnswer, ModelAttempt } from "../models/types.ts";
import type { ModelRef } from "../models/resolver.ts";
import { modelName, type AgentSpec } from "./definition.ts";
import { EVENTS, type AgentEvent } from "./events.ts";
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

const DEFAULT_RETRY: RetryOptions = { initial: "1s", factor: 2, max: "5m" };
/** Where a budget has to be kept and neither agent nor request limits the answer. */
const OUTPUT_TOKENS_MAX = 8_192;

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
    const retry = request.spec.options.retry ?? DEFAULT_RETRY;
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
  const estimate = estimateTokens(
    bytesOf([options.prompt, options.tools]),
    options.maxOutputTokens ?? OUTPUT_TOKENS_MAX,
  );
  const lease = await reserveBudget(ctx, budgets, {
    ...estimate,
    price: dearest(spec.models, internalsOf(ctx).ports.now()),
    model: spec.models.map(modelName).join(", "),
  });
  if (lease.softPassed.length > 0) softPassed(lease.softPassed);
  return lease;
}

const MILLION = 1_000_000;

/** Of all that may answer. Null where one of them has no known price. */
function dearest(models: readonly ModelRef[], now: number): TokenPrice | null {
  let price: TokenPrice = { usdPerInputToken: 0, usdPerOutputToken: 0 };
  for (const model of models) {
    const input = perToken(model, MILLION, 0, now);
    const output = perToken(model, 0, MILLION, now);
    if (input === null || output === null) return null;
    price = {
      usdPerInputToken: Math.max(price.usdPerInputToken, input),
      usdPerOutputToken: Math.max(price.usdPerOutputToken, output),
    };
  }
  return price;
}

function perToken(model: ModelRef, input: number, output: number, now: number): number | null {
  const [provider = "", ...rest] = modelName(model).split("/");
  const cost = costOf({
    provider,
    modelId: rest.join("/"),
    answeredBy: undefined,
    usage: {
      inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: output, text: output, reasoning: 0 },
    },
    now,
  });
  return cost.usd === null ? null : cost.usd / MILLION;
}

async function ask<Item>(
  ctx: ObjectContext,
  { spec, call, options, interrupt, item, unseen }: ModelCall<Item>,
  info: StepInfo,
  lease: BudgetLease | undefined,
): Promise<Item> {
  const { gateway, resolve } = modelsOf(ctx);
  const models = await Promise.all(spec.models.map(resolve));
  const live = new LiveParts(call, info, !unseen);
  const answer = await gateway.call({
    models,
    options: lease === undefined ? options : { ...options, maxOutputTokens: lease.maxOutputTokens },
    key: `${spec.name}/${ctx.key}`,
    lane: spec.options.lane ?? "interactive",
    idempotencyKey: info.idempotencyKey,
    signal: info.signal,
    interrupt,
    ...(spec.options.timeouts === undefined ? {} : { timeouts: spec.options.timeouts }),
    onPart: (part, attempt) => live.part(part, attempt),
    onAttemptEnd: (attempt, outcome) => {
      if (outcome.kind === "failed") live.failed(attempt, outcome.error.message);
    },
  });
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

function usageOf(
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

function bytesOf(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}

/** What of a provider's stream is for watchers. */
const SHOWN: ReadonlySet<LanguageModelV4StreamPart["type"]> = new Set([
  "text-start",
  "text-delta",
  "text-end",
  "reasoning-start",
  "reasoning-delta",
  "reasoning-end",
  "tool-input-start",
  "tool-input-delta",
  "tool-input-end",
  "tool-call",
  "tool-result",
  "file",
  "source",
]);

/** Writes a call's parts to `events`, each try of it under its own number. */
class LiveParts {
  readonly #call: string;
  readonly #info: StepInfo;
  readonly #write: (event: AgentEvent) => void;
  readonly #showsParts: boolean;
  #begun = "";

  constructor(call: string, info: StepInfo, showsParts: boolean) {
    this.#showsParts = showsParts;
    this.#call = call;
    this.#info = info;
    const stream = info.stream<AgentEvent>(EVENTS);
    this.#write = (event) => stream.write(event);
  }

  part(part: LanguageModelV4StreamPart, attempt: ModelAttempt): void {
    if (!SHOWN.has(part.type)) return;
    const number = this.#begin(attempt);
    if (this.#showsParts) this.#write({ type: "part", call: this.#call, attempt: number, part });
  }

  failed(attempt: ModelAttempt, error: string): void {
    const number = this.#begin(attempt);
    this.#write({ type: "call-end", call: this.#call, attempt: number, outcome: "failed", error });
  }

  settled({ partial }: ModelAnswer): void {
    if (this.#begun === "") return; // Interrupted before anything was asked.
    const outcome = partial ? "interrupted" : "settled";
    this.#write({ type: "call-end", call: this.#call, attempt: this.#begun, outcome });
  }

  /** `<try of the step>.<try of the gateway>` */
  #begin({ number, provider, modelId }: ModelAttempt): string {
    const attempt = `${this.#info.attempt}.${number}`;
    if (attempt !== this.#begun) {
      this.#begun = attempt;
      this.#write({ type: "call-start", call: this.#call, attempt, model: `${provider}/${modelId}` });
    }
    return attempt;
  }
}
