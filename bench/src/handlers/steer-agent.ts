// The agents of the benchmark `steer`, and the door through which an approval is answered.
// Their tools ask the bench itself, over HTTP (BENCH_DRIVER_URL): it sees when an effect begins, and says when it ends.

import { createOpenAI } from "@ai-sdk/openai";
import { agent, tool } from "@perdure/agents";
import { z } from "zod";

const openai = createOpenAI({ baseURL: process.env["BENCH_PROVIDER_URL"] ?? "", apiKey: "bench" });
const driver = process.env["BENCH_DRIVER_URL"] ?? "";

/** Ends when the bench says so. */
const work = tool({
  description: "Works for a while.",
  kind: "read",
  inputSchema: z.object({}),
  execute: async (_, { toolCallId, abortSignal }) => {
    const answer = await fetch(`${driver}/job/${toolCallId}`, { signal: abortSignal });
    return await answer.text();
  },
});

const pay = tool({
  description: "Pays.",
  approval: "always",
  inputSchema: z.object({}),
  execute: async (_, { toolCallId }) => {
    const answer = await fetch(`${driver}/effect/${toolCallId}`);
    return await answer.text();
  },
});

export const worker = agent("worker", { model: openai.chat("worker"), tools: { work }, maxSteps: 10_000 });
export const talker = agent("talker", { model: openai.chat("talker"), maxSteps: 10_000 });
export const payer = agent("payer", { model: openai.chat("payer"), tools: { pay } });
