// Which model answers: an OpenAI-compatible endpoint where the environment has its key, else the extractive one.

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { wrapLanguageModel, type LanguageModel } from "ai";
import type { LanguageModelV4 } from "@ai-sdk/provider";

import type { Injection } from "../inject.ts";
import type { ModelSettings } from "../settings.ts";
import { extractiveModel } from "./extractive.ts";

export interface ChosenModel {
  readonly model: LanguageModel;
  /** Said in every report. */
  readonly label: string;
}

export function chooseModel(settings: ModelSettings, injection: Injection): ChosenModel {
  const { model, label } = configuredModel(settings);
  const middleware = { specificationVersion: "v4", wrapGenerate } as const;
  return { model: wrapLanguageModel({ model, middleware }), label };

  /** Injected failures come from where a provider's would. */
  async function wrapGenerate<T>({ doGenerate }: { doGenerate: () => PromiseLike<T> }): Promise<T> {
    injection.beforeModelCall();
    return doGenerate();
  }
}

function configuredModel({ apiKey, baseURL, name, paceMs }: ModelSettings): { model: LanguageModelV4; label: string } {
  if (apiKey === undefined) {
    return { model: extractiveModel({ paceMs }), label: "extractive model: no language model configured" };
  }
  // Elsewhere "compatible" rarely includes answers held to a schema; the prompts describe the form as well, so that the
  // AI SDK need not warn at every call.
  const supportsStructuredOutputs = new URL(baseURL).hostname === "api.openai.com";
  if (!supportsStructuredOutputs) globalThis.AI_SDK_LOG_WARNINGS = false;
  const provider = createOpenAICompatible({ name: "openai-compatible", baseURL, apiKey, supportsStructuredOutputs });
  return { model: provider.chatModel(name), label: `${name} at ${new URL(baseURL).host}` };
}
