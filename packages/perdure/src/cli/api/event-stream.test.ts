import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EventParser } from "./event-stream.ts";

const TEXT =
  ': alive\n\nid: a-1\nevent: run\ndata: {"x":\ndata: 1}\n\nretry: 1000\nid: a-2\n\nevent: entry\r\ndata:no space\r\n\r\ndata: last\n\n';
const EVENTS = [
  { id: "a-1", event: "run", data: '{"x":\n1}' },
  { id: "a-2", event: "entry", data: "no space" },
  { id: "a-2", event: "message", data: "last" },
];

describe("EventParser", () => {
  it("finds events with their ids, and skips comments", () => {
    expect(new EventParser().push(TEXT)).toEqual(EVENTS);
  });

  it("keeps an id that comes without an event: the place to go on from", () => {
    const parser = new EventParser();
    expect(parser.push("retry: 1000\nid: a-7\n\n")).toEqual([]);
    expect(parser.lastId).toBe("a-7");
  });

  it("finds the same events however the text is cut", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(TEXT.length), { maxLength: 20 }), (cuts) => {
        const at = [0, ...cuts.toSorted((a, b) => a - b), TEXT.length];
        const parser = new EventParser();
        const events = at.slice(1).flatMap((end, index) => parser.push(TEXT.slice(at[index], end)));
        expect(events).toEqual(EVENTS);
      }),
    );
  });
});
