import fc from "fast-check";
import { expect, it } from "vitest";

import { EventStreamParser } from "./event-stream.ts";

const stream = [
  "\uFEFF: a comment\n",
  'id: 1\r\nevent: run\r\ndata: {"a":1}\r\n\r\n',
  "data:first\ndata: second\n\n",
  "event: empty\n\n",
  "retry: 250\rid: 3\rdata:  two spaces\r\r",
  "id: bad\0id\nignored: x\ndata\n\n",
  "data: without an end\n",
].join("");
const events = [
  { id: "1", type: "run", data: '{"a":1}' },
  { id: "1", type: "message", data: "first\nsecond" },
  { id: "3", type: "message", data: " two spaces" },
  { id: "3", type: "message", data: "" },
];

it("reads events, wherever the chunks end", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(stream.length)), (cuts) => {
      const parser = new EventStreamParser();
      const ends = [...cuts.sort((a, b) => a - b), stream.length];
      const seen = ends.flatMap((end, i) => parser.feed(stream.slice(ends[i - 1] ?? 0, end)));
      expect(seen).toEqual(events);
      expect(parser.retryMs).toBe(250);
    }),
  );
});
