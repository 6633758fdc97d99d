// A research agent, whole: it searches, reads, has a report written, and asks a person before it publishes
// =======================================================================================================
//   you ⇄ researcher ─┬─▶ search, read_page      as often as it likes
//                     ├─▶ delegate ─▶ writer     a sub-agent with a session of its own, under the same budget
//                     └─▶ publish                when a person has said yes
//
// Kill the process anywhere and start it again: it goes on where it was, and pays for no settled model call twice.

import { agent, subagent, tool } from "perdure";
import { z } from "zod";

import * as desk from "./desk.ts";
import { RESEARCHER, WRITER } from "./instructions.ts";

export const writer = agent("writer", {
  description: "Writes a report in Markdown from findings and their sources, and from nothing else.",
  model: desk.model,
  memory: desk.MEMORY,
  instructions: WRITER,
  maxOutputTokens: 4_000,
});

export const researcher = agent("researcher", {
  description: "Answers questions from a folder of documents, and publishes cited reports.",
  model: desk.model,
  memory: desk.MEMORY,
  instructions: RESEARCHER,
  tools: {
    search: tool({
      description: "Searches the documents by words, and gives the ids of the best pages.",
      kind: "read",
      inputSchema: z.object({ query: z.string().min(1).max(500) }),
      execute: desk.search,
      retry: desk.RETRY,
    }),
    read_page: tool({
      description: "Reads pages by their ids (path:line), as search gives them.",
      kind: "read",
      inputSchema: z.object({ pages: z.array(z.string()).min(1).max(12) }),
      execute: desk.readPages,
      retry: desk.RETRY,
    }),
    delegate: subagent(writer),
    publish: tool({
      description: "Publishes a report for everybody to read. A person is asked first.",
      kind: "write",
      approval: "always",
      inputSchema: z.object({ title: z.string().min(1).max(200), markdown: z.string().min(1) }),
      execute: desk.publish,
      retry: desk.RETRY,
    }),
  },
  budget: { tokens: desk.BUDGET_TOKENS, usd: 2, unknownPrice: "allow" },
  maxOutputTokens: 4_000,
  // What says nothing of its own policy is judged by the model: a change of course steers, "forget that, …" begins anew.
  onArrival: ({ text, policy }, { ctx, task }) =>
    policy ?? ctx.step("relevance", (info) => desk.relevance(task, text, info)),
});
