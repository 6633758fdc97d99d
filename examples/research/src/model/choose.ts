// Which model answers: a provider's where the environment has its key, else the extractive one. Around it, what this example
// watches: injected failures come from where a provider's would, and each answer that was paid for is noted in the ledger.

import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import type { LanguageModelV4, LanguageModelV4StreamPart, LanguageModelV4Usage } from "@ai-sdk/provider";
import { wrapLanguageModel } from "ai";

import type { Injection } from "../inject.ts";
import { writeLine } from "../ledger.ts";
import type { ModelSettings, Settings } from "../settings.ts";
import { extractiveModel } from "./extractive.ts";

export interface ChosenModel {
  readonly model: LanguageModelV4;
  readonly label: string;
}

export function chooseModel(settings: Pick<Settings, "model" | "ledger">, injection: Injection): ChosenModel {
  const { model, label } = configured(settings.model);
  return { model: watched(model, settings.ledger, injection), label };
}

function configured(settings: ModelSettings): ChosenModel {
  switch (settings.provider) {
    case "extractive":
      return { model: extractiveModel(settings), label: "the extractive model: no language model is configured" };
    case "openai": {
      const { name, apiKey, baseURL } = settings;
      if (baseURL === undefined) return { model: createOpenAI({ apiKey })(name), label: `openai/${name}` };
      // Elsewhere "compatible" rarely goes beyond chat completions.
      return { model: createOpenAI({ apiKey, baseURL }).chat(name), label: `${name} at ${new URL(baseURL).host}` };
    }
    case "anthropic": {
      const { name, apiKey } = settings;
      return { model: createAnthropic({ apiKey })(name), label: `anthropic/${name}` };
    }
  }
}

function watched(model: LanguageModelV4, ledger: string, injection: Injection): LanguageModelV4 {
  const begin = (): void => {
    injection.beforeEffect();
    injection.beforeModelCall();
  };
  const paid = (headers: Headers, usage: LanguageModelV4Usage): void => {
    const idempotencyKey = keyIn(headers);
    const tokens = (usage.inputTokens.total ?? 0) + (usage.outputTokens.total ?? 0);
    const at = new Date().toISOString();
    writeLine(ledger, { at, pid: process.pid, kind: "model", name: model.modelId, idempotencyKey, attempt: 1, tokens });
    injection.afterEffect();
  };
  return wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: "v4",
      async wrapGenerate({ doGenerate, params }) {
        begin();
        const result = await doGenerate();
        paid(params.headers, result.usage);
        return result;
      },
      async wrapStream({ doStream, params }) {
        begin();
        const { stream, ...rest } = await doStream();
        // Noted before the last part is passed on: whatever comes after that, it was paid for.
        const noting = new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
          transform(part, controller) {
            if (part.type === "finish") paid(params.headers, part.usage);
            controller.enqueue(part);
          },
        });
        return { ...rest, stream: stream.pipeThrough(noting) };
      },
    },
  });
}

type Headers = Readonly<Record<string, string | undefined>> | undefined;

function keyIn(headers: Headers): string {
  const found = Object.entries(headers ?? {}).find(([name]) => name.toLowerCase() === "idempotency-key");
  return found?.[1] ?? "";
}
