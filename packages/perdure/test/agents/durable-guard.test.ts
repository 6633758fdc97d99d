// The AI SDK under the development guard: it knows tools for code of the handler, wherever the SDK calls them from.

import { durable } from "@perdure/agents";
import { createMemoryStorage, openMemoryStore } from "@perdure/engine";
import { Catalog, createInProcessExecutor, EffectGuard, installWatches, Runtime } from "@perdure/host";
import { createRegistry, service, type Context } from "@perdure/sdk";
import { isStepCount, streamText, tool } from "ai";
import { scriptedModel, type Script } from "perdure/testing";
import { expect, test } from "vitest";
import { z } from "zod";

const script: Script = ({ messages }) =>
  messages.at(-1)?.role === "user" ? { text: "I look.", toolCalls: [{ name: "look", input: {} }] } : "It is there.";

test("tools of a streamed call may use ctx, and nothing that the AI SDK does itself is taken for the user's", async () => {
  const noticed: string[] = [];
  const guard = new EffectGuard({ mode: "throw", report: ({ what }) => void noticed.push(what) });
  const uninstall = installWatches(guard);
  const asker = service("asker", {
    ask: async (ctx: Context) => {
      const look = tool({ inputSchema: z.object({}), execute: () => ctx.step("look", () => "here") });
      const model = durable(ctx, scriptedModel(script));
      const { textStream } = streamText({ model, prompt: "Where?", tools: { look }, stopWhen: isStepCount(3) });
      let text = "";
      for await (const delta of textStream) text += await ctx.step("hear", () => delta);
      return text;
    },
  });
  const registry = createRegistry([asker]);
  const runtime = new Runtime({
    store: openMemoryStore(createMemoryStorage()),
    executor: createInProcessExecutor(registry, { log: () => undefined, guard }),
    catalog: new Catalog(registry, { deployment: "test" }),
  });
  try {
    await runtime.start();
    const { result } = await runtime.call({ target: { service: "asker", handler: "ask" }, input: null });
    expect(result).toEqual({ kind: "value", value: '"I look.It is there."' });
    expect(noticed).toEqual([]);
  } finally {
    await runtime.close(0);
    uninstall();
  }
});
