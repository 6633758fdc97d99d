import type { CommandView, EntryView, KeptView, ResultView } from "@perdure/protocol";
import { describe, expect, test } from "vitest";
import { entryText } from "./describe-entry.ts";
import type { ValueOptions } from "./values.ts";

const options: ValueOptions = { paint: (_, text) => text, width: undefined };
const value = (json: number | string): ResultView => ({ kind: "value", value: json });

function text(command: CommandView, result?: ResultView, kept?: KeptView): string {
  const entry: EntryView = {
    kind: "command",
    index: 1,
    at: "2026-01-31T12:00:00.000Z",
    id: 1,
    command,
    ...(result === undefined ? {} : { result }),
    ...(kept === undefined ? {} : { kept }),
  };
  return entryText(entry, options);
}

describe("commands about streams, in words", () => {
  test.each([
    [text({ type: "append", stream: "log", count: 2 }, value(7)), 'append 2 items to stream "log" at 7'],
    [text({ type: "append", stream: "log", count: 1 }), 'append 1 item to stream "log"'],
    [text({ type: "readStream", stream: "log", from: 0 }, value("[]")), 'read stream "log" = "[]"'],
    [text({ type: "streamLength", stream: "log" }, value(3)), 'length of stream "log" = 3'],
    [text({ type: "trimStream", stream: "log", before: 4 }), 'trim stream "log" before 4'],
    [
      text({ type: "readStream", stream: "log", from: 4 }, value(1), { stream: "log", from: 5, count: 3 }),
      'read stream "log" from 4 = 1 (from 5 to 7)',
    ],
    [
      text({ type: "step", name: "ask", into: "log" }, value(1), { stream: "log", from: 5, count: 1 }),
      'step "ask" into stream "log" = 1 (at 5)',
    ],
    [
      text({ type: "step", name: "ask" }, value(1), { stream: "log", from: 5, count: 1 }),
      'step "ask" = 1 (stream "log" at 5)',
    ],
  ])("%s", (said, expected) => {
    expect(said).toBe(expected);
  });
});
