// The scripted provider: what it writes is what the AI SDK reads, and it goes wrong as its script says.

import { createOpenAI } from "@ai-sdk/openai";
import { createModelResolver, type ModelAnswer } from "@perdure/agents";
import { type ScriptedReply, scriptedModel, startScriptedProvider } from "perdure/testing";
import { describe, expect, it, vi } from "vitest";
import { type Api, APIS, failureOf, ProviderWorld, unstreamed, withProvider } from "./world.ts";

const REPLY: ScriptedReply = {
  reasoning: "Let me think about that.",
  text: "It is 42, I believe.",
  toolCalls: [
    { name: "get_weather", input: { city: "Paris", note: 'ünï "quoted"' }, id: "call_a" },
    { name: "get_weather", input: { city: "Rome" }, id: "call_b" },
  ],
  usage: { inputTokens: 100, cachedInputTokens: 40, outputTokens: 20, reasoningTokens: 5 },
};

/** What of an answer does not depend on who gave it. */
function essence({ content, finishReason, usage, partial }: ModelAnswer): object {
  const plain = content.map((part) => ({ ...part, providerMetadata: undefined }));
  const { inputTokens, outputTokens } = usage;
  const used = [inputTokens.total, inputTokens.cacheRead, outputTokens.total];
  return { content: plain, finish: finishReason.unified, used, partial };
}

describe("a scripted answer", () => {
  it.each(APIS)("of %s is read as the model in memory answers it, streamed or not", async (api) => {
    // Chat completions do not tell what was reasoned.
    const reply = api === "chat" ? { ...REPLY, reasoning: "" } : REPLY;
    await withProvider(
      () => reply,
      async (world) => {
        const inMemory = essence(await world.ask(scriptedModel(() => reply)));
        expect(essence(await world.ask(world.model(api)))).toEqual(inMemory);
        expect(essence(await world.ask(unstreamed(world.model(api))))).toEqual(inMemory);
        expect(world.provider.requests.map(({ streaming }) => streaming)).toEqual([true, false]);
      },
    );
  });

  it.each(
    APIS.flatMap((api) => (["stop", "length", "content-filter"] as const).map((finish) => [api, finish] as const)),
  )("of %s may end by %s", async (api, finish) => {
    await withProvider(
      () => ({ text: "so far", finish }),
      async (world) => {
        for (const model of [world.model(api), unstreamed(world.model(api))])
          expect((await world.ask(model)).finishReason.unified).toBe(finish);
      },
    );
  });

  it.each(APIS)("of %s sees the request, and how often it came", async (api) => {
    const seen: number[] = [];
    await withProvider(
      (_, times) => {
        seen.push(times);
        return "ok";
      },
      async (world) => {
        const options = {
          prompt: [
            { role: "system" as const, content: "Be brief." },
            { role: "user" as const, content: [{ type: "text" as const, text: "Weather?" }] },
            {
              role: "assistant" as const,
              content: [{ type: "tool-call" as const, toolCallId: "c1", toolName: "get_weather", input: {} }],
            },
            {
              role: "tool" as const,
              content: [
                {
                  type: "tool-result" as const,
                  toolCallId: "c1",
                  toolName: "get_weather",
                  output: { type: "text" as const, value: "sunny" },
                },
              ],
            },
          ],
          tools: [{ type: "function" as const, name: "get_weather", inputSchema: { type: "object" as const } }],
          maxOutputTokens: 321,
        };
        for (const idempotencyKey of ["a", "a", "b"]) await world.ask(world.model(api), { options, idempotencyKey });
        const request = world.provider.requests[0];
        expect(request).toMatchObject({ streaming: true, idempotencyKey: "a", tools: ["get_weather"] });
        expect(request?.maxOutputTokens).toBe(321);
        const told = request?.messages.filter(({ text }) => text !== "");
        expect(told?.map(({ role }) => role)).toEqual(["system", "user", "tool"]);
        expect(told?.map(({ text }) => text)).toEqual(["Be brief.", "Weather?", "sunny"]);
        expect(seen).toEqual([1, 2, 1]);
      },
    );
  });
});

describe("a scripted error", () => {
  const KINDS = [
    ["rate-limited", { kind: "rate-limited", retryAfter: 90_000 }],
    ["quota", { code: "P0072" }],
    ["server", { kind: "server" }],
    ["overloaded", { kind: "overloaded" }],
    ["context-length", { code: "P0071" }],
    ["invalid-key", { code: "P0072" }],
    ["bad-request", { code: "P0073" }],
  ] as const;

  it.each(APIS.flatMap((api) => KINDS.map(([error, expected]) => [api, error, expected] as const)))(
    "of %s: %s",
    async (api, error, expected) => {
      await withProvider(
        () => ({ error, retryAfterMs: 90_000 }),
        async (world) => {
          for (const model of [
            world.model(api),
            unstreamed(world.model(api)),
            scriptedModel(() => ({ error, retryAfterMs: 90_000 })),
          ])
            expect(await failureOf(world.ask(model))).toMatchObject(expected);
        },
      );
    },
  );

  it.each(APIS)("of %s: a filter, which is an answer", async (api) => {
    await withProvider(
      () => ({ error: "content-filter" }),
      async (world) => {
        const { finishReason, content } = await world.ask(world.model(api));
        expect([finishReason.unified, content]).toEqual(["content-filter", []]);
      },
    );
  });
});

describe("a fault", () => {
  const text = "one two three four";
  const FAULTS = [
    ["cut", "cut-stream"],
    ["server", "server"],
    ["overloaded", "overloaded"],
  ] as const;

  it.each(APIS.flatMap((api) => FAULTS.map(([fault, kind]) => [api, fault, kind] as const)))(
    "of %s in the middle: %s",
    async (api, kind, expected) => {
      await withProvider(
        () => ({ text, fault: { kind, afterTokens: 2 } }),
        async (world) => {
          let partialText: string | undefined;
          const onAttemptEnd = (_: unknown, outcome: { readonly kind: string; readonly partialText?: string }) => {
            partialText = outcome.partialText;
          };
          expect(await failureOf(world.ask(world.model(api), { onAttemptEnd }))).toMatchObject({ kind: expected });
          expect(partialText).toBe("one two");
          const whole = await failureOf(world.ask(unstreamed(world.model(api))));
          expect(whole).toMatchObject({ kind: kind === "cut" ? "network" : expected });
          expect(world.provider.bill.lines.map(({ completed }) => completed)).toEqual([0, 0]);
        },
      );
    },
  );

  it.each(APIS)("of %s: silence before the first token, and in the middle", async (api) => {
    const slow = { text, firstTokenMs: 3_600_000 };
    const stalled = { text, fault: { kind: "stall", afterTokens: 2 } } as const;
    await withProvider(
      (_, seen) => (seen === 1 ? slow : stalled),
      async (world) => {
        const ask = (timeouts: object) => failureOf(world.ask(world.model(api), { timeouts, idempotencyKey: "same" }));
        expect(await ask({ firstTokenMs: 100 })).toMatchObject({ kind: "timeout-first-token" });
        expect(await ask({ betweenTokensMs: 200 })).toMatchObject({ kind: "timeout-between-tokens" });
      },
    );
  });

  it("may be the recording's, too", async () => {
    const events = [
      { choices: [{ index: 0, delta: { content: "a" } }] },
      { choices: [{ index: 0, delta: { content: "b" } }] },
    ];
    const body = events.map((data) => `data: ${JSON.stringify(data)}\n\n`).join("");
    const recording = `HTTP/1.1 200 OK\ncontent-type: text/event-stream\n\n${body}`;
    await withProvider(
      () => ({ recording, fault: { kind: "overloaded", afterTokens: 1 } }),
      async (world) => {
        expect(await failureOf(world.ask(world.model("chat")))).toMatchObject({ kind: "overloaded" });
      },
    );
  });
});

describe("the bill", () => {
  it("counts what was delivered in full, by key", async () => {
    await withProvider(
      (_, seen) => (seen === 1 ? { text: "a b c", fault: { kind: "cut", afterTokens: 1 } } : { text: "a b c" }),
      async (world) => {
        await world.ask(world.model("messages"), { idempotencyKey: "k" });
        const { bill } = world.provider;
        expect(bill.line("k")).toMatchObject({ requests: 2, completed: 1, outputTokens: 3 });
        expect(bill.paidTwice).toEqual([]);
        await world.ask(world.model("chat"), { idempotencyKey: "k" });
        expect([bill.line("k")?.completed, bill.paidTwice]).toEqual([2, ["k"]]);
      },
      { retry: { retriesMax: 1, initialMs: 1 } },
    );
  });

  it("does not count an answer whose reader left", async () => {
    await withProvider(
      () => ({ text: "a b c d", fault: { kind: "stall", afterTokens: 2 } }),
      async (world) => {
        const controller = new AbortController();
        const answer = await world.ask(world.model("responses"), {
          interrupt: controller.signal,
          onPart: (part) => part.type === "text-delta" && part.delta === " b" && controller.abort(),
        });
        expect(answer).toMatchObject({ partial: true, content: [{ type: "text", text: "a b" }] });
        expect(world.provider.bill.line("call-1")).toMatchObject({ requests: 1, completed: 0 });
      },
    );
  });
});

describe("a large answer", () => {
  it("whose reader leaves in the middle was not delivered", async () => {
    const text = "x".repeat(20_000_000); // More than the network holds.
    const provider = await startScriptedProvider({ script: () => ({ text }) });
    const controller = new AbortController();
    const response = await fetch(`${provider.openaiBaseUrl}/chat/completions`, {
      method: "POST",
      headers: { "idempotency-key": "k" },
      body: JSON.stringify({ model: "m", messages: [] }),
      signal: controller.signal,
    });
    expect(response.status).toBe(200);
    controller.abort();
    await expect(response.text()).rejects.toThrow();
    await provider.close();
    expect(provider.bill.line("k")).toMatchObject({ requests: 1, completed: 0 });
  });
});

describe("the server", () => {
  it("tells of a script that throws, at the latest when it is closed", async () => {
    const provider = await startScriptedProvider({
      script: () => {
        throw new Error("unexpected question");
      },
    });
    const world = new ProviderWorld(provider);
    expect(String(await failureOf(world.ask(world.model("chat"))))).toContain("the script threw: unexpected question");
    await expect(provider.close()).rejects.toThrow(AggregateError);
  });

  it("says what it speaks where something else is asked", async () => {
    await withProvider(
      () => "x",
      async (world) => {
        const response = await fetch(`${world.provider.url}/v1/embeddings`, { method: "POST" });
        expect([response.status, await response.text()]).toEqual([404, expect.stringContaining("/chat/completions")]);
      },
    );
  });
});

describe("an interrupted answer", () => {
  it.each<Api>(["chat", "responses", "messages"])(
    "can be sent to %s again, and refers to nothing there",
    async (api) => {
      await withProvider(
        (_, seen) =>
          seen === 1 ? { ...REPLY, text: "half a thought", fault: { kind: "stall", afterTokens: 7 } } : "on",
        async (world) => {
          const controller = new AbortController();
          const answer = await world.ask(world.model(api), {
            idempotencyKey: "k",
            interrupt: controller.signal,
            onPart: (part) => part.type === "text-delta" && part.delta !== "" && controller.abort(),
          });
          const content = answer.content.flatMap((part) => {
            if (part.type !== "text" && part.type !== "reasoning") return [];
            const { providerMetadata, ...rest } = part;
            return [providerMetadata === undefined ? rest : { ...rest, providerOptions: providerMetadata }];
          });
          const user = { role: "user" as const, content: [{ type: "text" as const, text: "Go on." }] };
          const prompt = [user, { role: "assistant" as const, content }, user];
          await world.ask(world.model(api), { idempotencyKey: "k", options: { prompt } });
          const body = JSON.stringify(world.provider.requests.at(-1)?.body);
          expect(body).toContain("half");
          expect(body).not.toContain("item_reference");
        },
      );
    },
  );
});

describe("a provider", () => {
  it("is found by the name of its model", async () => {
    await withProvider(
      () => "found",
      async (world) => {
        const resolve = createModelResolver(async () =>
          createOpenAI({ baseURL: world.provider.openaiBaseUrl, apiKey: "sk-test" }),
        );
        expect((await world.ask(await resolve("openai/gpt-5"))).content).toMatchObject([{ text: "found" }]);
        expect(world.provider.requests[0]?.modelId).toBe("gpt-5");
      },
    );
  });

  it("without a key ends in an error that names the variable to set", async () => {
    vi.stubEnv("OPENAI_API_KEY", undefined);
    try {
      await withProvider(
        () => "x",
        async (world) => {
          const { openaiBaseUrl: baseURL } = world.provider;
          const error = await failureOf(world.ask(createOpenAI({ baseURL }).chat("m")));
          expect(error).toMatchObject({ code: "P0072" });
          expect(String(error)).toContain("OPENAI_API_KEY");
        },
      );
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it.each(APIS)("that nobody reaches is a matter of the network: %s", async (api) => {
    const provider = await startScriptedProvider({ script: () => "x" });
    await provider.close();
    const world = new ProviderWorld(provider);
    expect(await failureOf(world.ask(world.model(api)))).toMatchObject({ kind: "network", retryable: true });
  });
});
