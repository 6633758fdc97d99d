// What watchers are told of a call: each try begins once and ends once.

import type { StepInfo } from "@perdure/sdk";
import { expect, test } from "vitest";
import { ModelError } from "../models/model-error.ts";
import type { AttemptOutcome } from "../models/types.ts";
import { type CallEvent, LiveParts } from "./live-parts.ts";

const TRY = { number: 1, provider: "scripted", modelId: "model" };
const FAILED: AttemptOutcome = {
  kind: "failed",
  error: new ModelError("overloaded", { kind: "overloaded", provider: "scripted", modelId: "model" }),
  partialText: "",
};

function told(tell: (live: LiveParts) => void): readonly string[] {
  const events: CallEvent[] = [];
  const stream = { write: (event: CallEvent): void => void events.push(event) };
  const info = { attempt: 1, stream: () => stream } as unknown as StepInfo;
  tell(new LiveParts("c1", info, { stream: "events", showsParts: true }));
  return events.map((event) => `${event.type} ${event.attempt}${event.type === "call-end" ? ` ${event.outcome}` : ""}`);
}

test("a try that failed before anything came has its start and its end", () => {
  expect(told((live) => live.end(TRY, FAILED))).toEqual(["call-start 1.1", "call-end 1.1 failed"]);
});

test("the try after one that failed begins and ends under its own number, by its own outcome", () => {
  const events = told((live) => {
    live.end(TRY, FAILED);
    live.part({ type: "text-delta", id: "text", delta: "a" }, { ...TRY, number: 2 });
    live.end({ ...TRY, number: 2 }, { kind: "interrupted" });
  });
  expect(events).toEqual([
    "call-start 1.1",
    "call-end 1.1 failed",
    "call-start 1.2",
    "part 1.2",
    "call-end 1.2 interrupted",
  ]);
});
