// Libraries that agents are made with, inside an isolate.

import { expect, onTestFinished, test } from "vitest";
import { bundleOfGlobals, globalsIsolate } from "./globals-isolate.ts";

const AGENT = `
  import { agent, service, tool } from "perdure";
  import { z } from "zod";
  const add = tool({ kind: "read", description: "adds", inputSchema: z.object({ a: z.number() }), execute: async ({ a }) => a + 1 });
  export const helper = agent("helper", { model: "openai/gpt-5", tools: { add } });
  export const plain = service("plain", { hi: async () => "hi" });
`;

test("zod validates, and says what is wrong", async () => {
  const isolate = await globalsIsolate(
    onTestFinished,
    `import { z } from "zod"; const Order = z.object({ id: z.uuid(), lines: z.array(z.object({ n: z.number().int() })).min(1), at: z.iso.datetime() });
     export const parse = (value) => Order.safeParse(value); export const schema = () => z.toJSONSchema(Order);`,
  );
  const order = `{ id: "7f3c2f3e-7a8e-4b0c-9a65-0d3f6b2f7a11", lines: [{ n: 1 }], at: "2030-01-01T00:00:00Z" }`;
  expect(isolate.run(`user.parse(${order}).success`)).toBe(true);
  expect(
    isolate.run(
      `user.parse({ ...${order}, lines: [{ n: 1.5 }] }).error.issues.map(({ path, message }) => [path, message])`,
    ),
  ).toEqual([[["lines", 0, "n"], "Invalid input: expected int, received number"]]);
  expect(isolate.run(`Object.keys(user.schema().properties)`)).toEqual(["id", "lines", "at"]);
});

test("croner finds the next time of an expression", async () => {
  const isolate = await globalsIsolate(
    onTestFinished,
    `import { Cron } from "croner"; export const next = (from) => new Cron("30 8 * * 1", { utcOffset: 0 }).nextRun(new Date(from)).toISOString();`,
  );
  expect(isolate.run(`user.next("2030-01-01T00:00:00Z")`)).toBe("2030-01-07T08:30:00.000Z");
});

test("the AI SDK generates, calls tools and streams", async () => {
  const isolate = await globalsIsolate(
    onTestFinished,
    `import { generateText, stepCountIs, streamText, tool } from "ai";
     import { z } from "zod";
     const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
     const model = {
       specificationVersion: "v4", provider: "test", modelId: "m", supportedUrls: {},
       doGenerate: async ({ prompt }) => {
         const result = prompt.at(-1).role === "tool" ? prompt.at(-1).content[0].output.value : undefined;
         const content = result === undefined
           ? [{ type: "tool-call", toolCallId: "c1", toolName: "add", input: '{"a":1,"b":2}' }]
           : [{ type: "text", text: "sum " + result }];
         return { content, finishReason: { unified: result === undefined ? "tool-calls" : "stop" }, usage, warnings: [] };
       },
       doStream: async () => ({ stream: ReadableStream.from([
         { type: "stream-start", warnings: [] }, { type: "text-start", id: "t" }, { type: "text-delta", id: "t", delta: "he" },
         { type: "text-delta", id: "t", delta: "llo" }, { type: "text-end", id: "t" }, { type: "finish", finishReason: { unified: "stop" }, usage },
       ]) }),
     };
     const add = tool({ description: "adds", inputSchema: z.object({ a: z.number(), b: z.number() }), execute: async ({ a, b }) => a + b });
     export const generate = async () => (await generateText({ model, prompt: "1 + 2", tools: { add }, stopWhen: stepCountIs(3) })).text;
     export const stream = async () => { let out = ""; for await (const part of streamText({ model, prompt: "x" }).textStream) out += "|" + part; return out; };`,
  );
  expect(isolate.run("user.generate()")).toBe("sum 3");
  expect(isolate.run("user.stream()")).toBe("|he|llo");
});

test("a module of agents loads, with what belongs to the host left out", async () => {
  const isolate = await globalsIsolate(onTestFinished, AGENT);
  expect(
    isolate.run(
      `[user.helper.name, user.helper.kind, [...user.helper.specs.keys()].includes("send"), user.plain.name]`,
    ),
  ).toEqual(["helper", "object", true, "plain"]);
  const code = await bundleOfGlobals(AGENT);
  expect(code).not.toContain("price_comments"); // The registry of prices.
  expect(code).not.toContain("child_process");
  expect(code.length).toBeLessThan(600_000);
});

test("tools of MCP servers are for host modules, which keep their connections", async () => {
  const isolate = await globalsIsolate(
    onTestFinished,
    `import { mcpTools } from "perdure"; export const source = () => mcpTools("files", { command: "files-server" });`,
  );
  expect(isolate.run("user.source()")).toEqual({
    threw: expect.stringMatching(
      /mcpTools\("files", …\) keeps a connection, .* in a module that begins with "use host"/,
    ),
  });
});

test("a model that is made inside is refused: the host asks models, and knows them by their names", async () => {
  const isolate = await globalsIsolate(
    onTestFinished,
    `import { agent } from "perdure";
     export const make = (model) => agent("helper", { model }).name;
     export const own = { specificationVersion: "v4", provider: "mine", modelId: "m1" };`,
  );
  expect(isolate.run(`user.make("openai/gpt-5")`)).toBe("helper");
  expect(isolate.run("user.make(user.own)")).toEqual({
    threw: expect.stringMatching(/^agent "helper": the model mine\/m1 was made inside the isolate/),
  });
});

test("the rest of perdure can be imported: schedules, durable models, approvals", async () => {
  const isolate = await globalsIsolate(
    onTestFinished,
    `import { approvals, durable, models, schedule, schedules } from "perdure"; import { generateText } from "ai";
     export const all = [approvals, durable, models, schedule, schedules, generateText];`,
  );
  expect(isolate.run("user.all.map((one) => typeof one)")).toEqual([
    "object",
    "function",
    "function",
    "function",
    "object",
    "function",
  ]);
});

test("serve() is there by name, and says why it is not there", async () => {
  const isolate = await globalsIsolate(
    onTestFinished,
    `import { serve } from "perdure"; export const start = () => serve({ definitions: [] });`,
  );
  expect(isolate.run("user.start()")).toEqual({
    threw: expect.stringMatching(/^serve\(\) is not there inside an isolate/),
  });
});
