// durable(ctx, model): how calls are made, how they end, and what of them is journaled.

import { budgets, durable, models, type AgentEvent, type DurableOptions, type ModelRef } from "@perdure/agents";
import { CancelledError, object, service, type Context, type ObjectContext, type RunId } from "@perdure/sdk";
import { generateText, isStepCount, streamText, tool } from "ai";
import { crashAtEveryEntry, scriptedModel, TestWorld, type Script } from "perdure/testing";
import { afterEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";

afterEach(() => vi.unstubAllGlobals());

/** streamText writes errors on the console where nobody else wants them. */
const quiet = (): void => undefined;

async function collect(parts: AsyncIterable<unknown>): Promise<readonly unknown[]> {
  const all: unknown[] = [];
  for await (const part of parts) all.push(part);
  return all;
}

const target = { service: "asker", handler: "ask" };

function asker(model: ModelRef | readonly ModelRef[], options?: DurableOptions) {
  return service("asker", {
    ask: async (ctx: Context) => {
      const { text, response } = await generateText({ model: durable(ctx, model, options), prompt: "Well?" });
      return { text, model: response.modelId };
    },
  });
}

async function valueOf<T>(world: TestWorld, run: RunId): Promise<T> {
  const result = await world.finish(run);
  if (result?.kind !== "value") throw new Error(`no value: ${JSON.stringify(result)}`);
  return JSON.parse(String(result.value)) as T;
}

async function stepsOf(world: TestWorld, run: RunId): Promise<readonly string[]> {
  const entries = await world.journal(run);
  return entries.flatMap((entry) =>
    entry.kind === "command" && entry.command.type === "step" ? [entry.command.name] : [],
  );
}

describe("a call", () => {
  test("is one step that is named after the model, and its answer is the journal's", async () => {
    const model = scriptedModel(() => "Very well.");
    const world = await new TestWorld({ services: [asker(model)] }).open();
    const run = await world.submit(target);
    expect(await valueOf(world, run)).toEqual({ text: "Very well.", model: "model" });
    expect(await stepsOf(world, run)).toEqual(["model scripted/model"]);
    expect(model.bill.lines).toMatchObject([{ key: `${run}-1`, requests: 1, completed: 1 }]);
  });

  test("falls back on the next model, and says which one answered", async () => {
    const broken = scriptedModel(() => ({ error: "invalid-key" }), { modelId: "broken" });
    const second = scriptedModel(() => "I am here.", { modelId: "second" });
    const world = await new TestWorld({ services: [asker([broken, second])] }).open();
    expect(await valueOf(world, await world.submit(target))).toEqual({ text: "I am here.", model: "second" });
  });

  test("is tried again by its step until it is answered, under one key", async () => {
    let requests = 0;
    const busy = { error: "rate-limited", retryAfterMs: 60_000 } as const; // Longer than the gateway waits itself.
    const model = scriptedModel(() => ((requests += 1) > 3 ? "At last." : busy));
    const world = await new TestWorld({ services: [asker(model)] }).open();
    const run = await world.submit(target);
    expect(await valueOf(world, run)).toMatchObject({ text: "At last." });
    expect(await stepsOf(world, run)).toHaveLength(1);
    expect(model.bill.lines).toMatchObject([{ key: `${run}-1`, requests: 4, completed: 1 }]);
  });

  test.each(["generate", "stream"])("that is given up is not tried again by the AI SDK (D3: %s)", async (how) => {
    const model = scriptedModel(() => ({ error: "rate-limited", retryAfterMs: 60_000 }));
    const giving = service("asker", {
      ask: async (ctx: Context) => {
        const options = {
          model: durable(ctx, model, { retry: { maxAttempts: 1, onExhausted: "throw" } }),
          prompt: "?",
        };
        const { text } = how === "generate" ? await generateText(options) : streamText({ ...options, onError: quiet });
        return await text;
      },
    });
    const world = await new TestWorld({ services: [giving] }).open();
    const run = await world.submit(target);
    expect(await world.finish(run)).toMatchObject({ kind: "failure", failure: { errorCode: "P0004" } });
    expect(await stepsOf(world, run)).toHaveLength(1);
    expect(model.requests).toHaveLength(1);
  });

  test("that is refused for good ends the run with the model's error, at once", async () => {
    const model = scriptedModel(() => ({ error: "invalid-key" }));
    const world = await new TestWorld({ services: [asker(model)] }).open();
    const result = await world.finish(await world.submit(target));
    expect(result).toMatchObject({ kind: "failure", failure: { errorCode: "P0072" } });
    expect(model.requests).toHaveLength(1);
  });

  test("writes its tokens into a stream while they come, under the step's key", async () => {
    const model = scriptedModel(() => "One two three.");
    const world = await new TestWorld({ services: [asker(model, { stream: "tokens" })] }).open();
    const run = await world.submit(target);
    await valueOf(world, run);
    const events = (await world.stream({ run }, "tokens")).map(
      ({ payload }) => JSON.parse(String(payload)) as AgentEvent,
    );
    const said = events.flatMap((event) =>
      event.type === "part" && event.part.type === "text-delta" ? [event.part.delta] : [],
    );
    expect(said).toEqual(["One", " two", " three."]);
    expect(events[0]).toMatchObject({ type: "call-start", call: `${run}-1`, attempt: "1.1", model: "scripted/model" });
    expect(events.at(-1)).toMatchObject({ type: "call-end", outcome: "settled" });
  });

  test("holds to a budget, and is settled in it", async () => {
    const model = scriptedModel(() => ({ text: "Cheap.", usage: { inputTokens: 10, outputTokens: 5 } }));
    const buyer = service("asker", {
      ask: async (ctx: Context) => {
        await ctx.call(budgets, "team").open({ tokens: 50_000 });
        const { text } = await generateText({ model: durable(ctx, model, { budgets: ["team"] }), prompt: "Well?" });
        const { spent, reserved } = await ctx.call(budgets, "team").status();
        return { text, spent, reserved };
      },
    });
    const world = await new TestWorld({ services: [buyer, budgets] }).open();
    expect(await valueOf(world, await world.submit(target))).toMatchObject({
      text: "Cheap.",
      spent: { tokens: 15 },
      reserved: { tokens: 0 },
    });
    expect(model.requests[0]?.maxOutputTokens).toBeLessThan(50_000);
  });

  test("waits in its lane, where limits make it", async () => {
    const model = scriptedModel(() => "Yes.");
    const crowd = service("asker", {
      ask: async (ctx: Context) => {
        const call = (prompt: string, lane: NonNullable<DurableOptions["lane"]>) =>
          generateText({ model: durable(ctx, model, { lane }), prompt });
        await Promise.all([call("at once", "interactive"), call("later", "batch"), call("soon", "interactive")]);
        return "done";
      },
    });
    const world = await new TestWorld({
      services: [crowd, models({ limits: { scripted: { concurrency: 1 } } })],
    }).open();
    await valueOf(world, await world.submit(target));
    expect(model.requests.map(({ messages }) => messages[0]?.text)).toEqual(["at once", "soon", "later"]);
  });

  test("ends when its time is over", async () => {
    const model = scriptedModel(() => ({ text: "One two.", fault: { kind: "stall", afterTokens: 1 } }));
    const options: DurableOptions = { timeouts: { totalMs: 1_000 }, retry: { maxAttempts: 1, onExhausted: "throw" } };
    const world = await new TestWorld({ services: [asker(model, options)] }).open();
    const result = await world.finish(await world.submit(target));
    const message = expect.stringContaining("it took longer than 1000 ms") as string;
    expect(result).toMatchObject({ failure: { errorCode: "P0004", message } });
  });

  test("without a model is a mistake that is named", async () => {
    const world = await new TestWorld({ services: [asker([])] }).open();
    const result = await world.finish(await world.submit(target));
    expect(result).toMatchObject({
      failure: { errorCode: "P0054", message: expect.stringContaining("durable(ctx, …) has no model") },
    });
  });
});

describe("a streamed call", () => {
  const streaming = (script: Script) =>
    service("asker", {
      ask: async (ctx: Context) => {
        const result = streamText({ model: durable(ctx, scriptedModel(script)), prompt: "Well?", onError: quiet });
        const seen: unknown[] = [];
        for await (const part of result.fullStream) seen.push(part.type === "text-delta" ? part.text : part.type);
        return { seen, text: await result.text };
      },
    });

  test("gives the parts of the answer when it is settled (D2)", async () => {
    const world = await new TestWorld({ services: [streaming(() => ({ reasoning: "Hm.", text: "One two." }))] }).open();
    expect(await valueOf(world, await world.submit(target))).toEqual({
      seen: [
        ...["start", "start-step", "reasoning-start", "reasoning-delta", "reasoning-end"],
        ...["text-start", "One two.", "text-end", "finish-step", "finish"],
      ],
      text: "One two.",
    });
  });

  /** What users wait for. */
  const reads: Readonly<Record<string, (result: ReturnType<typeof streamText>) => PromiseLike<unknown>>> = {
    text: (result) => result.text,
    textStream: (result) => collect(result.textStream),
    fullStream: (result) => collect(result.fullStream),
    steps: (result) => result.steps,
  };

  test.each(Object.keys(reads).flatMap((how) => [1, 2].map((call) => [how, call] as const)))(
    "that fails for good is thrown at who reads %s, also as the %i. of its calls (D6)",
    async (how, call) => {
      const script: Script = ({ messages }) =>
        messages.some(({ role }) => role === "tool") || call === 1
          ? { error: "invalid-key" }
          : { text: "I look.", toolCalls: [{ name: "look", input: {} }] };
      const failing = service("asker", {
        ask: async (ctx: Context) => {
          const look = tool({ inputSchema: z.object({}), execute: () => "nothing" });
          const model = durable(ctx, scriptedModel(script));
          const options = { model, prompt: "?", tools: { look }, stopWhen: isStepCount(3), onError: quiet };
          await reads[how]?.(streamText(options) as unknown as ReturnType<typeof streamText>);
          return "it ended well";
        },
      });
      const world = await new TestWorld({ services: [failing] }).open();
      const result = await world.finish(await world.submit(target));
      expect(result).toMatchObject({ kind: "failure", failure: { errorCode: "P0072" } });
    },
  );
});

describe("a run that is cancelled", () => {
  const script: Script = ({ messages }) =>
    messages.at(-1)?.role === "user" ? { toolCalls: [{ name: "wait", input: {} }] } : "And so on.";
  const wait = (ctx: Context) => tool({ inputSchema: z.object({}), execute: () => ctx.sleep("1h") });

  test.each(["generate", "stream"])("in a tool asks no model to go on, and ends (%s)", async (how) => {
    const model = scriptedModel(script);
    const working = service("asker", {
      ask: async (ctx: Context) => {
        const options = {
          model: durable(ctx, model),
          prompt: "?",
          tools: { wait: wait(ctx) },
          stopWhen: isStepCount(3),
        };
        if (how === "generate") return (await generateText(options)).text;
        return await streamText({ ...options, onError: quiet }).text;
      },
    });
    const world = await new TestWorld({ services: [working] }).open();
    const run = await world.submit(target);
    await world.settle();
    await world.cancel(run);
    expect(await world.finish(run)).toMatchObject({ kind: "failure", failure: { code: 409 } });
    expect(model.requests).toHaveLength(1);
  });

  test("may compensate with a model of its own, at every crash", async () => {
    const report = await crashAtEveryEntry({
      services: [
        service("asker", {
          ask: async (ctx: Context) => {
            try {
              const tools = { wait: wait(ctx) };
              await generateText({
                model: durable(ctx, scriptedModel(script)),
                prompt: "?",
                tools,
                stopWhen: isStepCount(3),
              });
              return "not cancelled";
            } catch (error) {
              if (!(error instanceof CancelledError)) throw error;
              const model = durable(
                ctx,
                scriptedModel(() => "Sorry."),
              );
              return (await generateText({ model, prompt: "Apologise." })).text;
            }
          },
        }),
      ],
      target,
      outside: async (world) => {
        const [run] = await world.runs();
        if (run === undefined || (await world.journal(run.id)).some(({ kind }) => kind === "signal")) return false;
        await world.cancel(run.id);
        return true;
      },
    });
    expect(report.result).toEqual({ kind: "value", value: '"Sorry."' });
  });
});

describe("the caller's own signal", () => {
  test("ends the call, and that it did is journaled: a replay does not wait for it (D4)", async () => {
    let lives = 0;
    const aborting = object("asker", {
      ask: async (ctx: ObjectContext) => {
        lives += 1;
        const controller = new AbortController();
        // Only in its first life: as a timer, which does not fire while a journal is replayed.
        const script: Script = () => {
          controller.abort(new Error("too slow"));
          return "never heard";
        };
        const model = durable(ctx, scriptedModel(script));
        const end = await generateText({ model, prompt: "Well?", abortSignal: controller.signal }).then(
          ({ text }) => text,
          (error: Error) => error.message,
        );
        return await ctx.step("end", () => end);
      },
    });
    const report = await crashAtEveryEntry({ services: [aborting], target: { ...target, key: "k" } });
    expect(report.result).toEqual({ kind: "value", value: '"too slow"' });
    expect(lives).toBeGreaterThan(report.crashes);
  });

  test("that has fired already makes no call", async () => {
    const model = scriptedModel(() => "never heard");
    const early = service("asker", {
      ask: async (ctx: Context) => {
        const call = generateText({
          model: durable(ctx, model),
          prompt: "?",
          abortSignal: AbortSignal.abort(new Error("no")),
        });
        return await call.then(
          () => "answered",
          (error: Error) => error.message,
        );
      },
    });
    const world = await new TestWorld({ services: [early] }).open();
    const run = await world.submit(target);
    expect(await valueOf(world, run)).toBe("no");
    expect(await stepsOf(world, run)).toEqual([]);
  });
});

describe("files by their address", () => {
  const png = Uint8Array.from([137, 80, 78, 71, 13, 10, 26, 10]);
  const fetching = vi.fn<(url: string) => Promise<Response>>(() =>
    Promise.resolve(new Response(png, { headers: { "content-type": "image/png" } })),
  );
  const looking = (model: ModelRef) =>
    service("asker", {
      ask: async (ctx: Context) => {
        const image = { type: "file" as const, mediaType: "image", data: new URL("https://example.com/a.png") };
        const { text } = await generateText({
          model: durable(ctx, model),
          messages: [{ role: "user", content: [image] }],
        });
        return await ctx.step("end", () => text);
      },
    });
  const fileOf = (model: ReturnType<typeof scriptedModel>): unknown =>
    (model.requests[0]?.body as { prompt: { content: unknown[] }[] } | undefined)?.prompt[0]?.content[0];

  test("are fetched within the step for a model that wants the bytes, and not again on a replay", async () => {
    fetching.mockClear();
    vi.stubGlobal("fetch", fetching);
    const model = scriptedModel(() => "A picture.");
    let repeated = 0;
    const report = await crashAtEveryEntry({ services: [looking(model)], target, reset: () => (repeated += 1) });
    expect(fileOf(model)).toMatchObject({ mediaType: "image/png", data: { type: "data", data: png } });
    // Once for each world, and again only where the call itself was lost.
    expect(fetching).toHaveBeenCalledTimes(model.requests.length);
    expect(model.requests.length - repeated).toBeLessThanOrEqual(report.repeatedUnjournaled);
  });

  test("are left to a model that fetches them itself", async () => {
    fetching.mockClear();
    vi.stubGlobal("fetch", fetching);
    const model = { ...scriptedModel(() => "A picture."), supportedUrls: { "image/*": [/^https:/] } };
    const world = await new TestWorld({ services: [looking(model)] }).open();
    expect(await valueOf(world, await world.submit(target))).toBe("A picture.");
    expect(fileOf(model)).toMatchObject({ data: { type: "url" } });
    expect(fetching).not.toHaveBeenCalled();
  });
});
