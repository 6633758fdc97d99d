import { describe, expect, it } from "vitest";
import { fromWire, toWire } from "./wire.ts";

describe("what crosses the border of an isolate", () => {
  it.each([
    ["without bytes", { a: [1, "two", null, { b: true }] }],
    ["with bytes at the top", new Uint8Array([1, 2, 255])],
    ["with bytes within", { a: [{ b: new Uint8Array([0, 128]) }], c: "~bytes" }],
    ["with bytes far within", Array.from({ length: 100 }).reduce<unknown>((inner) => [inner], new Uint8Array([7]))],
  ])("comes out as it went in: %s", (_, value) => {
    expect(fromWire(toWire(value))).toEqual(value);
  });

  it("keeps bytes that an object makes of itself", () => {
    expect(fromWire(toWire({ a: { toJSON: () => new Uint8Array([9]) } }))).toEqual({ a: new Uint8Array([9]) });
  });

  it("is refused where it goes round in circles", () => {
    const round: { self?: unknown } = {};
    round.self = round;
    expect(() => toWire(round)).toThrow(/circular/i);
  });
});
