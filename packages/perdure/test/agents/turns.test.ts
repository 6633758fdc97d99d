// An agent's turns: model calls, tools, what arrives meanwhile; live, and after a crash at every entry.

import { agent, tool, type AgentAnswer, type TranscriptItem } from "@perdure/agents";
import { crashAtEveryEntry, scriptedModel, TestWorld, type Script, type ScriptedRequest } from "perdure/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";

const target = (name: string, key = "s1") => ({ service: name, key, handler: "send" });

/** Calls `search` once, then answers with what it found. */
const searches: Script = (request: ScriptedRequest) => {
  const results = request.messages.filter(({ role }) => role === "tool");
  if (results.length === 0) return { text: "I will look.", toolCalls: [{ name: "search", input: { query: "tides" } }] };
  return `Found: ${results.at(-1)?.text ?? ""}`;
};

const search = tool({
  description: "Searches.",
  kind: "read",
  inputSchema: z.object({ query: z.string() }),
  execute: ({ query }) => ({ hits: [`about ${query}`] }),
});

async function transcript(world: TestWorld, service: string, key = "s1"): Promise<TranscriptItem[]> {
  const items = await world.stream({ service, key }, "transcript");
  return items.map(({ payload }) => JSON.parse(String(payload)) as TranscriptItem);
}

function answerOf(result: unknown): AgentAnswer {
  const { value } = result as { value: string };
  return JSON.parse(value) as AgentAnswer;
}

describe("a turn", () => {
  test("calls the model, its tools, and the model again, and keeps each item once", async () => {
    const model = scriptedModel(searches);
    const researcher = agent("researcher", { model, instructions: "Be brief.", tools: { search } });
    const world = await new TestWorld({ services: [researcher] }).open();
    const run = await world.submit(target("researcher"), "What about tides?");
    const answer = answerOf(await world.finish(run));
    expect(answer).toMatchObject({ reason: "answered", usage: { calls: 2 } });
    expect(answer.text).toContain("about tides");
    expect((await transcript(world, "researcher")).map(({ type }) => type)).toEqual([
      "message",
      "assistant",
      "tool",
      "assistant",
    ]);
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool"]);
  });

  test("remembers the conversation in the next turn", async () => {
    const model = scriptedModel(({ messages }) => `${messages.length} messages`);
    const talker = agent("talker", { model });
    const world = await new TestWorld({ services: [talker] }).open();
    const first = await world.submit(target("talker"), "one", "1");
    expect(answerOf(await world.finish(first)).text).toBe("1 messages");
    const second = await world.submit(target("talker"), { text: "two" }, "2");
    expect(answerOf(await world.finish(second)).text).toBe("3 messages");
  });

  test("a crash at every entry pays for no settled call twice", async () => {
    let model = scriptedModel(searches);
    const researcher = agent("researcher", {
      model: {
        ...model,
        doStream: (options) => model.doStream(options),
        doGenerate: (options) => model.doGenerate(options),
      },
      tools: { search },
    });
    const report = await crashAtEveryEntry({
      services: [researcher],
      target: target("researcher"),
      input: "What about tides?",
      observe: (world) => transcript(world, "researcher"),
      reset: () => {
        model = scriptedModel(searches);
      },
    });
    expect(report.crashes).toBeGreaterThan(10);
  });
});
