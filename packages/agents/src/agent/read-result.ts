// The tool by which a model reads what an excerpt left out of a long result. The whole result is in the transcript.

import type { JSONValue } from "@ai-sdk/provider";
import { z } from "zod";
import { tool, type AnyTool } from "../tools/tool.ts";
import { textOf } from "./conversation.ts";
import type { TranscriptItem } from "./transcript.ts";

const CHARS_MAX = 16_000;

const input = z.object({
  toolCallId: z.string().describe("the tool call whose result is read"),
  from: z.number().int().min(0).describe("the first character, from 0"),
  chars: z.number().int().min(1).max(CHARS_MAX).describe("how many characters").default(CHARS_MAX),
});

export function readResult(items: readonly TranscriptItem[]): AnyTool {
  return tool({
    description: "Reads a part of an earlier tool result that was too long to be shown whole.",
    kind: "read",
    inputSchema: input,
    run: (_, { toolCallId, from, chars }): Promise<JSONValue> => {
      const found = items.findLast((item) => item.type === "tool" && item.callId === toolCallId);
      if (found?.type !== "tool") return Promise.resolve(`There is no result of a call "${toolCallId}".`);
      const text = textOf(found.output);
      return Promise.resolve({ text: text.slice(from, from + chars), from, length: text.length });
    },
  });
}
