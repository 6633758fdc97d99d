// The agent that the benchmark `turn` talks to: one tool that only looks, one model behind BENCH_PROVIDER_URL.

import { createOpenAI } from "@ai-sdk/openai";
import { agent, tool } from "@perdure/agents";
import { z } from "zod";

const openai = createOpenAI({ baseURL: process.env["BENCH_PROVIDER_URL"] ?? "", apiKey: "bench" });

const search = tool({
  description: "Searches.",
  kind: "read",
  inputSchema: z.object({ query: z.string() }),
  execute: ({ query }) => ({ hits: [`about ${query}`] }),
});

export const guide = agent("guide", {
  model: openai.chat("turn"),
  instructions: "You answer questions about the tides.",
  tools: { search },
});
