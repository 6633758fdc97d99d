import type { LanguageModelV4Content } from "@ai-sdk/provider";
import type { RunId } from "@perdure/sdk";
import { describe, expect, test } from "vitest";
import type { AssistantItem, MessageItem, TranscriptItem } from "../agent/transcript.ts";
import { uiMessagesOf } from "./history.ts";

const M1 = "run_1m1" as RunId;
const M2 = "run_1m2" as RunId;

const message = (id: RunId, text: string, more: Partial<MessageItem> = {}): MessageItem => ({
  type: "message",
  id,
  text,
  policy: "steer",
  ...more,
});

const said = (content: readonly LanguageModelV4Content[], more: Partial<AssistantItem> = {}): AssistantItem => ({
  type: "assistant",
  call: "c1",
  content,
  finish: "stop",
  usage: { inputTokens: 0, outputTokens: 0, usd: null, calls: 1 },
  cost: { usd: null } as unknown as AssistantItem["cost"],
  model: "p/m",
  ...more,
});

const call = (toolCallId: string, input = '{"deep":1}'): LanguageModelV4Content => ({
  type: "tool-call",
  toolCallId,
  toolName: "dig",
  input,
});
const text = (words: string): LanguageModelV4Content => ({ type: "text", text: words });

describe("a transcript as UI messages", () => {
  test("has each message of the user with its answer, under the ids of the streams", () => {
    const items: TranscriptItem[] = [
      message(M1, "Tides?", { data: { chat: { id: "m1" } } }),
      said([{ type: "reasoning", text: "Hm." }, text("Twice a day.")]),
      message(M2, "Winds?", { from: "ada" }),
      said([text("Often.")]),
    ];
    const messages = uiMessagesOf(items);
    expect(messages.map(({ id, role }) => [id, role])).toEqual([
      ["m1", "user"],
      ["run_1m1.answer", "assistant"],
      [M2, "user"],
      ["run_1m2.answer", "assistant"],
    ]);
    expect(messages[1]?.parts).toEqual([
      { type: "step-start" },
      { type: "reasoning", text: "Hm.", state: "done" },
      { type: "text", text: "Twice a day.", state: "done" },
    ]);
    expect(messages[2]?.metadata).toEqual({ run: M2, policy: "steer", from: "ada" });
  });

  test("has tools with how they ended", () => {
    const items: TranscriptItem[] = [
      message(M1, "Dig."),
      said([call("ok"), call("no"), call("open"), call("odd", "{")]),
      { type: "tool", callId: "ok", name: "dig", outcome: "ok", output: { gold: 1 } },
      { type: "decision", approval: "apr", callId: "no", decision: "rejected", by: "ada" },
      { type: "tool", callId: "no", name: "dig", outcome: "denied", output: "ada said no" },
    ];
    const parts = uiMessagesOf(items)[1]?.parts.filter(({ type }) => type !== "step-start");
    expect(parts).toMatchObject([
      { type: "tool-dig", toolCallId: "ok", state: "output-available", input: { deep: 1 }, output: { gold: 1 } },
      { type: "tool-dig", toolCallId: "no", state: "output-error", errorText: "ada said no" },
      { type: "data-approval", id: "apr", data: { state: "rejected", by: "ada", tool: "dig" } },
      { type: "tool-dig", toolCallId: "open", state: "input-available" },
      { type: "tool-dig", toolCallId: "odd", input: "{" },
    ]);
  });

  test("has the results of the provider's own tools", () => {
    const parts = uiMessagesOf([
      message(M1, "Search."),
      said([
        { type: "tool-call", toolCallId: "w", toolName: "web", input: "{}", providerExecuted: true },
        { type: "tool-result", toolCallId: "w", toolName: "web", result: { found: 1 } },
      ]),
    ])[1]?.parts;
    expect(parts?.[1]).toMatchObject({ type: "tool-web", state: "output-available", output: { found: 1 } });
  });

  test("marks what was cut short, and makes no call of it", () => {
    const parts = uiMessagesOf([message(M1, "Dig."), said([text("I wi"), call("k")], { partial: true })])[1]?.parts;
    expect(parts?.map(({ type }) => type)).toEqual(["step-start", "text", "tool-dig", "data-interrupted"]);
    expect(parts?.[2]).toMatchObject({ state: "output-error" });
  });

  test("has what sub-agents and the runtime tell inside of the answer", () => {
    const notice = { child: "kid", agent: "a", run: M2, outcome: "answered" } as const;
    const messages = uiMessagesOf([
      message(M1, "Dig."),
      message(M2, "found gold", { notice, from: "kid" }),
      message(M1, "Answer again.", { from: "the runtime" }),
      said([text("Gold.")]),
      { type: "compaction", summary: "s", upTo: 2, usage: { inputTokens: 0, outputTokens: 0, usd: null, calls: 1 } },
      { type: "restart", from: 1 },
    ]);
    expect(messages).toHaveLength(2);
    expect(messages[1]?.parts.map(({ type }) => type)).toEqual([
      "steering-message",
      "steering-message",
      "step-start",
      "text",
      "data-compaction",
      "data-restart",
    ]);
  });

  test("that begins in the middle has an answer without its message", () => {
    expect(uiMessagesOf([said([text("Gold.")])], 7)).toMatchObject([{ id: "from-7", role: "assistant" }]);
  });
});
