// The agents of the benchmark `budget`: one that delegates to 50 at once, under one budget, and what looks at the budget and
// raises it.

import { createOpenAI } from "@ai-sdk/openai";
import { agent, budgets, subagent, tool } from "@perdure/agents";
import { service } from "perdure";
import { z } from "zod";

const openai = createOpenAI({ baseURL: process.env["BENCH_PROVIDER_URL"] ?? "", apiKey: "bench" });
const tokens = Number(process.env["BENCH_BUDGET_TOKENS"]);
const outputTokens = Number(process.env["BENCH_OUTPUT_TOKENS"]);

const look = tool({
  description: "Looks.",
  kind: "read",
  inputSchema: z.object({}),
  execute: () => "Nothing to see.",
});

export const child = agent("child", {
  model: openai.chat("child"),
  instructions: "You look three times.",
  tools: { look },
  maxOutputTokens: outputTokens,
});

export const parent = agent("parent", {
  model: openai.chat("parent"),
  instructions: "You delegate.",
  tools: { child: subagent(child) },
  maxOutputTokens: 2_000,
  budget: { tokens },
});

export const purse = service("purse", {
  status: async (ctx, { budget }: { budget: string }) => await ctx.call(budgets, budget).status(),
  raise: async (ctx, { budget, tokens: more }: { budget: string; tokens: number }) =>
    await ctx.call(budgets, budget).raise({ tokens: more }),
});
