import type { LanguageModelV4Usage } from "@ai-sdk/provider";
import { describe, expect, it } from "vitest";
import { costOf, providerName } from "./prices.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");

function usage(total?: number, output?: number, read?: number, written?: number): LanguageModelV4Usage {
  return {
    inputTokens: { total, noCache: undefined, cacheRead: read, cacheWrite: written },
    outputTokens: { total: output, text: undefined, reasoning: undefined },
  };
}

function cost(provider: string, modelId: string, used: LanguageModelV4Usage, answeredBy?: string) {
  return costOf({ provider, modelId, answeredBy, usage: used, now: NOW });
}

describe("costs", () => {
  it("are those of the registry, with cached input at its own rates", () => {
    expect(cost("openai.responses", "gpt-5", usage(1_000_000, 100_000))).toEqual({ usd: 1.25 + 1 });
    const { usd } = cost("openai.responses", "gpt-5", usage(1_000_000, 100_000, 800_000));
    expect(usd).toBeCloseTo(0.2 * 1.25 + 0.8 * 0.125 + 1, 10);
    const written = cost("anthropic.messages", "claude-sonnet-4-5", usage(100_000, 1_000, 50_000, 40_000));
    expect(written.usd).toBeCloseTo(0.01 * 3 + 0.05 * 0.3 + 0.04 * 3.75 + 0.001 * 15, 10);
  });

  it("are found by the version that answered, where the name asked for is an alias", () => {
    const used = usage(1_000_000, 0);
    expect(cost("openai.chat", "my-deployment", used, "gpt-5-2025-08-07")).toEqual({ usd: 1.25 });
    expect(cost("openai.chat", "my-deployment", used).usd).toBeNull();
  });

  it("are unknown, with the reason, and never 0, where anything is missing", () => {
    expect(cost("openai.chat", "gpt-5", usage())).toEqual({
      usd: null,
      reason: "the provider did not report what was used",
    });
    expect(cost("openai.chat", "no-such-model", usage(1, 1))).toEqual({
      usd: null,
      reason: 'no price of "openai/no-such-model" is known',
    });
    expect(cost("my-openai.chat", "gpt-5", usage(1, 1))).toEqual({
      usd: null,
      reason: 'no prices of the provider "my-openai" are known',
    });
    expect(cost("openai.chat", "gpt-5", usage(10, 1, 40))).toMatchObject({
      usd: null,
      reason: expect.stringContaining("does not add up"),
    });
  });

  it("are the caller's own where there is one", () => {
    const own = { "scripted/m": { input: 2, output: 10, cacheRead: 0.5, cacheWrite: 4 } };
    const charge = { provider: "scripted", modelId: "m", answeredBy: undefined, now: NOW };
    const all = costOf({ ...charge, usage: usage(1_000_000, 100_000, 400_000, 100_000) }, own);
    expect(all.usd).toBeCloseTo(0.5 * 2 + 0.4 * 0.5 + 0.1 * 4 + 0.1 * 10, 10);
    expect(
      costOf({ ...charge, usage: usage(1_000_000, 0, 500_000) }, { "scripted/m": { input: 2, output: 10 } }),
    ).toEqual({
      usd: 2,
    });
  });

  it("go by the provider's name, whatever its kind of model", () => {
    expect(["openai.responses", "google.vertex.chat", "mistral"].map(providerName)).toEqual([
      "openai",
      "google",
      "mistral",
    ]);
  });
});
