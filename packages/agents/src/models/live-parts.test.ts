// What watchers are told of a call: each try begins once and ends once.

import type { StepInfo } from "@perdure/sdk";
import { expect, test } from "vitest";
import { LiveParts, type CallEvent } from "./live-parts.ts";
import { ModelError } from "./model-error.ts";

const TRY = { number: 1, provider: "scripted", modelId: "model" };

function told(tell: (live: LiveParts) => void): readonly string[] {
  const events: CallEvent[] = [];
  const stream = { write: (event: CallEvent): void => void events.push(event) };
  const info = { attempt: 1, stream: () => stream } as unknown as StepInfo;
  tell(new LiveParts({ call: "c1", stream: "events", showsParts: true }, info));
  return events.map((event) => `${event.type} ${event.attempt}${event.type === "call-end" ? ` ${event.outcome}` : ""}`);
}

test("the try after one that failed begins and ends under its own number", () => {
  const events = told((live) => {
    live.end(TRY, {
      kind: "failed",
      error: new ModelError("overloaded", { ...TRY, kind: "overloaded" }),
      partialText: "",
    });
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

test("a try that said nothing begins and ends all the same", () => {
  expect(told((live) => live.end(TRY, { kind: "settled" }))).toEqual(["call-start 1.1", "call-end 1.1 settled"]);
});
