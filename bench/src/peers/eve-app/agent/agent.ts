// The agent of the benchmark `turn` on eve, with its default world: workflow state on the local disk. eve finds files by their place.

import { createOpenAI } from "@ai-sdk/openai";
import { defineAgent } from "eve";

const openai = createOpenAI({ baseURL: process.env["BENCH_PROVIDER_URL"] ?? "", apiKey: "bench" });

export default defineAgent({
  model: openai.chat("turn"),
  modelContextWindowTokens: 128_000,
  defaultTools: false,
});
