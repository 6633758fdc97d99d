import type { AgentEvent } from "@perdure/agents";
import type { RunId } from "@perdure/protocol";
import { describe, expect, it } from "vitest";
import { EventView, type EventViewOptions } from "./event-view.ts";
import { PlainScreen } from "./screen.ts";

const run = (name: string): RunId => `run_1${name}` as RunId;

function shown(events: readonly AgentEvent[], options: Partial<EventViewOptions> = {}): readonly string[] {
  let written = "";
  const screen = new PlainScreen({ write: (text) => (written += String(text)) });
  const view = new EventView(screen, { paint: (_, text) => text, width: undefined, isOwn: () => false, ...options });
  for (const event of events) view.show(event);
  return written.trimEnd().split("\n");
}

const text = (delta: string, attempt = "1.1"): AgentEvent => ({
  type: "part",
  call: "c1",
  attempt,
  part: { type: "text-delta", id: "0", delta },
});
const callStart = (attempt: string): AgentEvent => ({ type: "call-start", call: "c1", attempt, model: "m" });

describe("events as they are shown", () => {
  it("V1: what the model says flows, everything else is a line", () => {
    const events: AgentEvent[] = [
      { type: "turn-start", turn: run("a") },
      { type: "message", id: run("a"), text: "Hello\nthere", policy: "steer", from: "bob" },
      callStart("1.1"),
      { type: "part", call: "c1", attempt: "1.1", part: { type: "reasoning-delta", id: "0", delta: "Hm." } },
      text("It is "),
      text("so."),
      {
        type: "part",
        call: "c1",
        attempt: "1.1",
        part: { type: "tool-call", toolCallId: "t", toolName: "search", input: '{"query":"tides"}' },
      },
      { type: "tool-progress", callId: "t", data: "half" },
      { type: "tool-end", callId: "t", name: "search", outcome: "ok", output: { hits: 2 } },
      { type: "tool-end", callId: "u", name: "send", outcome: "denied", output: "ada said no" },
      { type: "budget-soft", budgets: ["a/b"] },
      {
        type: "turn-end",
        turn: run("a"),
        reason: "answered",
        usage: { inputTokens: 1_000, outputTokens: 234, usd: 0.0123, calls: 2 },
      },
    ];
    expect(shown(events)).toEqual([
      "bob › Hello\\nthere",
      "Hm.",
      "It is so.",
      '⚙ search {"query":"tides"}',
      "  … half",
      '  ✓ search {"hits":2}',
      "  ✗ send denied ada said no",
      "! most of the budget a/b is used: /budget shows it",
      "— answered · 2 calls · 1,234 tokens · $0.0123",
    ]);
  });

  it("a message from here shows that it was seen", () => {
    const message: AgentEvent = { type: "message", id: run("a"), text: "Hello", policy: "steer" };
    expect(shown([message], { isOwn: (id) => id === run("a") })).toEqual(["✓✓ seen"]);
    expect(shown([message])).toEqual(["› Hello"]);
  });

  it("V2: a try that is made again says so, another call does not", () => {
    const events = [callStart("1.1"), text("The ti"), callStart("2.1"), text("The tide.", "2.1")];
    expect(shown(events)).toEqual(["The ti", "↻ once more: what this answer said above is superseded", "The tide."]);
    expect(shown([callStart("1.1"), { ...callStart("1.1"), call: "c2" } as AgentEvent])).toEqual([""]);
  });

  it("V3: nothing moves the reader's cursor", () => {
    const events: AgentEvent[] = [
      text("a\u001b[2Jb\r\tc\nd"),
      { type: "tool-end", callId: "t", name: "x\u001b[1A", outcome: "error", output: "\u0007" },
    ];
    // oxlint-disable-next-line no-control-regex
    expect(shown(events).join("\n")).not.toMatch(/[\x00-\x09\x0b-\x1f]/);
    expect(shown(events)[1]).toBe("d");
  });

  it("lines of a sub-agent name it, and are cut to the terminal", () => {
    const events: AgentEvent[] = [{ type: "tool-end", callId: "t", name: "s", outcome: "ok", output: "x".repeat(500) }];
    const [line = ""] = shown(events, { child: "writer-1", width: 80 });
    expect(line).toMatch(/^writer-1 ▏ {2}✓ s x+…$/);
    expect(line.length).toBeLessThanOrEqual(80);
  });
});
