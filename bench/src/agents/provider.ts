// Provider
// ========
// The scripted provider in a process of its own. The model's name chooses the script; the wire format is OpenAI's chat
// completions, the least that all systems under test speak.
//
//   turn     calls the tool `search`, then answers
//   parent   delegates to 50 sub-agents at once, then answers
//   child    calls the tool `look` three times, then answers; each answer takes 100 to 400 ms, and what it says
//            fits its maximum
//   brief    answers two words, 20 ms after it was asked
//
// Its own time is what passes between the arrival of a request's head and the end of its answer, by Node's own channels.

import { subscribe } from "node:diagnostics_channel";
import type { BillLine, Script, ScriptedRequest } from "perdure/testing";
import { startScriptedProvider } from "perdure/testing";
import { CALLS_A_CHILD, CHILD_OUTPUT_TOKENS, CHILDREN } from "./budget-script.ts";

export interface ProviderFigures {
  readonly requests: number;
  /** Summed over all requests. */
  readonly ownMs: number;
  readonly bill: readonly BillLine[];
}

const scripts: Readonly<Record<string, Script>> = {
  turn: (request) => {
    if (request.messages.at(-1)?.role === "tool") return "The next high water is at noon.";
    const id = `call_${request.messages.length}`;
    return { text: "I will look.", toolCalls: [{ id, name: "search", input: { query: "tides" } }] };
  },
  parent: (request) => {
    if (results(request) > 0) return "All have answered.";
    const toolCalls = Array.from({ length: CHILDREN }, (_, i) => ({
      id: `child_${i}`,
      name: "child",
      input: { task: `task ${i}` },
    }));
    return { toolCalls };
  },
  child: (request) => {
    const usage = { outputTokens: Math.min(CHILD_OUTPUT_TOKENS, request.maxOutputTokens ?? CHILD_OUTPUT_TOKENS) };
    const done = results(request);
    const firstTokenMs = childMs(request);
    if (done >= CALLS_A_CHILD - 1) return { text: "Done.", usage, firstTokenMs };
    return { toolCalls: [{ id: `look_${done}`, name: "look", input: {} }], usage, firstTokenMs };
  },
  brief: () => ({ text: "Good morning.", firstTokenMs: 20 }),
};

const results = ({ messages }: ScriptedRequest): number => messages.filter(({ role }) => role === "tool").length;

/** Of its own, so that they do not all answer at once; the same in every run. */
function childMs({ messages }: ScriptedRequest): number {
  const task = Number(/task (\d+)/.exec(messages.map(({ text }) => text).join(" "))?.[1] ?? 0);
  return 100 + ((task * 37 + messages.length * 53) % 300);
}

let requests = 0;
let ownMs = 0;
const arrivals = new WeakMap<object, number>();
subscribe("http.server.request.start", (message) => {
  arrivals.set((message as { response: object }).response, performance.now());
});
subscribe("http.server.response.finish", (message) => {
  const arrived = arrivals.get((message as { response: object }).response);
  if (arrived !== undefined) ownMs += performance.now() - arrived;
  requests += 1;
});

const provider = await startScriptedProvider({
  script: (request, seen) => {
    const script = scripts[request.modelId];
    if (script === undefined) throw new Error(`no script is called "${request.modelId}"`);
    return script(request, seen);
  },
});
process.on("message", () => {
  const figures: ProviderFigures = { requests, ownMs, bill: provider.bill.lines };
  process.send?.(figures);
});
process.once("disconnect", () => process.exit(0));
process.send?.({ url: provider.openaiBaseUrl });
