// A gateway on a fake clock, and calls to it with everything filled in.

import type { LanguageModelV4, LanguageModelV4Prompt } from "@ai-sdk/provider";
import { type GatewayOptions, ModelGateway } from "../gateway.ts";
import type { Script } from "../script.ts";
import { type ScriptedModel, scriptedModel, type ScriptedModelOptions } from "../scripted-model.ts";
import type { ModelRequest } from "../types.ts";
import { FakeClock } from "./fake-clock.ts";

const PROMPT: LanguageModelV4Prompt = [{ role: "user", content: [{ type: "text", text: "What is the answer?" }] }];

export class CallWorld {
  readonly clock: FakeClock = new FakeClock();
  readonly gateway: ModelGateway;
  #calls = 0;

  constructor(options: Omit<GatewayOptions, "ports"> = {}) {
    this.gateway = new ModelGateway({ ...options, ports: this.clock });
  }

  model(script: Script, options: ScriptedModelOptions = {}): ScriptedModel {
    return scriptedModel(script, { delay: this.clock.delay, ...options });
  }

  request(models: LanguageModelV4 | readonly LanguageModelV4[], rest: Partial<ModelRequest> = {}): ModelRequest {
    this.#calls += 1;
    return {
      models: "doStream" in models ? [models] : models,
      options: { prompt: PROMPT },
      key: "session",
      lane: "interactive",
      idempotencyKey: `call-${this.#calls}`,
      signal: new AbortController().signal,
      ...rest,
    };
  }

  /** Asks, and lets the clock jump until there is an answer. */
  ask(
    models: LanguageModelV4 | readonly LanguageModelV4[],
    rest: Partial<ModelRequest> = {},
  ): ReturnType<ModelGateway["call"]> {
    return this.clock.until(this.gateway.call(this.request(models, rest)));
  }
}
