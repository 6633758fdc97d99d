// The AI SDK inside handlers: whatever its insides do between two commands, a replay issues the same commands in the same order.

import { durable } from "@perdure/agents";
import { service, type AnyDefinition, type Context } from "@perdure/sdk";
import { generateObject, generateText, isStepCount, streamText, tool, ToolLoopAgent } from "ai";
import fc from "fast-check";
import { crashAtEveryEntry, scriptedModel, TestWorld, type Script, type ScriptedModel } from "perdure/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";

/** The AI SDK says on the console that `generateObject` is old. */
beforeAll(() => void (globalThis.AI_SDK_LOG_WARNINGS = false));
afterAll(() => void (globalThis.AI_SDK_LOG_WARNINGS = undefined));

/** Turns of the event loop until a step answers: by the step's name. */
type Pace = (step: string) => number;

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) await new Promise<void>((resolve) => void setImmediate(resolve));
}

const cities = ["Oslo", "Rome", "Lima"];

/** Asks for the weather of all cities at once, in two rounds, and then answers. */
const rounds =
  (count: number): Script =>
  ({ messages }) => {
    const answered = messages.filter(({ role }) => role === "tool").length;
    if (answered >= count) return `After ${answered} rounds: ${messages.at(-1)?.text ?? ""}`;
    const toolCalls = cities.map((city, i) => ({ name: "weather", id: `r${answered}c${i}`, input: { city } }));
    return { text: `Round ${answered}.`, toolCalls };
  };

const station = service("station", {
  measure: (_ctx: Context, city: string) => `${city.length} degrees`,
});

interface World {
  model: ScriptedModel;
  pace: Pace;
}

/** A tool of several steps and a call, whose steps take as long as the pace says. */
const weather = (ctx: Context, world: World) =>
  tool({
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }, { toolCallId }) => {
      const step = (name: string) => ctx.step(name, () => turns(world.pace(`${name} ${toolCallId}`)).then(() => name));
      const place = await step(`find ${city}`);
      const degrees = await ctx.call(station).measure(city);
      return `${place}, ${degrees}, ${await step(`tell ${city}`)}`;
    },
  });

const ask = (ctx: Context, world: World) => durable(ctx, world.model, { stream: "tokens" });

/** Handlers as users write them. Each gives what it saw. */
function handlersOf(world: World): AnyDefinition {
  return service("plain", {
    generate: async (ctx: Context) => {
      const { text, steps } = await generateText({
        model: ask(ctx, world),
        prompt: "How is it there?",
        tools: { weather: weather(ctx, world) },
        stopWhen: isStepCount(5),
      });
      const told = steps.map(({ response: { id, timestamp }, usage }) => ({ id, at: timestamp.getTime(), usage }));
      const before = await ctx.step("note", () => told);
      return { text, same: JSON.stringify(told) === JSON.stringify(before) };
    },
    stream: async (ctx: Context) => {
      const result = streamText({
        model: ask(ctx, world),
        prompt: "How is it there?",
        tools: { weather: weather(ctx, world) },
        stopWhen: isStepCount(5),
      });
      const seen: string[] = [];
      for await (const part of result.fullStream) {
        seen.push(part.type);
        if (part.type === "tool-result") await ctx.step(`saw ${part.toolCallId}`, () => turns(world.pace("saw")));
      }
      return { seen, text: await result.text };
    },
    agent: async (ctx: Context) => {
      const agent = new ToolLoopAgent({ model: ask(ctx, world), tools: { weather: weather(ctx, world) } });
      return (await agent.generate({ prompt: "How is it there?" })).text;
    },
    object: async (ctx: Context) => {
      const { object } = await generateObject({
        model: ask(ctx, world),
        schema: z.object({ degrees: z.number() }),
        prompt: "How warm?",
      });
      return object.degrees + (await ctx.step("round", () => 1));
    },
    /** A stream that ends beside a branch with commands of its own. */
    beside: async (ctx: Context) => {
      const reading = async (): Promise<string> => {
        const { textStream } = streamText({ model: ask(ctx, world), prompt: "How is it there?" });
        let text = "";
        for await (const delta of textStream) text += delta;
        return await ctx.step("read", () => turns(world.pace("read")).then(() => text));
      };
      const working = async (): Promise<number> => {
        let done = 0;
        for (let i = 0; i < 6; i += 1)
          done += await ctx.step(`work ${i}`, () => turns(world.pace(`work ${i}`)).then(() => 1));
        return done;
      };
      return await Promise.all([reading(), working()]);
    },
  });
}

const scripts: Readonly<Record<string, Script>> = {
  generate: rounds(1),
  stream: rounds(1),
  agent: rounds(2),
  object: () => '{"degrees": 21}',
  beside: () => "Warm and dry, all day long.",
};

describe.each(Object.entries(scripts))("%s", (handler, script) => {
  test("a crash at every entry: nothing that is settled is asked again, and the end is the same", async () => {
    const world: World = { model: scriptedModel(script), pace: () => 0 };
    const target = { service: "plain", handler };
    let calls = 0;
    const reset = (): void => {
      const { lines } = world.model.bill;
      calls ||= lines.length;
      // One answer may be lost with the host. The same question has the same key for as long as it has no answer.
      const delivered = lines.reduce((sum, { completed }) => sum + completed, 0);
      expect(delivered - lines.length).toBeLessThanOrEqual(1);
      expect(lines).toHaveLength(calls);
      world.model = scriptedModel(script);
    };
    const report = await crashAtEveryEntry({ services: [handlersOf(world), station], target, reset });
    reset();
    expect(report.result).toMatchObject({ kind: "value", value: expect.not.stringContaining("false") });
    expect(report.crashes).toBeGreaterThan(5);
  });

  test("any interleaving of steps is replayed, wherever the host dies", async () => {
    const schedule = fc.record({
      paces: fc.array(fc.nat(7), { minLength: 1, maxLength: 40 }),
      point: fc.nat(),
      batchEventsMax: fc.constantFrom(1, 2, 1_000),
    });
    await fc.assert(
      fc.asyncProperty(schedule, async ({ paces, point, batchEventsMax }) => {
        let asked = 0;
        const pace = (): number => paces[asked++ % paces.length] ?? 0;
        const world: World = { model: scriptedModel(script), pace };
        const services = [handlersOf(world), station];
        const limits = { batchEventsMax, timersPerBatchMax: 1 };
        const first = await new TestWorld({ services, limits }).open();
        let commits = 0;
        const crashAt = 2 + (point % 30);
        first.onCommit(() => ((commits += 1) === crashAt ? "orphan" : "apply"));
        const run = await first.submit({ service: "plain", handler });
        let result = await first.finish(run);
        if (result === null) {
          delete first.memory.storage.hooks.beforeCommit;
          const second = await new TestWorld({ services, limits, memory: first.memory }).open();
          result = await second.finish(run);
        } else first.crash();
        expect(result?.kind).toBe("value");
        expect(first.memory.executions.filter(({ journaledBefore }) => journaledBefore)).toEqual([]);
      }),
      // A branch of a stream that is read closes in a tick: what follows it was once asked for later than on a replay.
      { numRuns: 60, examples: [[{ paces: [1], point: 6, batchEventsMax: 2 }]] },
    );
  });
});

describe("what waits for the event loop outside of steps", () => {
  /** As `smoothStream` and the AI SDK's own time limits do, with turns of the event loop for milliseconds. */
  const careless = (waitTurns: number, paceTurns: number): AnyDefinition =>
    service("careless", {
      run: async (ctx: Context) => {
        const waits = async (): Promise<string> => {
          const { text } = await generateText({
            model: durable(
              ctx,
              scriptedModel(() => "It is warm."),
            ),
            prompt: "?",
          });
          await turns(waitTurns);
          return await ctx.step("after", () => text);
        };
        const works = async (): Promise<number> => {
          let done = 0;
          for (let i = 0; i < 4; i += 1) done += await ctx.step(`work ${i}`, () => turns(paceTurns).then(() => 1));
          return done;
        };
        return await Promise.all([waits(), works()]);
      },
    });

  test("may ask in another order on a replay: that is seen and said (P0016), and never gives a wrong result", async () => {
    const ends = new Set<string>();
    for (const waitTurns of [1, 2, 3, 5, 8])
      for (const paceTurns of [0, 1, 2, 3, 5])
        for (const crashAt of [4, 6, 8, 10]) {
          const limits = { batchEventsMax: 2, timersPerBatchMax: 1 };
          const services = [careless(waitTurns, paceTurns)];
          const first = await new TestWorld({ services, limits }).open();
          let commits = 0;
          first.onCommit(() => ((commits += 1) === crashAt ? "orphan" : "apply"));
          const run = await first.submit({ service: "careless", handler: "run" });
          let result = await first.finish(run);
          if (result === null) {
            delete first.memory.storage.hooks.beforeCommit;
            const second = await new TestWorld({ services, limits, memory: first.memory }).open();
            result = await second.finish(run).catch(() => null);
            second.crash();
          } else first.crash();
          const record = await first.run(run);
          ends.add(result === null ? String(record?.pausedBy?.errorCode) : JSON.stringify(result));
        }
    expect([...ends].toSorted()).toEqual(["P0016", JSON.stringify({ kind: "value", value: '["It is warm.",4]' })]);
  });
});
