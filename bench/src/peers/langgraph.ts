// LangGraph.js: an agent of `langchain`, its state in SQLite after every step, behind a bare HTTP server.

import { cpuMs } from "../cpu-time.ts";
import { removeDirectory, startModule, temporaryDirectory } from "../children.ts";
import { post, type RunningTalker, type Talker } from "./talker.ts";

let threads = 0;

export const langgraph: Talker = { name: "langgraph", start: (providerUrl) => start(providerUrl, "invoke") };
export const langgraphStreaming: Talker = {
  name: "langgraph_streaming",
  start: (providerUrl) => start(providerUrl, "stream"),
};

async function start(providerUrl: string, manner: "invoke" | "stream"): Promise<RunningTalker> {
  const data = temporaryDirectory("langgraph");
  const server = await startModule<{ port: number }>("langgraph", new URL("./langgraph-server.ts", import.meta.url), [
    data,
    providerUrl,
    manner,
  ]);
  const url = `http://127.0.0.1:${server.ready.port}`;
  return {
    cpuMs: () => cpuMs(server),
    open: async () => {
      threads += 1;
      const thread = `t${threads}`;
      return {
        say: async (text) => ((await post(url, { thread, text })) as { text: string }).text,
        close: () => undefined,
      };
    },
    stop: async () => {
      await server.stop();
      removeDirectory(data);
    },
  };
}
