import type { RunId } from "@perdure/sdk";
import { describe, expect, test } from "vitest";
import type { AgentEvent } from "../agent/events.ts";
import { AnswerChunks } from "./answer-chunks.ts";
import type { AgentUIChunk } from "./types.ts";

const M1 = "run_1m1" as RunId;
const M2 = "run_1m2" as RunId;
const USAGE = { inputTokens: 1, outputTokens: 1, usd: null, calls: 1 };

type Part = Extract<AgentEvent, { type: "part" }>["part"];
const seen = (id: RunId, more: object = {}): AgentEvent => ({
  type: "message",
  id,
  text: "hi",
  policy: "steer",
  ...more,
});
const turnStart = (turn: RunId): AgentEvent => ({ type: "turn-start", turn });
const callStart = (call: string, attempt = "1.1"): AgentEvent => ({ type: "call-start", call, attempt, model: "p/m" });
const part = (call: string, said: Part, attempt = "1.1"): AgentEvent => ({ type: "part", call, attempt, part: said });
const callEnd = (call: string, outcome: "settled" | "interrupted" | "failed", error?: string): AgentEvent => ({
  type: "call-end",
  call,
  attempt: "1.1",
  outcome,
  ...(error === undefined ? {} : { error }),
});
const turnEnd = (
  turn: RunId,
  reason: Extract<AgentEvent, { type: "turn-end" }>["reason"],
  error?: string,
): AgentEvent => ({
  type: "turn-end",
  turn,
  reason,
  usage: USAGE,
  ...(error === undefined ? {} : { error }),
});
const text = (call: string, id: string, said: string): AgentEvent[] => [
  part(call, { type: "text-start", id }),
  part(call, { type: "text-delta", id, delta: said }),
  part(call, { type: "text-end", id }),
];

function answer(events: readonly AgentEvent[], endsWithNext = true): AgentUIChunk[] {
  const chunks = new AnswerChunks({ run: M1, endsWithNext });
  return [...chunks.start(), ...events.flatMap((event) => chunks.feed(event))];
}

/** Without what every answer has, shortened to what a reader would say of it. */
function told(chunks: readonly AgentUIChunk[]): string[] {
  return chunks.flatMap((chunk) => {
    switch (chunk.type) {
      case "start":
      case "data-receipt":
      case "message-metadata":
        return [];
      case "text-start":
      case "text-end":
        return [`${chunk.type} ${chunk.id}`];
      case "text-delta":
        return [`${chunk.id}: ${chunk.delta}`];
      case "finish":
        return [`finish ${chunk.finishReason} ${chunk.messageMetadata?.reason}`];
      default:
        return [chunk.type];
    }
  });
}

const BEGUN = [turnStart(M1), seen(M1)];

describe("an answer", () => {
  test("waits for its message, and ends with its turn", () => {
    const other = [turnStart(M2), seen(M2), callStart("c1"), ...text("c1", "t", "no"), turnEnd(M2, "answered")];
    const events = [...other, ...BEGUN, callStart("c3"), ...text("c3", "t", "yes"), callEnd("c3", "settled")];
    expect(told(answer([...events, turnEnd(M1, "answered"), turnStart(M2), seen(M2)]))).toEqual([
      "start-step",
      "text-start c3.1.t",
      "c3.1.t: yes",
      "text-end c3.1.t",
      "finish-step",
      "finish stop answered",
    ]);
  });

  test("of a message that a killed turn had seen goes on with the turn of its own", () => {
    const chunks = answer([turnStart(M1), callStart("c1"), ...text("c1", "t", "yes"), turnEnd(M1, "answered")]);
    expect(told(chunks)).toContain("c1.1.t: yes");
  });

  test("has nothing of a later message of the chat, and all of what comes from elsewhere", () => {
    const chat = seen(M2, { data: { chat: { id: "m2" } } });
    const rest = [callStart("c2"), ...text("c2", "t", "more"), callEnd("c2", "settled"), turnEnd(M1, "answered")];
    expect(told(answer([...BEGUN, chat, ...rest]))).toEqual(["finish other continued"]);
    expect(told(answer([...BEGUN, seen(M2), ...rest]))).toContain("c2.1.t: more");
    const resumed = answer([...BEGUN, chat, ...rest], false);
    expect(told(resumed)).toContain("c2.1.t: more");
    expect(resumed).toContainEqual({ type: "steering-message", id: "m2", parts: [{ type: "text", text: "hi" }] });
  });

  test.each([
    ["stopped", ["abort", "finish interrupted stopped"]],
    ["cancelled", ["abort", "finish interrupted cancelled"]],
    ["failed", ["error"]],
    ["steps", ["finish tool-calls steps"]],
    ["restarted", ["finish stop restarted"]],
  ] as const)("that ends %s says so", (reason, end) => {
    expect(told(answer([...BEGUN, turnEnd(M1, reason, "why")]))).toEqual(end);
  });

  test.each(["start", "later"])("closes what is open where its run ends without a word (%s)", (when) => {
    const chunks = new AnswerChunks({ run: M1, endsWithNext: true });
    const open = [...BEGUN, callStart("c1"), part("c1", { type: "text-start", id: "t" })];
    const before = (when === "start" ? [] : open).flatMap((event) => chunks.feed(event));
    const killed = chunks.end({ failure: { code: 409, message: "killed" } });
    expect(told([...before, ...killed])).toEqual(
      when === "start"
        ? ["abort", "finish interrupted cancelled"]
        : ["start-step", "text-start c1.1.t", "text-end c1.1.t", "abort", "finish interrupted cancelled"],
    );
    expect(chunks.isOver).toBe(true);
    expect(chunks.end({ answer: undefined })).toEqual([]);
  });

  test("whose events are gone is told by its text", () => {
    const chunks = new AnswerChunks({ run: M1, endsWithNext: true });
    const said = { text: "yes", reason: "answered", usage: USAGE, turn: M2 } as const;
    expect(told(chunks.end({ answer: said }))).toContain(`${M2}.text: yes`);
    const failed = new AnswerChunks({ run: M1, endsWithNext: true });
    expect(failed.end({ failure: { code: 500, message: "broken" } }).at(-1)).toEqual({
      type: "error",
      errorText: "broken",
    });
  });
});

describe("a try that was cut", () => {
  const cut = [
    callStart("c1"),
    part("c1", { type: "text-start", id: "t" }),
    part("c1", { type: "text-delta", id: "t", delta: "ha" }),
  ];

  test("is closed, taken away and marked when the next one begins, whose parts have other ids", () => {
    const chunks = answer([...BEGUN, ...cut, callStart("c1"), ...text("c1", "t", "half"), callEnd("c1", "settled")]);
    expect(told(chunks)).toEqual([
      "start-step",
      "text-start c1.1.t",
      "c1.1.t: ha",
      "text-end c1.1.t",
      "reset-step",
      "data-attempt-failed",
      "text-start c1.2.t",
      "c1.2.t: half",
      "text-end c1.2.t",
      "finish-step",
    ]);
  });

  test("is closed when it fails, and says why", () => {
    const chunks = answer([...BEGUN, ...cut, callEnd("c1", "failed", "overloaded")]);
    expect(told(chunks).slice(-2)).toEqual(["text-end c1.1.t", "data-attempt-failed"]);
    expect(chunks.at(-1)).toMatchObject({ id: "c1", data: { attempts: 1, error: "overloaded" } });
    const third = answer([
      ...BEGUN,
      ...cut,
      callEnd("c1", "failed"),
      callStart("c1"),
      callEnd("c1", "failed", "again"),
    ]);
    expect(third.at(-1)).toMatchObject({ id: "c1", data: { attempts: 2, error: "again" } });
  });

  test("leaves no call of a tool behind that was never made", () => {
    const tool = [
      part("c1", { type: "tool-input-start", id: "k1", toolName: "dig" }),
      part("c1", { type: "tool-call", toolCallId: "k2", toolName: "dig", input: "{}" }),
    ];
    const interrupted = answer([...BEGUN, callStart("c1"), ...tool, callEnd("c1", "interrupted")]);
    expect(interrupted).toContainEqual(expect.objectContaining({ type: "tool-input-error", toolCallId: "k1" }));
    expect(interrupted).toContainEqual(expect.objectContaining({ type: "tool-output-error", toolCallId: "k2" }));
    expect(told(interrupted).slice(-2)).toEqual(["data-interrupted", "finish-step"]);
    const stopped = answer([...BEGUN, callStart("c1"), ...tool, turnEnd(M1, "cancelled")]);
    expect(stopped).toContainEqual(expect.objectContaining({ type: "tool-input-error", toolCallId: "k1" }));
  });
});

describe("tools", () => {
  const call = part("c1", { type: "tool-call", toolCallId: "k", toolName: "dig", input: '{"deep":1}' });
  const begun = [...BEGUN, callStart("c1"), call, callEnd("c1", "settled")];
  const end = (outcome: "ok" | "error" | "denied" | "interrupted", output: string): AgentEvent => ({
    type: "tool-end",
    callId: "k",
    name: "dig",
    outcome,
    output,
  });

  test("have an input and an output", () => {
    const chunks = answer([...begun, end("ok", "gold")]);
    expect(chunks).toContainEqual({
      type: "tool-input-available",
      toolCallId: "k",
      toolName: "dig",
      input: { deep: 1 },
    });
    expect(chunks.at(-1)).toEqual({ type: "tool-output-available", toolCallId: "k", output: "gold" });
  });

  test.each(["error", "denied", "interrupted"] as const)("that end with %s say why", (outcome) => {
    expect(answer([...begun, end(outcome, "why")]).at(-1)).toEqual({
      type: "tool-output-error",
      toolCallId: "k",
      errorText: "why",
    });
  });

  test("whose input is not JSON say so", () => {
    const broken = part("c1", { type: "tool-call", toolCallId: "k", toolName: "dig", input: "{" });
    expect(answer([...BEGUN, callStart("c1"), broken]).at(-1)).toMatchObject({ type: "tool-input-error", input: "{" });
  });

  test("of a call that the reader does not know are told with it", () => {
    const chunks = answer([...BEGUN, end("ok", "gold")]).slice(-2);
    expect(chunks.map(({ type }) => type)).toEqual(["tool-input-available", "tool-output-available"]);
  });

  test("of the provider have their results from it", () => {
    const result: Part = { type: "tool-result", toolCallId: "w", toolName: "web", result: { found: 1 } };
    const search: Part = { type: "tool-call", toolCallId: "w", toolName: "web", input: "{}", providerExecuted: true };
    const chunks = answer([...BEGUN, callStart("c1"), part("c1", search), part("c1", result)]).slice(-2);
    expect(chunks).toEqual([
      { type: "tool-input-available", toolCallId: "w", toolName: "web", input: {}, providerExecuted: true },
      { type: "tool-output-available", toolCallId: "w", output: { found: 1 }, providerExecuted: true },
    ]);
  });

  test("that need a person show the question, then the answer in its place", () => {
    const asked: AgentEvent = {
      type: "approval-asked",
      approval: "apr",
      callId: "k",
      title: "Dig?",
      tool: "dig",
      input: {},
    };
    const answered: AgentEvent = {
      type: "approval-answered",
      approval: "apr",
      callId: "k",
      decision: "approved",
      by: "ada",
    };
    const chunks = answer([...begun, asked, answered]).filter(({ type }) => type === "data-approval");
    expect(chunks).toMatchObject([
      { id: "apr", data: { title: "Dig?", state: "open" } },
      { id: "apr", data: { title: "Dig?", state: "approved", by: "ada" } },
    ]);
  });
});

test("what else happens is told as data", () => {
  const events: AgentEvent[] = [
    { type: "tool-progress", callId: "k", data: { done: 1 } },
    { type: "child", child: "kid", agent: "a", key: "s", run: M2, callId: "k" },
    { type: "budget-soft", budgets: ["a/s"] },
    { type: "compaction", upTo: 7 },
    { type: "restart" },
  ];
  expect(told(answer([...BEGUN, ...events]))).toEqual([
    "data-tool-progress",
    "data-child",
    "data-budget",
    "data-compaction",
    "data-restart",
  ]);
});

test("sources and files are told as they are", () => {
  const parts: Part[] = [
    { type: "source", sourceType: "url", id: "1", url: "https://a.example", title: "A" },
    { type: "source", sourceType: "document", id: "2", mediaType: "text/plain", title: "B", filename: "b.txt" },
    { type: "file", mediaType: "image/png", data: { type: "data", data: "AAAA" } },
    { type: "file", mediaType: "image/png", data: { type: "url", url: new URL("https://a.example/i.png") } },
  ];
  const chunks = answer([...BEGUN, callStart("c1"), ...parts.map((said) => part("c1", said))]).slice(-4);
  expect(chunks).toEqual([
    { type: "source-url", sourceId: "1", url: "https://a.example", title: "A" },
    { type: "source-document", sourceId: "2", mediaType: "text/plain", title: "B", filename: "b.txt" },
    { type: "file", mediaType: "image/png", url: "data:image/png;base64,AAAA" },
    { type: "file", mediaType: "image/png", url: "https://a.example/i.png" },
  ]);
});
