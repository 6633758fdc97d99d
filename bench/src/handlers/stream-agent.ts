// The agent that the benchmark `stream` listens to: it says what its model says.

import { createOpenAI } from "@ai-sdk/openai";
import { agent } from "@perdure/agents";

const openai = createOpenAI({ baseURL: process.env["BENCH_PROVIDER_URL"] ?? "", apiKey: "bench" });

export const streamer = agent("streamer", { model: openai.chat("stamped") });
