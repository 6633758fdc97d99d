// models(): providers, limits and prices that the agents of a process share.

import { agent, DefinitionError, models, type AgentAnswer } from "perdure";
import { scriptedModel, TestWorld } from "perdure/testing";
import { describe, expect, test } from "vitest";
import { valueOf } from "../agents/agent-world.ts";

const target = { service: "talker", key: "s1", handler: "send" };

describe("models()", () => {
  const provider = { languageModel: (modelId: string) => scriptedModel(() => "hello", { provider: "own", modelId }) };
  const talker = agent("talker", { model: "own/small" });

  test("names resolve by its providers, and its prices count", async () => {
    const shared = models({
      providers: { own: provider },
      prices: { "own/small": { input: 1_000_000, output: 1_000_000 } },
    });
    const world = await new TestWorld({ services: [talker, shared] }).open();
    const answer = valueOf<AgentAnswer>(await world.finish(await world.submit(target, "hi")));
    expect(answer.text).toBe("hello");
    expect(answer.usage.usd).toBe(answer.usage.inputTokens + answer.usage.outputTokens);
  });

  test("a provider that is none is refused where it is written", () => {
    expect(() => models({ providers: { own: {} as typeof provider } })).toThrow(DefinitionError);
  });

  test("a model whose provider is not installed says what to install", async () => {
    const lost = agent("talker", { model: "anthropi/claude" });
    const world = await new TestWorld({ services: [lost] }).open();
    const run = await world.submit(target, "hi");
    expect(await world.finish(run)).toMatchObject({
      kind: "failure",
      failure: { errorCode: "P0074", message: expect.stringContaining('Did you mean "anthropic/') as string },
    });
  });
});
