// What watchers are told of a call: each try begins once and ends once.

import type { StepInfo } from "@perdure/sdk";
import { expect, test } from "vitest";
import type { ModelAnswer } from "../models/types.ts";
import { LiveParts, type CallEvent } from "./live-parts.ts";

const TRY = { number: 1, provider: "scripted", modelId: "model" };
const answer = (partial: boolean): ModelAnswer => ({ partial }) as ModelAnswer;

function told(tell: (live: LiveParts) => void): readonly string[] {
  const events: CallEvent[] = [];
  const stream = { write: (event: CallEvent): void => void events.push(event) };
  const info = { attempt: 1, stream: () => stream } as unknown as StepInfo;
  tell(new LiveParts("c1", info, { stream: "events", showsParts: true }));
  return events.map((event) => `${event.type} ${event.attempt}${event.type === "call-end" ? ` ${event.outcome}` : ""}`);
}

test("a call that was interrupted between two tries ends once, as the try that failed did", () => {
  const events = told((live) => {
    live.failed(TRY, "overloaded");
    live.settled(answer(true));
  });
  expect(events).toEqual(["call-start 1.1", "call-end 1.1 failed"]);
});

test("a call that was interrupted before anything was asked tells nothing", () => {
  expect(told((live) => live.settled(answer(true)))).toEqual([]);
});

test("the try after one that failed begins and ends under its own number", () => {
  const events = told((live) => {
    live.failed(TRY, "overloaded");
    live.part({ type: "text-delta", id: "text", delta: "a" }, { ...TRY, number: 2 });
    live.settled(answer(true));
  });
  expect(events).toEqual([
    "call-start 1.1",
    "call-end 1.1 failed",
    "call-start 1.2",
    "part 1.2",
    "call-end 1.2 interrupted",
  ]);
});
