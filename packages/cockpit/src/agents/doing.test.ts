// @vitest-environment jsdom
import { describe, expect, test } from "vitest";
import type { AgentSessionSummary, WaitView } from "@perdure/protocol";
import { runId } from "../testing/samples.ts";
import { doingOf, toneOfDoing } from "./doing.tsx";

const told = (
  waits: readonly WaitView[],
  change: Partial<AgentSessionSummary> = {},
): Parameters<typeof doingOf>[0] => ({ state: "waiting", turn: runId(1), queued: 0, waits, ...change });
const call = (service: string): WaitView => ({
  kind: "run",
  command: 1,
  runId: runId(2),
  target: { service, handler: "run", key: "k" },
});
const step = (name: string): WaitView => ({ kind: "step", command: 2, name });
const listens: WaitView = { kind: "signal", signal: "perdure.arrival" };

describe("what a session does", () => {
  test("D1: what a person can do something about comes first", () => {
    expect(doingOf(told([step("tool x"), call("writer"), call("perdure.approvals"), listens])).kind).toBe("approval");
    expect(doingOf(told([call("writer"), { kind: "awakeable", id: "sign_1" }])).kind).toBe("budget");
    expect(doingOf(told([call("perdure.approvals")], { state: "paused" })).kind).toBe("paused");
    expect(doingOf(told([{ kind: "awakeable", id: "sign_1" }], { state: "working" })).kind).toBe("working");
  });

  test("its children, its timers and its own work are told apart", () => {
    expect(doingOf(told([listens, call("writer")])).kind).toBe("child");
    expect(doingOf(told([{ kind: "timer", command: 1, name: "nap", at: "x" }]))).toEqual({
      kind: "timer",
      name: "nap",
      at: "x",
    });
    expect(doingOf(told([step("model openai/gpt-5")])).kind).toBe("model");
    expect(doingOf(told([step("tool search")]))).toEqual({ kind: "step", name: "tool search" });
    expect(doingOf(told([listens], { state: "working" })).kind).toBe("working");
  });

  test("without a turn it listens, or its messages queue", () => {
    expect(doingOf(told([], { turn: null, state: "idle" })).kind).toBe("idle");
    expect(doingOf(told([], { turn: null, state: "idle", queued: 2 }))).toEqual({ kind: "queued", count: 2 });
  });

  test("orange is what needs a person, as everywhere", () => {
    expect(toneOfDoing({ kind: "approval" })).toBe("orange");
    expect(toneOfDoing({ kind: "working" })).toBe("blue");
  });
});
