// Asking a model from inside an isolate: the host does, see `host-models.ts`. Stands there for `ask-model.ts`.

import type { TokenPrice } from "../budget/lease.ts";
import { DefinitionError } from "@perdure/protocol";
import { hostReference, internalsOf, type Context, type SdkPorts } from "@perdure/sdk";
import type * as here from "./ask-model.ts";
import { ASK, PRICE, type WireAsk, type WireModel } from "./model-ask.ts";
import { modelName, type ModelRef } from "./resolver.ts";
import type { ModelAnswer } from "./types.ts";

export const askModel: typeof here.askModel = async (ctx, ask, info, signals) => {
  const wire: WireAsk = { ...ask, models: ask.models.map(wired) };
  return (await hostOf(ctx)(ASK, [wire, info, signals])) as ModelAnswer;
};

/** Of the models that a run has asked for: its heap is its own, and what a step gave stays the same. */
const PRICES = new Map<string, Promise<TokenPrice | null>>();

/** What is known of prices is known in Node; a run asks once. */
export const priceOf: typeof here.priceOf = (ctx, models) => {
  const names = models.map(modelName);
  const key = names.join(" ");
  let price = PRICES.get(key);
  if (price === undefined) {
    price = ctx.step("prices", () => hostOf(ctx)(PRICE, [names]) as Promise<TokenPrice | null>);
    PRICES.set(key, price);
    price.catch(() => PRICES.delete(key)); // It was cancelled.
  }
  return price;
};

/** All runs of a bundle begin as copies of one heap: what is made in it while it is loaded is in no image. */
export const warmUp: typeof here.warmUp = (code) => code();

export const checkModels: typeof here.checkModels = (models, who) => {
  const own = models.find((model) => typeof model !== "string" && hostReference(model) === undefined);
  if (own !== undefined)
    throw new DefinitionError(
      `${who}: the model ${modelName(own)} was made inside the isolate, and models are asked by the host, which has the keys. ` +
        'Write its name ("openai/gpt-5"), or export the model from a "use host" module',
    );
};

function wired(model: ModelRef): WireModel {
  const exported = hostReference(model);
  return exported === undefined ? modelName(model) : { exported };
}

function hostOf(ctx: Context): NonNullable<SdkPorts["callHost"]> {
  const { callHost } = internalsOf(ctx).ports;
  if (callHost === undefined) throw new Error("inside an isolate there is a host to ask");
  return callHost;
}
