// Asking a model where its gateway is: in this process. `ask-model.isolate.ts` stands for this file inside an isolate.

import type { TokenPrice } from "../budget/lease.ts";
import { internalsOf, type Context, type SdkPorts, type StepInfo } from "@perdure/sdk";
import { withAttachments } from "../durable/attachments.ts";
import { dearestPrice } from "./dearest-price.ts";
import { LiveParts } from "./live-parts.ts";
import type { AskSignals, ModelAsk } from "./model-ask.ts";
import { modelsAt } from "./of-context.ts";
import type { ModelRef } from "./resolver.ts";
import type { ModelAnswer } from "./types.ts";

/** Within a step. @throws as `ModelGateway.call` does. */
export function askModel(ctx: Context, ask: ModelAsk, info: StepInfo, signals: AskSignals): Promise<ModelAnswer> {
  return askAt(internalsOf(ctx).ports, ask, info, signals);
}

/** Null where one of them has no known price. */
export function priceOf(ctx: Context, models: readonly ModelRef[]): Promise<TokenPrice | null> {
  return Promise.resolve(dearestPrice(models, internalsOf(ctx).ports.now()));
}

/** Code that has run once before a run begins, where that is worth something: runs in Node share what they warm up. */
export function warmUp(_code: () => void): void {}

/** Any model will do here. */
export function checkModels(_models: readonly ModelRef[], _who: string): void {}

export async function askAt(
  ports: SdkPorts,
  { models: refs, options, key, lane, timeouts, live: place }: ModelAsk,
  info: StepInfo,
  { interrupt, abort }: AskSignals,
): Promise<ModelAnswer> {
  const { gateway, resolve } = modelsAt(ports);
  const models = withAttachments(await Promise.all(refs.map(resolve)), options.prompt);
  const live = place === undefined ? undefined : new LiveParts(place, info);
  return await gateway.call({
    models,
    options,
    key,
    lane,
    idempotencyKey: info.idempotencyKey,
    signal: abort === undefined ? info.signal : AbortSignal.any([info.signal, abort]),
    ...(interrupt === undefined ? {} : { interrupt }),
    ...(timeouts === undefined ? {} : { timeouts }),
    ...(live === undefined
      ? {}
      : {
          onPart: (part, attempt) => live.part(part, attempt),
          onAttemptEnd: (attempt, outcome) => live.end(attempt, outcome),
        }),
  });
}
