// The AI SDK's providers against a scripted one, through a gateway with real time.

import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { type LanguageModelV4, UnsupportedFunctionalityError } from "@ai-sdk/provider";
import { type GatewayOptions, type ModelAnswer, ModelGateway, type ModelRequest } from "@perdure/agents";
import { type Script, startScriptedProvider, type ScriptedProvider } from "perdure/testing";

export const APIS = ["chat", "responses", "messages"] as const;
export type Api = (typeof APIS)[number];

export class ProviderWorld {
  readonly provider: ScriptedProvider;
  readonly gateway: ModelGateway;
  #calls = 0;

  constructor(provider: ScriptedProvider, options: Omit<GatewayOptions, "ports"> = {}) {
    this.provider = provider;
    this.gateway = new ModelGateway({ retry: { retriesMax: 0 }, ...options, ports: realTime });
  }

  model(api: Api): LanguageModelV4 {
    const { openaiBaseUrl, anthropicBaseUrl } = this.provider;
    switch (api) {
      case "chat":
        return createOpenAI({ baseURL: openaiBaseUrl, apiKey: "sk-test" }).chat("gpt-4o-mini");
      case "responses":
        return createOpenAI({ baseURL: openaiBaseUrl, apiKey: "sk-test" })("gpt-5");
      case "messages":
        return createAnthropic({ baseURL: anthropicBaseUrl, apiKey: "sk-test" })("claude-sonnet-4-5");
    }
  }

  ask(model: LanguageModelV4, rest: Partial<ModelRequest> = {}): Promise<ModelAnswer> {
    this.#calls += 1;
    return this.gateway.call({
      models: [model],
      options: {
        prompt: [
          { role: "system", content: "Be brief." },
          { role: "user", content: [{ type: "text", text: "What is the capital of France?" }] },
        ],
        tools: [{ type: "function", name: "get_weather", inputSchema: { type: "object", properties: {} } }],
      },
      key: "session",
      lane: "interactive",
      idempotencyKey: `call-${this.#calls}`,
      signal: new AbortController().signal,
      ...rest,
    });
  }
}

const realTime = {
  now: Date.now,
  random: Math.random,
  delay: (ms: number, callback: () => void) => {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

/** Runs `body` with a provider that answers by `script`, and closes it. */
export async function withProvider(
  script: Script,
  body: (world: ProviderWorld) => Promise<void>,
  options?: Omit<GatewayOptions, "ports">,
): Promise<void> {
  const provider = await startScriptedProvider({ script });
  try {
    await body(new ProviderWorld(provider, options));
  } finally {
    await provider.close();
  }
}

/** The same model, as one that cannot stream. */
export function unstreamed(model: LanguageModelV4): LanguageModelV4 {
  const { specificationVersion, provider, modelId, supportedUrls } = model;
  return {
    specificationVersion,
    provider,
    modelId,
    supportedUrls,
    doGenerate: (options) => model.doGenerate(options),
    doStream: () => Promise.reject(new UnsupportedFunctionalityError({ functionality: "streaming" })),
  };
}

export async function failureOf(call: Promise<unknown>): Promise<unknown> {
  const answered = Symbol("answered");
  const outcome = await call.then(
    () => answered,
    (error: unknown) => error,
  );
  if (outcome === answered) throw new Error("the call was answered");
  return outcome;
}
