import { describe, expect, test } from "vitest";
import type { PendingMessage } from "@perdure/protocol";
import { at, runId } from "../../testing/samples.ts";
import { NO_ACTIVITY, withEvents, type Activity } from "./activity.ts";
import { conversationOf, type AnswerBlock, type Block, type ToolPart } from "./conversation.ts";
import type { AssistantItem, Content, SessionEvent, Stored, TranscriptItem } from "./items.ts";

const USAGE = { inputTokens: 1, outputTokens: 1, usd: null, calls: 1 };

const message = (number: number): TranscriptItem => ({
  type: "message",
  id: runId(number),
  text: `message ${number}`,
  policy: "steer",
});
const says = (call: string, ...content: readonly Content[]): AssistantItem => ({
  type: "assistant",
  call,
  content,
  finish: "stop",
  usage: USAGE,
  model: "scripted/model",
});
const text = (words: string): Content => ({ type: "text", text: words });
const calls = (id: string, toolName = "search"): Content => ({
  type: "tool-call",
  toolCallId: id,
  toolName,
  input: '{"query":"x"}',
});
const result = (callId: string, output: string): TranscriptItem => ({
  type: "tool",
  callId,
  name: "search",
  outcome: "ok",
  output,
});

function stored(items: readonly TranscriptItem[], first = 0): readonly Stored<TranscriptItem>[] {
  return items.map((item, index) => ({ offset: first + index, at: at((first + index) * 10), item }));
}

function told(...events: readonly SessionEvent[]): Activity {
  return withEvents(
    NO_ACTIVITY,
    events.map((item, offset) => ({ offset, at: at(offset * 10), item })),
  );
}

function blocksOf(
  items: readonly TranscriptItem[],
  { activity = NO_ACTIVITY, pending = [] as readonly PendingMessage[], isAtWork = false, first = 0 } = {},
): readonly Block[] {
  return conversationOf({ items: stored(items, first), activity, pending, isAtWork });
}

const kinds = (blocks: readonly Block[]): readonly string[] => blocks.map(({ kind }) => kind);

function toolsIn(blocks: readonly Block[]): readonly ToolPart[] {
  return blocks.flatMap((block) => (block.kind === "answer" ? block.parts : [])).filter((part) => part.kind === "tool");
}

describe("the conversation", () => {
  test("B1: each item is in one block, and a result stands with its call", () => {
    const blocks = blocksOf([
      message(1),
      says("c1", text("Looking."), calls("t1")),
      result("t1", "found"),
      says("c2", text("Done.")),
    ]);
    expect(kinds(blocks)).toEqual(["message", "answer", "answer"]);
    expect(toolsIn(blocks)).toMatchObject([{ id: "t1", state: "ok", output: "found", input: { query: "x" } }]);
  });

  test("B1: a result belongs to the call before it, also where a provider counts its calls anew", () => {
    const blocks = blocksOf(
      [message(1), says("c1", calls("call_1")), result("call_1", "first"), says("c2", calls("call_1"))],
      { isAtWork: true },
    );
    expect(toolsIn(blocks)).toMatchObject([
      { state: "ok", output: "first" },
      { state: "running", output: undefined },
    ]);
  });

  test("a call without a result runs while the turn works, and has none afterwards", () => {
    const items = [message(1), says("c1", calls("t1")), message(2), says("c2", calls("t2"))];
    expect(toolsIn(blocksOf(items, { isAtWork: true })).map(({ state }) => state)).toEqual(["none", "running"]);
    expect(toolsIn(blocksOf(items)).map(({ state }) => state)).toEqual(["none", "none"]);
  });

  test("an open question stands with its call, until there is a decision", () => {
    const asked: SessionEvent = { type: "approval-asked", approval: "apr_1", callId: "t1", title: "May I?" };
    const items = [message(1), says("c1", calls("t1"))];
    const [asks] = toolsIn(blocksOf(items, { activity: told(asked), isAtWork: true }));
    expect(asks).toMatchObject({ state: "asks", approval: "apr_1", decision: undefined });
    const decision: TranscriptItem = {
      type: "decision",
      approval: "apr_1",
      callId: "t1",
      decision: "approved",
      by: "ada",
    };
    const [decided] = toolsIn(blocksOf([...items, decision], { activity: told(asked), isAtWork: true }));
    expect(decided).toMatchObject({ state: "running", decision: { by: "ada" } });
  });

  test("B2: what is being said becomes the answer in the same block", () => {
    const speaking = told(
      { type: "turn-start", turn: runId(1) },
      { type: "call-start", call: "c1", attempt: "1.1", model: "m" },
      { type: "part", call: "c1", attempt: "1.1", part: { type: "text-delta", id: "0", delta: "Hel" } },
      { type: "part", call: "c1", attempt: "1.1", part: { type: "text-delta", id: "0", delta: "lo" } },
    );
    const live = blocksOf([message(1)], { activity: speaking });
    expect(live.at(-1)).toMatchObject({ kind: "answer", state: "speaking", offset: null, parts: [{ text: "Hello" }] });
    const settled = blocksOf([message(1), says("c1", text("Hello"))], { activity: speaking });
    expect(settled).toHaveLength(2);
    expect(settled.at(-1)?.key).toBe(live.at(-1)?.key);
  });

  test("B3: what was called off is marked, and what came after it is not", () => {
    const blocks = blocksOf([message(1), says("c1", text("a")), { type: "restart", from: 0 }, message(2)]);
    const hidden = blocks.map((block) => ("isHidden" in block ? block.isHidden : null));
    expect(kinds(blocks)).toEqual(["message", "answer", "restart", "message"]);
    expect(hidden).toEqual([true, true, null, false]);
  });

  test("B4: what nobody has seen comes last, and once it is seen it is pending no more", () => {
    const pending: readonly PendingMessage[] = [
      { runId: runId(2), text: "later", policy: "queue", from: null, at: at(99) },
    ];
    expect(kinds(blocksOf([message(1)], { pending }))).toEqual(["message", "pending"]);
    expect(kinds(blocksOf([message(1), message(2)], { pending }))).toEqual(["message", "message"]);
  });

  test("a compaction says how many items it tells of that no summary before it told of", () => {
    const summary = (upTo: number): TranscriptItem => ({ type: "compaction", summary: "in short", upTo });
    const blocks = blocksOf([message(1), message(2), message(3), summary(2), message(4), message(5), summary(5)]);
    expect(blocks.flatMap((block) => (block.kind === "compaction" ? [block.dropped] : []))).toEqual([2, 3]);
  });

  test("the end of a turn stands behind what was said by then; ends from before the page are left out", () => {
    const end = (offset: number, ms: number): Activity["ends"][number] => ({
      offset,
      at: at(ms),
      item: { type: "turn-end", turn: runId(1), reason: "answered", usage: USAGE },
    });
    const activity: Activity = { ...NO_ACTIVITY, ends: [end(1, 15), end(2, 115), end(3, 135)] };
    const blocks = blocksOf([message(1), says("c1", text("a")), message(2), says("c2", text("b"))], {
      activity,
      first: 10,
    });
    expect(kinds(blocks)).toEqual(["message", "answer", "turn-end", "message", "answer", "turn-end"]);
  });

  test("an item that this page does not know is shown as it is", () => {
    expect(blocksOf([{ type: "unknown", json: { type: "novelty" } }])).toMatchObject([
      { kind: "unknown", json: { type: "novelty" } },
    ]);
  });

  test("an answer that was cut says so, and its calls were not made", () => {
    const [, cut] = blocksOf([message(1), { ...says("c1", text("Hel"), calls("t1")), partial: true }], {
      isAtWork: true,
    });
    expect((cut as AnswerBlock).state).toBe("partial");
    expect(toolsIn([cut as Block]).map(({ state }) => state)).toEqual(["none"]);
  });
});
