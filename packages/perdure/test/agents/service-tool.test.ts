// Handlers as tools of an agent.

import {
  agent,
  serviceTool,
  type AgentAnswer,
  type AgentTool,
  type ScriptedToolCall,
  type Toolset,
} from "@perdure/agents";
import { handler, object, service, type Context, type ObjectContext } from "@perdure/sdk";
import { crashAtEveryEntry, scriptedModel, TestWorld, type ScriptedModel } from "perdure/testing";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";

const charge = z.object({ customer: z.string(), cents: z.number().int().positive() });

const billing = service("billing", {
  charge: handler({ input: charge, description: "Charges a customer." }, (ctx: Context, { customer, cents }) => ({
    receipt: `${customer} paid ${cents}`,
    key: ctx.idempotencyKey,
  })),
  /** A schema that makes something else of its input. */
  shout: handler(
    { input: z.object({ text: z.string().transform((text) => `${text}!`) }) },
    (_ctx: Context, { text }) => text,
  ),
  square: handler({ input: z.number() }, (_ctx: Context, side) => side * side),
  ping: () => "pong",
  loose: (_ctx: Context, input: { readonly a: number }) => input.a,
});

const account = object("account", {
  add: handler({ input: charge }, async (ctx: ObjectContext, { cents }) => {
    const total = ((await ctx.get<number>("total")) ?? 0) + cents;
    ctx.set("total", total);
    return { key: ctx.key, total };
  }),
});

/** Calls the tools of each round, then answers with what they said last. */
function calls(...rounds: readonly (readonly ScriptedToolCall[])[]): ScriptedModel {
  return scriptedModel(({ messages }) => {
    const done = messages.filter(({ role }) => role === "tool");
    const toolCalls = rounds[done.length];
    return toolCalls === undefined ? (done.at(-1)?.text ?? "") : { toolCalls };
  });
}

async function answerOf(
  model: ScriptedModel,
  tools: Toolset,
): Promise<{ readonly text: string; readonly world: TestWorld }> {
  const clerk = agent("clerk", { model, tools });
  const world = await new TestWorld({ services: [clerk, billing, account] }).open();
  const result = await world.finish(await world.submit({ service: "clerk", key: "s1", handler: "send" }, "Go."));
  if (result?.kind !== "value") throw new Error(`no answer: ${JSON.stringify(result)}`);
  return { text: (JSON.parse(String(result.value)) as AgentAnswer).text, world };
}

const runsOf = async (world: TestWorld, of: string) => (await world.runs()).filter(({ service }) => service === of);

describe("a handler as a tool", () => {
  test("is described to the model by its own schema and words", async () => {
    const model = calls([]);
    await answerOf(model, {
      charge: serviceTool(billing, "charge"),
      ping: serviceTool(billing, "ping", { kind: "read" }),
    });
    const body = model.requests[0]?.body as { readonly tools: readonly unknown[] } | undefined;
    expect(body?.tools).toMatchObject([
      {
        name: "charge",
        description: "Charges a customer.",
        inputSchema: { type: "object", properties: { customer: { type: "string" } }, required: ["customer", "cents"] },
      },
      { name: "ping", inputSchema: { type: "object", properties: {} } },
    ]);
  });

  test("is called under a key that names the run and the tool call, and its answer is the tool's", async () => {
    const model = calls([{ name: "charge", id: "c7", input: { customer: "ada", cents: 5 } }]);
    const { text, world } = await answerOf(model, { charge: serviceTool(billing, "charge") });
    const [turn] = await runsOf(world, "clerk");
    expect(JSON.parse(text)).toEqual({ receipt: "ada paid 5", key: `${turn?.id}/c7` });
  });

  test("of an object is the one that the key names", async () => {
    const model = calls([
      { name: "add", id: "a", input: { customer: "ada", cents: 5 } },
      { name: "add", id: "b", input: { customer: "ada", cents: 7 } },
    ]);
    const add = serviceTool(account, "add", {
      key: ({ customer }, { agent: who, session }) => `${who}/${session}/${customer}`,
    });
    const { text } = await answerOf(model, { add });
    expect(text).toBe('{"key":"clerk/s1/ada","total":5}\n{"key":"clerk/s1/ada","total":12}');
  });

  test("that is sent answers with the run, and does not wait for it", async () => {
    const model = calls([{ name: "charge", input: { customer: "ada", cents: 5 } }]);
    const { text, world } = await answerOf(model, { charge: serviceTool(billing, "charge", { send: true }) });
    const [sent] = await runsOf(world, "billing");
    expect(JSON.parse(text)).toEqual({ run: sent?.id, status: "started" });
  });

  test("is not called with what does not fit its schema: the model is told", async () => {
    const model = calls([{ name: "charge", input: { customer: "ada", cents: -5 } }]);
    const { text, world } = await answerOf(model, { charge: serviceTool(billing, "charge") });
    expect(text).toContain("$.cents");
    expect(await runsOf(world, "billing")).toEqual([]);
  });

  test.each([
    ["shout", { text: "hey" }, "hey!"],
    ["square", { input: 5 }, "25"],
    ["ping", {}, "pong"],
  ] as const)("gets its input once, as it takes it (%s)", async (name, input, expected) => {
    const { text } = await answerOf(calls([{ name, input }]), { [name]: serviceTool(billing, name) });
    expect(text).toBe(expected);
  });

  test("is called anew where a model gives two calls one id", async () => {
    const model = calls(
      [{ name: "charge", id: "call_1", input: { customer: "ada", cents: 5 } }],
      [{ name: "charge", id: "call_1", input: { customer: "bob", cents: 6 } }],
    );
    const { text, world } = await answerOf(model, { charge: serviceTool(billing, "charge") });
    expect(JSON.parse(text)).toMatchObject({ receipt: "bob paid 6" });
    expect(await runsOf(world, "billing")).toHaveLength(2);
  });

  test("is run exactly once, wherever the host dies", async () => {
    const rounds = [[{ name: "add", id: "a", input: { customer: "ada", cents: 5 } }]];
    const add = serviceTool(account, "add", { key: () => "k" });
    const clerk = agent("clerk", { model: calls(...rounds), tools: { add } });
    const report = await crashAtEveryEntry({
      services: [clerk, account],
      target: { service: "clerk", key: "s1", handler: "send" },
      input: "Go.",
      observe: async (world) => (await runsOf(world, "account")).map(({ result }) => result),
    });
    expect(report.result).toMatchObject({ kind: "value", value: expect.stringContaining('\\"total\\":5') });
  });
});

describe("what cannot be meant is refused when it is defined", () => {
  test.each([
    ["a handler that does not exist", () => serviceTool(billing, "pay" as "ping"), /there are charge, shout/],
    ["a handler whose input nothing describes", () => serviceTool(billing, "loose"), /nothing tells the model/],
    ["an object without a key", () => serviceTool(account, "add", {} as { key: () => string }), /needs a key/],
  ])("%s", (_, define, message) => {
    expect(define).toThrow(message);
  });
});

describe("types", () => {
  test("are those of the handler", () => {
    type Charge = z.infer<typeof charge>;
    expectTypeOf(serviceTool(billing, "charge")).toEqualTypeOf<
      AgentTool<Charge, { receipt: string; key: string | null }>
    >();
    serviceTool(account, "add", { key: ({ customer }) => customer });
    // @ts-expect-error -- there is no such handler
    expect(() => serviceTool(billing, "nothing")).toThrow();
    // @ts-expect-error -- an object has keys
    expect(() => serviceTool(account, "add", { kind: "write" })).toThrow();
    // @ts-expect-error -- there is no such input
    serviceTool(account, "add", { key: ({ client }) => client });
  });
});
