// LangGraph server
// ================
// Started as a process by langgraph.ts: `langgraph-server.ts <data> <provider url> <invoke or stream>`. `createAgent` with
// the SQLite checkpointer and `durability: "sync"`: a step's checkpoint is written before the next step begins. SQLite
// flushes every commit (FULL), so that it keeps what every system here keeps.
//
// `invoke` asks the model for whole answers; `stream` for tokens, as the other systems here do, and reads them all.

import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { ChatOpenAI } from "@langchain/openai";
import { createAgent, tool } from "langchain";
import { z } from "zod";

const [data = "", providerUrl = "", manner = ""] = process.argv.slice(2);
const checkpointer = SqliteSaver.fromConnString(join(data, "checkpoints.db"));
checkpointer.db.pragma("journal_mode = WAL");
checkpointer.db.pragma("synchronous = FULL");

const search = tool(({ query }) => JSON.stringify({ hits: [`about ${query}`] }), {
  name: "search",
  description: "Searches.",
  schema: z.object({ query: z.string() }),
});

const agent = createAgent({
  model: new ChatOpenAI({ model: "turn", apiKey: "bench", configuration: { baseURL: providerUrl } }),
  systemPrompt: "You answer questions about the tides.",
  tools: [search],
  checkpointer,
});

async function answer(request: IncomingMessage): Promise<string> {
  const { thread, text } = (await json(request)) as { thread: string; text: string };
  return manner === "stream" ? await stream(thread, text) : await invoke(thread, text);
}

async function invoke(thread: string, text: string): Promise<string> {
  const { messages } = await agent.invoke(
    { messages: [{ role: "user", content: text }] },
    { configurable: { thread_id: thread }, durability: "sync" },
  );
  return messages.at(-1)?.text ?? "";
}

async function stream(thread: string, text: string): Promise<string> {
  const parts = await agent.stream(
    { messages: [{ role: "user", content: text }] },
    { configurable: { thread_id: thread }, durability: "sync", streamMode: ["messages", "values"] },
  );
  let last = "";
  for await (const [mode, part] of parts) if (mode === "values") last = part.messages.at(-1)?.text ?? "";
  return last;
}

const server = createServer((request, response) => {
  answer(request).then(
    (text) => response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ text })),
    (error: unknown) => response.writeHead(500).end(String(error)),
  );
});
server.keepAliveTimeout = 120_000;
server.listen(0, "127.0.0.1", () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.once("SIGTERM", () => process.exit(0));
process.once("disconnect", () => process.exit(0));
