// What turns do for the first time, done once beforehand: schemas become JSON Schema, validators are compiled, prompts are made.
// Inside an isolate it happens while the code is loaded, so that the images of runs do not each hold it.

import type { RunId } from "@perdure/sdk";
import { messageInput } from "./messages.ts";
import { promptOf } from "./conversation.ts";
import { requestTokens } from "./compaction.ts";
import type { AgentSpec } from "./definition.ts";
import { prepareTools } from "./prepared-tools.ts";
import { readResult } from "./read-result.ts";
import { readOutput, responseFormat } from "./structured-output.ts";
import { childTools } from "./children.ts";
import type { TranscriptItem } from "./transcript.ts";

const USAGE = { inputTokens: 1, outputTokens: 1, usd: null, calls: 1 };

const ITEMS: readonly TranscriptItem[] = [
  { type: "message", id: "run_1" as RunId, text: "a", policy: "steer" },
  {
    type: "assistant",
    call: "c1",
    content: [
      { type: "text", text: "b" },
      { type: "tool-call", toolCallId: "call_1", toolName: "c", input: "{}" },
    ],
    finish: "tool-calls",
    usage: USAGE,
    cost: { usd: null, reason: "" },
    model: "a/b",
  },
  { type: "tool", callId: "call_1", name: "c", outcome: "ok", output: { d: 1 } },
];

/** Nothing of it is waited for, and nothing that fails is heard of: the turn itself finds out. */
export function rehearse(spec: AgentSpec): void {
  void rehearsed(spec).catch(() => undefined);
}

async function rehearsed(spec: AgentSpec): Promise<void> {
  const { instructions, resultCharsMax, options } = spec;
  void messageInput["~standard"].validate("a");
  void messageInput["~standard"].validate({ text: "a", policy: "steer" });
  requestTokens({ prompt: promptOf(ITEMS, 0, { instructions, resultCharsMax }) });
  if (options.output !== undefined) {
    await responseFormat(options.output);
    await readOutput(options.output, "{}");
  }
  const tools = await prepareTools({ ...spec.tools, ...childTools(() => []), read_result: readResult(ITEMS) });
  for (const name of tools.names) await tools.find(name)?.read("{}");
}
