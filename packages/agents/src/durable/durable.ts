// durable(ctx, model): a model of the AI SDK whose calls are steps of the handler
// ===============================================================================
//   const { text } = await generateText({ model: durable(ctx, "openai/gpt-5"), prompt, tools });
//
// D1. A call is one step: it goes through the gateway, its answer is journaled, and what is journaled is never asked again.
//     On a replay the recorded answer comes back, word for word, whatever the AI SDK makes of it.
// D2. The handler is told of a call when it is settled, also by `doStream`: the stream of parts is made from the answer.
//     Were it fed as tokens come, a replay could not tell how far the handler had read. Tokens as they come go to a durable
//     stream (`stream`), which clients watch.
// D3. The AI SDK does not try again on top: what a call rejects with is none of the errors that it takes for retryable. There
//     is no need to set `maxRetries`. Tries are the gateway's (soon, a few) and the step's (for as long as it takes).
// D4. How a call ended is journaled, also where the caller's own `abortSignal` ended it: the clock of a replay is another one.
// D5. After a cancel the model answers nothing more: the AI SDK tells a model what a tool threw, and would go on with the
//     work that was cancelled. Code that compensates makes itself another `durable(ctx, …)`.
// D6. A call that fails for good is thrown into the handler, whatever it is called by.

import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamResult,
} from "@ai-sdk/provider";
import { CancelledError, internalsOf, type Context, type RetryOptions, type StepInfo } from "@perdure/sdk";
import { askModel, checkModels } from "#ask-model";
import { leaseCall } from "../agent/call-lease.ts";
import type { Usage } from "../agent/messages.ts";
import { MODEL_RETRY, usageOf } from "../agent/model-call.ts";
import type { BudgetLease } from "../budget/lease.ts";
import { partsOf, streamOf } from "../models/assembly.ts";
import type { Lane } from "../models/fair-queue.ts";
import type { ModelAsk } from "../models/model-ask.ts";
import { modelList, modelName, type ModelRef } from "../models/resolver.ts";
import type { ModelAnswer, ModelTimeouts } from "../models/types.ts";

export interface DurableOptions {
  /** The step's name. Default: `model` and the model's name. */
  readonly name?: string;
  /** Whose calls these are, where limits make them take turns. Default: the run's. */
  readonly key?: string;
  /** `interactive` calls (the default) go before `batch` ones where limits make them wait. */
  readonly lane?: Lane;
  /** How calls are tried again once the gateway's own tries are used up. Default: for ever, up to 5 minutes apart. */
  readonly retry?: RetryOptions;
  readonly timeouts?: ModelTimeouts;
  /** A stream of the handler's that gets the tokens as they come, as `call-start`, `part` and `call-end` of `AgentEvent`. */
  readonly stream?: string;
  /** Keys of `perdure.budgets` that bind these calls, root first. */
  readonly budgets?: readonly string[];
}

type CallOptions = Omit<LanguageModelV4CallOptions, "abortSignal">;

/** What is journaled of a call. */
type Settled =
  | { readonly answer: ModelAnswer; readonly id: string }
  /** The caller's signal ended it. */
  | { readonly aborted: { readonly name: string; readonly message: string } };

/** Nothing is downloaded in the handler: what a model cannot fetch itself is fetched within the step. */
const EVERY_URL: Record<string, RegExp[]> = { "*": [/^/] };

/**
 * A model for `generateText`, `streamText`, `ToolLoopAgent` and the like in any handler: each of its calls is a journaled
 * step. Tools may use `ctx` (`ctx.step`, `ctx.call`, `ctx.sleep`), also side by side.
 *
 * `streamText` sees an answer when it is settled; for tokens as they come, name a `stream` and let clients watch that.
 * Time limits belong into `timeouts`: those of the AI SDK run by a clock that a replay does not have.
 *
 * @param model `provider/model`, a model of the AI SDK, or several in the order of fallback.
 */
export function durable(
  ctx: Context,
  model: ModelRef | readonly ModelRef[],
  options: DurableOptions = {},
): LanguageModelV4 {
  const models = modelList(model, "durable(ctx, …)");
  checkModels(models, "durable(ctx, …)");
  return new DurableModel(ctx, models, options);
}

class DurableModel implements LanguageModelV4 {
  readonly specificationVersion = "v4" as const;
  readonly supportedUrls: Record<string, RegExp[]> = EVERY_URL;
  readonly provider: string;
  readonly modelId: string;
  readonly #ctx: Context;
  readonly #models: readonly ModelRef[];
  readonly #options: DurableOptions;
  readonly #name: string;
  /** Made by code that knows of the cancel (D5). */
  readonly #compensates: boolean;

  constructor(ctx: Context, models: readonly ModelRef[], options: DurableOptions) {
    const name = modelName(models[0] ?? "");
    const slash = name.indexOf("/");
    this.provider = name.slice(0, slash);
    this.modelId = name.slice(slash + 1);
    this.#ctx = ctx;
    this.#models = models;
    this.#options = options;
    this.#name = options.name ?? `model ${name}`;
    this.#compensates = ctx.abortSignal.aborted;
    internalsOf(ctx).useTicks(); // The AI SDK's streams close in ticks, and tools may be called from them.
  }

  async doGenerate({ abortSignal, ...options }: LanguageModelV4CallOptions): Promise<LanguageModelV4GenerateResult> {
    return resultOf(await this.#call(options, abortSignal), abortSignal);
  }

  async doStream(options: LanguageModelV4CallOptions): Promise<LanguageModelV4StreamResult> {
    try {
      return { stream: streamOf(partsOf(await this.doGenerate(options))) };
    } catch (error) {
      return { stream: failedWith(error) };
    }
  }

  async #call(options: CallOptions, abortSignal: AbortSignal | undefined): Promise<Settled> {
    this.#refuse(abortSignal);
    const ctx = this.#ctx;
    const { budgets = [], retry = MODEL_RETRY } = this.#options;
    const lease = budgets.length === 0 ? undefined : await leaseCall(ctx, { models: this.#models, options, budgets });
    try {
      this.#refuse(abortSignal); // Budgets may have made it wait.
      this.#warn(lease?.softPassed);
      const settled = await ctx.step(this.#name, (info) => this.#ask(info, options, abortSignal, lease), { retry });
      if (lease !== undefined && "answer" in settled) await this.#settle(lease, usageOf(settled.answer, options));
      return settled;
    } finally {
      lease?.release(); // Where it was settled this does nothing.
    }
  }

  #refuse(abortSignal: AbortSignal | undefined): void {
    if (!this.#compensates && this.#ctx.abortSignal.aborted) throw new CancelledError(); // D5
    abortSignal?.throwIfAborted();
  }

  async #settle(lease: BudgetLease, { inputTokens, outputTokens, usd }: Usage): Promise<void> {
    const { softPassed } = await lease.settle({ tokens: inputTokens + outputTokens, usd });
    this.#warn(softPassed);
  }

  #warn(budgets: readonly string[] = []): void {
    for (const budget of budgets) this.#ctx.log.warn(`budget "${budget}" has passed its soft threshold`, { budget });
  }

  // Inside the step
  // ---------------

  async #ask(
    info: StepInfo,
    options: CallOptions,
    abortSignal: AbortSignal | undefined,
    lease: BudgetLease | undefined,
  ): Promise<Settled> {
    const { stream, key = this.#ctx.runId, lane = "interactive", timeouts } = this.#options;
    const ask: ModelAsk = {
      models: this.#models,
      options: lease === undefined ? options : { ...options, maxOutputTokens: lease.maxOutputTokens },
      key,
      lane,
      ...(timeouts === undefined ? {} : { timeouts }),
      ...(stream === undefined ? {} : { live: { call: info.idempotencyKey, stream, showsParts: true } }),
    };
    const signals = abortSignal === undefined ? {} : { abort: abortSignal };
    try {
      const answer = await askModel(this.#ctx, ask, info, signals);
      return { answer, id: answer.responseId ?? info.idempotencyKey };
    } catch (error) {
      if (abortSignal?.aborted !== true || info.signal.aborted) throw error;
      const { reason } = abortSignal as { readonly reason: unknown }; // D4
      if (reason instanceof Error) return { aborted: { name: reason.name, message: reason.message } };
      return {
        aborted: { name: "AbortError", message: typeof reason === "string" ? reason : "The call was aborted." },
      };
    }
  }
}

/**
 * D6: of a call that is rejected `streamText` makes a part that one may read, and its `text` is then the one before: a run
 * that failed or was cancelled would end well. A stream that breaks off is thrown at whoever reads any of its results.
 */
function failedWith(error: unknown): ReadableStream<never> {
  return new ReadableStream({ start: (controller) => controller.error(error) });
}

/** As a provider would have answered. Id and time are the recorded ones: what the AI SDK makes up differs between replays. */
function resultOf(settled: Settled, abortSignal: AbortSignal | undefined): LanguageModelV4GenerateResult {
  if ("aborted" in settled) {
    if (abortSignal?.aborted === true) throw abortSignal.reason;
    throw new DOMException(settled.aborted.message, settled.aborted.name);
  }
  const { content, finishReason, usage, warnings, providerMetadata, modelId, attempts } = settled.answer;
  const last = attempts.at(-1);
  return {
    content,
    finishReason,
    usage,
    warnings,
    ...(providerMetadata === undefined ? {} : { providerMetadata }),
    response: {
      id: settled.id,
      modelId,
      ...(last === undefined ? {} : { timestamp: new Date(last.startedAt + last.durationMs) }),
    },
  };
}
