// The agents of the tests that run in both memories: in Node, and inside isolates. So they stand in a module of their own, and
// what they need of Node in another (`stage.ts`).

import { agent, durable, service, serviceTool, subagent, tool, type AgentOptions, type Context } from "perdure";
import { z } from "zod";
import { driver } from "./agent-driver.ts";
import * as stage from "./stage.ts";

const nothing = z.object({});

const work = tool({
  kind: "read",
  inputSchema: nothing,
  run: async (ctx) => {
    await ctx.sleep("1h");
    return "done";
  },
});

const works: AgentOptions = { model: stage.model, tools: { work } };

export const worker = agent("worker", works);
export const drive = driver(worker);
/** Decides by itself about what arrives. */
export const judge = agent("judge", {
  ...works,
  onArrival: (message) => (message.text.startsWith("forget") ? "restart" : "steer"),
});
export const driveJudge = driver(judge, "driver-judge");

// Sub-agents
export const writer = agent("writer", { model: stage.model });
export const lead = agent("lead", { model: stage.model, tools: { delegate: subagent(writer) } });
export const sleeper = agent("sleeper", {
  model: stage.model,
  tools: { nap: tool({ kind: "read", inputSchema: nothing, run: (ctx) => ctx.sleep("2d") }) },
});
export const manager = agent("manager", {
  model: stage.model,
  tools: { delegate: subagent(sleeper, { background: true }) },
});

// What binds it
export const editor = agent("editor", {
  model: stage.model,
  tools: {
    publish: tool({ approval: "always", inputSchema: z.object({ title: z.string() }), execute: stage.publish }),
  },
});
export const thrifty = agent("thrifty", { model: stage.model, maxOutputTokens: 300, budget: { tokens: 350 } });
export const dated = agent("dated", { model: stage.model, output: z.object({ year: z.number() }) });
export const talker = agent("talker", { model: stage.model, context: { maxTokens: 400, keepTokens: 100 } });
export const reader = agent("reader", {
  model: stage.model,
  tools: { fetch: tool({ kind: "read", inputSchema: nothing, execute: stage.longText }) },
  context: { resultCharsMax: 100 },
});

// Hands
export const billing = service("billing", {
  charge: (_ctx: Context, { cents }: { cents: number }) => ({ charged: cents }),
});
export const handy = agent("handy", {
  model: stage.model,
  tools: {
    inspect: tool({ kind: "read", inputSchema: z.object({ word: z.string() }), execute: stage.inspect }),
    count: tool({ kind: "read", inputSchema: z.object({ to: z.number() }), execute: stage.count }),
    hang: tool({ kind: "read", inputSchema: nothing, execute: stage.hang }),
    double: tool({ kind: "read", inputSchema: z.object({ n: z.number() }), execute: ({ n }) => n * 2 }),
    charge: serviceTool(billing, "charge", { inputSchema: z.object({ cents: z.number() }) }),
  },
});

/** Its tools are a server's. */
export const connected = agent("connected", { model: stage.model, tools: [stage.notes] });

/** The AI SDK's own interface, in any handler. */
export const plain = service("plain", {
  ask: async (ctx: Context, text: string) => {
    const model = durable(ctx, stage.model, { stream: "tokens" });
    const { content } = await model.doGenerate({ prompt: [{ role: "user", content: [{ type: "text", text }] }] });
    return content;
  },
});
