import { describe, expect, it } from "vitest";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { CallWorld } from "./testing/call-world.ts";
import { turn } from "./testing/fake-clock.ts";

const REASON = new Error("the attempt is over");
const STALL = { text: "so far so good", fault: { kind: "stall", afterTokens: 2 } } as const;

describe("an abort", () => {
  it("rejects with its reason while the answer is under way, and ends the request", async () => {
    const world = new CallWorld();
    const model = world.model(() => STALL);
    const controller = new AbortController();
    const call = world.gateway.call(world.request(model, { signal: controller.signal }));
    await turn();
    controller.abort(REASON);
    await expect(call).rejects.toBe(REASON);
    await turn();
    expect(world.gateway.figures().limits["scripted"]).toMatchObject({ running: 0 });
    expect(world.clock.pending).toBe(0);
  });

  it("leaves the queue", async () => {
    const world = new CallWorld({ limits: { scripted: { concurrency: 1 } } });
    const model = world.model(() => STALL);
    const [first, second] = [new AbortController(), new AbortController()];
    const running = world.gateway.call(world.request(model, { signal: first.signal }));
    const waiting = world.gateway.call(world.request(model, { signal: second.signal }));
    await turn();
    expect(world.gateway.figures().limits["scripted"]).toMatchObject({ running: 1, waiting: { interactive: 1 } });
    second.abort(REASON);
    await expect(waiting).rejects.toBe(REASON);
    expect(world.gateway.figures().limits["scripted"]).toMatchObject({ running: 1, waiting: { interactive: 0 } });
    first.abort(REASON);
    await expect(running).rejects.toBe(REASON);
    expect(model.requests).toHaveLength(1);
  });

  it("is heard between two tries, and before the first", async () => {
    const world = new CallWorld();
    const model = world.model(() => ({ error: "server" }));
    const controller = new AbortController();
    const call = world.gateway.call(world.request(model, { signal: controller.signal }));
    await turn();
    controller.abort(REASON);
    await expect(call).rejects.toBe(REASON);
    expect([model.requests.length, world.clock.pending]).toEqual([1, 0]);
    await expect(world.gateway.call(world.request(model, { signal: controller.signal }))).rejects.toBe(REASON);
    expect(model.requests).toHaveLength(1);
  });

  it("is passed on to the request", async () => {
    const world = new CallWorld();
    const model = world.model(() => STALL);
    let passed: AbortSignal | undefined;
    const watched: LanguageModelV4 = {
      ...model,
      doStream: (options) => {
        passed = options.abortSignal;
        return model.doStream(options);
      },
    };
    const controller = new AbortController();
    const call = world.gateway.call(world.request(watched, { signal: controller.signal }));
    await turn();
    expect(passed?.aborted).toBe(false);
    controller.abort(REASON);
    await expect(call).rejects.toBe(REASON);
    expect(passed?.aborted).toBe(true);
  });

  it("in the moment of its turn gives that back", async () => {
    const world = new CallWorld({ limits: { scripted: { requestsPerMinute: 1 } } });
    const model = world.model(() => "x");
    const controller = new AbortController();
    const call = world.gateway.call(world.request(model, { signal: controller.signal }));
    controller.abort(REASON); // It has its turn since it asked, and does not know yet.
    await expect(call).rejects.toBe(REASON);
    expect(world.gateway.figures().limits["scripted"]).toMatchObject({ running: 0, requests: 0 });
    expect(model.requests).toHaveLength(0);
  });

  it("is heard where the model does not listen", async () => {
    const world = new CallWorld();
    const deaf: LanguageModelV4 = { ...world.model(() => "x"), doStream: () => new Promise(() => undefined) };
    const controller = new AbortController();
    const call = world.gateway.call(world.request(deaf, { signal: controller.signal }));
    await turn();
    controller.abort(REASON);
    await expect(call).rejects.toBe(REASON);
  });
});

describe("an interrupt", () => {
  it("resolves with what came so far, marked", async () => {
    const world = new CallWorld();
    const controller = new AbortController();
    const call = world.gateway.call(
      world.request(
        world.model(() => STALL),
        { interrupt: controller.signal },
      ),
    );
    await turn();
    controller.abort();
    const answer = await call;
    expect(JSON.parse(JSON.stringify(answer))).toStrictEqual(answer);
    expect(answer).toMatchObject({
      content: [{ type: "text", text: "so far" }],
      finishReason: { unified: "interrupted" },
      partial: true,
      cost: { usd: null },
      attempts: [{ outcome: "interrupted" }],
    });
    expect(world.clock.pending).toBe(0);
  });

  it("leaves the queue with nothing said", async () => {
    const world = new CallWorld({ limits: { scripted: { concurrency: 1 } } });
    const model = world.model(() => STALL);
    const controller = new AbortController();
    const first = new AbortController();
    const running = world.gateway.call(world.request(model, { interrupt: first.signal }));
    const waiting = world.gateway.call(world.request(model, { interrupt: controller.signal }));
    await turn();
    controller.abort();
    expect(await waiting).toMatchObject({ content: [], partial: true, attempts: [] });
    first.abort();
    await running;
    expect(model.requests).toHaveLength(1);
  });

  it("that comes when the answer is complete changes nothing", async () => {
    const world = new CallWorld();
    const controller = new AbortController();
    const answer = await world.ask(
      world.model(() => "all of it"),
      { interrupt: controller.signal },
    );
    controller.abort();
    expect(answer.partial).toBe(false);
  });
});

describe("silence", () => {
  const timeouts = { firstTokenMs: 1_000, betweenTokensMs: 500, totalMs: 10_000 };
  const once = { retry: { retriesMax: 0 } };

  it("before the first token", async () => {
    const world = new CallWorld(once);
    const begun = world.clock.now();
    const call = world.ask(
      world.model(() => ({ text: "x", firstTokenMs: 1_001 })),
      { timeouts },
    );
    await expect(call).rejects.toMatchObject({ kind: "timeout-first-token", retryable: true });
    expect(world.clock.now() - begun).toBe(1_000);
    const slow = await world.ask(
      world.model(() => ({ text: "x", firstTokenMs: 999 })),
      { timeouts },
    );
    expect(slow.attempts[0]).toMatchObject({ firstTokenMs: 999 });
    expect(world.clock.pending).toBe(0);
  });

  it("between two", async () => {
    const world = new CallWorld(once);
    const call = world.ask(
      world.model(() => STALL),
      { timeouts },
    );
    await expect(call).rejects.toMatchObject({
      kind: "timeout-between-tokens",
      message: expect.stringContaining("500 ms"),
    });
    const slow = await world.ask(
      world.model(() => ({ text: "a b c d e f", tokensPerSecond: 2.5 })),
      { timeouts },
    );
    expect(slow.partial).toBe(false);
  });

  it("is not needed for an answer that takes too long", async () => {
    const world = new CallWorld(once);
    const words = "word ".repeat(100);
    const call = world.ask(
      world.model(() => ({ text: words, tokensPerSecond: 4 })),
      { timeouts },
    );
    await expect(call).rejects.toMatchObject({ kind: "timeout-total" });
  });

  it("of a provider that is dead is noticed without any setting", async () => {
    const world = new CallWorld(once);
    await expect(world.ask(world.model(() => STALL))).rejects.toMatchObject({ kind: "timeout-between-tokens" });
  });

  it("after the finish is not waited for", async () => {
    const world = new CallWorld(once);
    const model = world.model(() => "done");
    const open: LanguageModelV4 = {
      ...model,
      doStream: async (options) => {
        const { stream } = await model.doStream(options);
        const reader = stream.getReader();
        return {
          stream: new ReadableStream({
            async pull(controller) {
              const next = await reader.read();
              if (!next.done) controller.enqueue(next.value);
              else await new Promise(() => undefined);
            },
          }),
        };
      },
    };
    const begun = world.clock.now();
    const answer = await world.ask(open);
    expect(answer.content).toEqual([{ type: "text", text: "done" }]);
    expect(world.clock.now() - begun).toBeLessThanOrEqual(5_000);
  });
});

describe("a breaker that is open", () => {
  const breaker = { callsMin: 3, failureRate: 0.5, openMs: 20_000 };

  it("sends calls to the fallback at once", async () => {
    const world = new CallWorld({ breaker });
    const ill = world.model(() => ({ error: "overloaded" }));
    const well = world.model(() => "ok", { provider: "other" });
    await world.ask([ill, well]);
    expect(world.gateway.figures().breakers["scripted"]).toMatchObject({ state: "open" });
    const begun = world.clock.now();
    const answer = await world.ask([ill, well]);
    expect([answer.provider, answer.attempts.length, ill.requests.length]).toEqual(["other", 1, 3]);
    expect(world.clock.now() - begun).toBe(0);
  });

  it("makes the call that opened it go to the fallback without waiting for another try", async () => {
    const world = new CallWorld({ breaker: { ...breaker, callsMin: 1 } });
    const ill = world.model(() => ({ error: "overloaded" }));
    const begun = world.clock.now();
    const answer = await world.ask([ill, world.model(() => "ok", { provider: "other" })]);
    expect([answer.provider, ill.requests.length, world.clock.now() - begun]).toEqual(["other", 1, 0]);
    const alone = new CallWorld({ breaker: { ...breaker, callsMin: 1 } });
    const error = { kind: "overloaded", retryAfter: 20_000, message: expect.stringMatching(/Overloaded.*left alone/) };
    await expect(alone.ask(alone.model(() => ({ error: "overloaded" })))).rejects.toMatchObject(error);
  });

  it("says when the next probe goes where there is no fallback, and closes when that succeeds", async () => {
    const world = new CallWorld({ breaker });
    let isIll = true;
    const model = world.model(() => (isIll ? { error: "server" } : "well again"));
    await expect(world.ask(model)).rejects.toMatchObject({ kind: "server" });
    await world.clock.advance(5_000);
    await expect(world.ask(model)).rejects.toMatchObject({ kind: "server", retryable: true, retryAfter: 15_000 });
    isIll = false;
    await world.clock.advance(15_000);
    const [probe, other] = await Promise.allSettled([world.ask(model), world.ask(model)]);
    expect(probe.status).toBe("fulfilled");
    expect(other).toMatchObject({ status: "rejected", reason: { retryAfter: 20_000 } });
    expect(world.gateway.figures().breakers["scripted"]).toMatchObject({ state: "closed" });
    expect(world.gateway.figures().limits["scripted"]).toMatchObject({ running: 0 });
  });

  it("empties the queue of those who wait for that provider, whoever opened it", async () => {
    const limits = { "scripted/slow": { concurrency: 1 } };
    const world = new CallWorld({ breaker: { ...breaker, callsMin: 1 }, limits, retry: { retriesMax: 0 } });
    const slow = world.model(() => STALL, { modelId: "slow" });
    const ill = world.model(() => ({ error: "overloaded" }), { modelId: "ill" });
    const well = world.model(() => "ok", { provider: "other" });
    const controller = new AbortController();
    const stalled = world.gateway.call(world.request(slow, { interrupt: controller.signal }));
    const waiting = world.gateway.call(world.request([slow, well]));
    await turn();
    await expect(world.gateway.call(world.request(ill))).rejects.toMatchObject({ kind: "overloaded" });
    expect((await waiting).provider).toBe("other");
    const late = await world.gateway.call(world.request([slow, well]));
    expect(late.provider).toBe("other"); // Not after its turn in the queue, which does not move.
    controller.abort();
    await stalled;
  });

  it("does not hide an error that is final", async () => {
    const world = new CallWorld({ breaker: { ...breaker, callsMin: 1 } });
    const long = world.model(() => ({ error: "context-length", firstTokenMs: 1_000 }));
    const call = world.gateway.call(world.request(long));
    await turn();
    await expect(world.ask(world.model(() => ({ error: "server" })))).rejects.toMatchObject({ kind: "server" });
    await expect(world.clock.until(call)).rejects.toMatchObject({ code: "P0071" });
  });

  it("does not come of limits, wrong keys or bad requests", async () => {
    const world = new CallWorld({ breaker, retry: { retriesMax: 0 } });
    for (const error of ["rate-limited", "invalid-key", "bad-request", "context-length"] as const) {
      for (let i = 0; i < 5; i += 1) await world.ask(world.model(() => ({ error }))).catch(() => undefined);
    }
    expect(world.gateway.figures().breakers["scripted"]).toMatchObject({ state: "closed" });
  });
});

describe("limits", () => {
  it("are shared by all calls of a provider, with lanes and keys in their order", async () => {
    const world = new CallWorld({ limits: { scripted: { concurrency: 1 } } });
    const model = world.model(() => ({ text: "x", firstTokenMs: 10 }));
    const call = (lane: "interactive" | "batch", key: string) =>
      world.gateway.call(world.request(model, { lane, key, idempotencyKey: key }));
    const calls = [
      call("batch", "b"),
      call("batch", "b"),
      call("interactive", "a"),
      call("interactive", "a"),
      call("interactive", "c"),
    ];
    await world.clock.until(Promise.all(calls));
    expect(model.requests.map(({ idempotencyKey }) => idempotencyKey)).toEqual(["b", "a", "c", "a", "b"]);
  });

  it("apply by model, else by kind, else by provider", async () => {
    const limits = { "p/one": { concurrency: 9 }, "p.chat": { concurrency: 9 }, p: { concurrency: 9 } };
    const world = new CallWorld({ limits });
    for (const [provider, modelId] of [
      ["p.chat", "one"],
      ["p.chat", "two"],
      ["p.responses", "two"],
      ["q.chat", "one"],
    ] as const)
      await world.ask(world.model(() => "x", { provider, modelId }));
    expect(Object.keys(world.gateway.figures().limits)).toEqual(["p/one", "p.chat", "p", "q"]);
  });

  it("on tokens count the estimate first, and what was used as soon as it is known", async () => {
    const world = new CallWorld({ limits: { scripted: { tokensPerMinute: 1_000 } } });
    const model = world.model(() => ({ text: "x", firstTokenMs: 100, usage: { inputTokens: 40, outputTokens: 2 } }));
    const call = world.gateway.call(world.request(model, { estimatedTokens: 700 }));
    await turn();
    expect(world.gateway.figures().limits["scripted"]).toMatchObject({ tokens: 700 });
    await world.clock.until(call);
    expect(world.gateway.figures().limits["scripted"]).toMatchObject({ tokens: 42, requests: 1 });
  });

  it("on tokens estimate by the prompt where nobody said", async () => {
    const world = new CallWorld({ limits: { scripted: { tokensPerMinute: 100_000 } } });
    const text = "é".repeat(4_000);
    const file = {
      type: "file",
      mediaType: "image/png",
      data: { type: "data", data: new Uint8Array(1_000_000) },
    } as const;
    const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text }, file] }];
    const options = { prompt, maxOutputTokens: 500 };
    const controller = new AbortController();
    const call = world.gateway.call(
      world.request(
        world.model(() => STALL),
        { options, interrupt: controller.signal },
      ),
    );
    await turn();
    const { tokens } = world.gateway.figures().limits["scripted"] ?? { tokens: 0 };
    expect(tokens).toBeGreaterThan(2_000 + 1_500 + 500 - 1);
    expect(tokens).toBeLessThan(2_000 + 1_500 + 500 + 20);
    controller.abort();
    await call;
  });
});
