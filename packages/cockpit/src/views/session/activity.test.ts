import { describe, expect, test } from "vitest";
import { at, runId } from "../../testing/samples.ts";
import { NO_ACTIVITY, withEvents, type Activity } from "./activity.ts";
import type { SessionEvent, Stored, StreamPart } from "./items.ts";

const stored = (events: readonly SessionEvent[]): readonly Stored<SessionEvent>[] =>
  events.map((item, offset) => ({ offset, at: at(offset), item }));
const after = (...events: readonly SessionEvent[]): Activity => withEvents(NO_ACTIVITY, stored(events));

const BEGUN: SessionEvent = { type: "turn-start", turn: runId(1) };
const tries = (attempt: string): SessionEvent => ({ type: "call-start", call: "c", attempt, model: "m" });
const part = (attempt: string, piece: StreamPart): SessionEvent => ({ type: "part", call: "c", attempt, part: piece });
const words = (delta: string): StreamPart => ({ type: "text-delta", id: "0", delta });

describe("what a session does now", () => {
  test("A1: the newest try counts, and what comes late of an earlier one is not taken", () => {
    const { calls } = after(
      BEGUN,
      tries("1.1"),
      part("1.1", words("old")),
      { type: "call-end", call: "c", attempt: "1.1", outcome: "failed", error: "overloaded" },
      tries("1.2"),
      part("1.1", words(" late")),
      part("1.2", words("new")),
    );
    expect(calls).toMatchObject([{ state: "speaking", superseded: 1, error: null, parts: [{ text: "new" }] }]);
  });

  test("A2: a settled call is kept until its turn ends", () => {
    const settled: SessionEvent = { type: "call-end", call: "c", attempt: "1", outcome: "settled" };
    const before = after(BEGUN, tries("1"), part("1", words("Hi")), settled);
    expect(before.calls).toMatchObject([{ state: "settled" }]);
    expect(before.turn).toBe(runId(1));
    const usage = { inputTokens: 1, outputTokens: 1, usd: null, calls: 1 };
    const ended = withEvents(before, stored([{ type: "turn-end", turn: runId(1), reason: "answered", usage }]));
    expect([ended.turn, ended.calls, ended.ends.length]).toEqual([null, [], 1]);
  });

  test("A3: what has not changed is the same object", () => {
    const before = after(BEGUN, tries("1"), part("1", words("Hi")));
    const same = withEvents(before, stored([{ type: "budget-soft", budgets: ["b"] }, part("0", words("stale"))]));
    expect(same).toBe(before);
    const grown = withEvents(before, stored([{ type: "tool-progress", callId: "t", data: 1 }]));
    expect(grown.calls).toBe(before.calls);
  });

  test("thoughts, words and tool calls are told apart; a whole call takes the place of its pieces", () => {
    const { calls } = after(
      tries("1"),
      part("1", { type: "reasoning-delta", id: "r", delta: "Hm." }),
      part("1", words("Look")),
      part("1", { type: "tool-input-start", id: "t", toolName: "search" }),
      part("1", { type: "tool-input-delta", id: "t", delta: '{"q":' }),
      part("1", { type: "tool-call", toolCallId: "t", toolName: "search", input: '{"q":1}' }),
      part("1", words("ing")),
    );
    expect(calls[0]?.parts).toEqual([
      { kind: "reasoning", id: "r", name: "", text: "Hm." },
      { kind: "text", id: "0", name: "", text: "Looking" },
      { kind: "tool", id: "t", name: "search", text: '{"q":1}' },
    ]);
  });

  test("reports and questions of a tool call go when it has ended or was answered", () => {
    const open = after(
      { type: "tool-progress", callId: "t", data: { done: 1 } },
      { type: "approval-asked", approval: "apr", callId: "t", title: "May I?" },
    );
    expect([open.progress.get("t"), open.approvals.get("t")]).toEqual([{ done: 1 }, "apr"]);
    const over = withEvents(
      open,
      stored([
        { type: "approval-answered", approval: "apr", callId: "t" },
        { type: "tool-end", callId: "t" },
      ]),
    );
    expect([over.progress.size, over.approvals.size]).toEqual([0, 0]);
  });
});
