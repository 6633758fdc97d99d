// Models as isolates ask for them: functions of the host, over the gateway that handlers in Node share.

import type { TokenPrice } from "../budget/lease.ts";
import { HostFunctionMissingError } from "@perdure/protocol";
import type { SdkPorts, StepInfo } from "@perdure/sdk";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { withAddresses } from "../durable/attachments.ts";
import { askAt } from "./ask-model.ts";
import { dearestPrice } from "./dearest-price.ts";
import { ASK, PRICE, type AskSignals, type WireAsk, type WireModel } from "./model-ask.ts";
import type { ModelRef } from "./resolver.ts";
import type { ModelAnswer } from "./types.ts";

export type HostFunctions = ReadonlyMap<string, (...args: readonly never[]) => unknown>;

/**
 * @param ports of the executor whose handlers run in Node: its models are asked.
 * @param exported what "use host" modules export, by `module#export`.
 */
export function hostModels(ports: SdkPorts, exported: ReadonlyMap<string, unknown>): HostFunctions {
  const modelOf = (model: WireModel): ModelRef => (typeof model === "string" ? model : known(model.exported, exported));
  return new Map<string, (...args: readonly never[]) => unknown>([
    [
      ASK,
      (ask: WireAsk, info: StepInfo, signals: AskSignals): Promise<ModelAnswer> =>
        askAt(ports, { ...ask, models: ask.models.map(modelOf), options: withAddresses(ask.options) }, info, signals),
    ],
    [PRICE, (names: readonly string[]): TokenPrice | null => dearestPrice(names, ports.now())],
  ]);
}

function known(name: string, exported: ReadonlyMap<string, unknown>): LanguageModelV4 {
  const model = exported.get(name);
  if (model !== undefined) return model as LanguageModelV4;
  const [module, key] = name.split("#");
  throw new HostFunctionMissingError(
    `a run asks the model "${key}" of ${module}, which this deployment does not have. Deploy a module that exports it and resume the run.`,
  );
}
