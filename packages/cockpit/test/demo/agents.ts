// The demo's agents: one that researches and has a writer, one that helps customers. Their model answers from a script.

import { agent, subagent, tool } from "perdure";
import { scriptedModel, type Script, type ScriptedModel } from "perdure/testing";
import { z } from "zod";
import { REPORT, TURNS } from "./words.ts";

const script: Script = ({ messages }) => {
  const asked = messages.findLastIndex(({ role }) => role === "user");
  const text = messages[asked]?.text ?? "";
  const turn = Object.entries(TURNS).find(([question]) => text.includes(question))?.[1];
  const answered = messages.slice(asked).filter(({ role }) => role === "assistant").length;
  return turn?.[answered] ?? { text: REPORT, tokensPerSecond: 120, usage: { inputTokens: 2_300, outputTokens: 520 } };
};

const delay = (ms: number, callback: () => void): (() => void) => {
  const timer = setTimeout(callback, ms);
  return () => clearTimeout(timer);
};

/** Under the name of one whose price is known. */
const model: ScriptedModel = scriptedModel(script, { provider: "openai", modelId: "gpt-5-mini", delay });

const looking = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

export const writer = agent("writer", {
  description: "Writes reports from findings and their sources.",
  model,
  instructions: "You write reports.",
});

export const researcher = agent("researcher", {
  description: "Answers questions from documents, and publishes reports.",
  model,
  instructions: "Search, read, have a report written, publish it.",
  tools: {
    search: tool({
      description: "Searches the documents.",
      kind: "read",
      inputSchema: z.object({ query: z.string() }),
      execute: async ({ query }) => {
        await looking(420);
        return { hits: [`notes/${query.split(" ")[0]}.md:41`, "papers/dendrites.md:12", "reports/cost-2025.md:88"] };
      },
    }),
    read_page: tool({
      description: "Reads pages.",
      kind: "read",
      inputSchema: z.object({ pages: z.array(z.string()) }),
      execute: async ({ pages }) => {
        await looking(260);
        return { read: pages.length };
      },
    }),
    delegate: subagent(writer),
    publish: tool({
      description: "Publishes a report for everybody to read.",
      approval: "always",
      approvers: ["ada", "grace"],
      inputSchema: z.object({ title: z.string(), markdown: z.string() }),
      execute: ({ title }) => ({ published: title }),
    }),
  },
  budget: { tokens: 120_000, usd: 2 },
});

export const support = agent("support", {
  description: "Helps customers with their orders.",
  model,
  instructions: "Be kind and brief.",
  tools: {
    order: tool({
      description: "Looks an order up.",
      kind: "read",
      inputSchema: z.object({ id: z.string() }),
      execute: async ({ id }) => {
        await looking(180);
        return { id, total: 129, delivered: "2026-03-10", photo: true };
      },
    }),
    refund: tool({
      description: "Pays an order back.",
      approval: (input) => (input as { readonly amount: number }).amount > 100,
      inputSchema: z.object({ order: z.string(), amount: z.number(), reason: z.string() }),
      execute: ({ order, amount }) => ({ order, paid: amount }),
    }),
  },
  budget: { tokens: 40_000 },
});
