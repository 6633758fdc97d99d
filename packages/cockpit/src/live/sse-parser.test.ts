import { describe, expect, test } from "vitest";
import { SseParser } from "./sse-parser.ts";

const TEXT = [
  "retry: 1000",
  "id: 7",
  "",
  ": alive",
  "",
  "id: 8",
  "event: run",
  'data: {"a":1,',
  'data:"b":"冰"}',
  "",
  "event: deleted\r",
  "data: x\r",
  "\r",
  "data: unfinished",
].join("\n");

function parse(chunks: readonly string[]): readonly unknown[] {
  const parser = new SseParser();
  return chunks.flatMap((chunk) => parser.push(chunk));
}

describe("server-sent events", () => {
  test("messages have the last id, their name and their lines; signs of life are none, and neither is an unfinished one", () => {
    expect(parse([TEXT])).toEqual([
      { id: "8", event: "run", data: '{"a":1,\n"b":"冰"}' },
      { id: "8", event: "deleted", data: "x" },
    ]);
  });

  test("an id without a message is known, too", () => {
    const parser = new SseParser();
    parser.push("id: 7\n\n");
    expect(parser.lastId).toBe("7");
  });

  test("P1: wherever the text is cut, the same comes out", () => {
    const whole = parse([TEXT]);
    for (let cut = 0; cut <= TEXT.length; cut += 1)
      expect(parse([TEXT.slice(0, cut), TEXT.slice(cut)]), `cut at ${cut}`).toEqual(whole);
    expect(parse(Array.from(TEXT))).toEqual(whole);
  });
});
