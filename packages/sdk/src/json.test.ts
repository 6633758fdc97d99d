import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { decode, encode } from "./json.ts";

describe("payloads", () => {
  it("carry every JSON value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(decode(encode(value, "it") ?? "")).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it("copy bytes on both sides", () => {
    const bytes = Uint8Array.of(1, 2, 3);
    const payload = encode(bytes, "it") as Uint8Array;
    bytes[0] = 9;
    const read = decode(payload) as Uint8Array;
    read[1] = 9;
    expect([[...payload], [...read]]).toEqual([
      [1, 2, 3],
      [1, 9, 3],
    ]);
  });

  it("name what throws when it is read", () => {
    const value = {
      a: [
        {
          get b(): never {
            throw new Error("no");
          },
        },
      ],
    };
    expect(() => encode(value, "it")).toThrow("it.a[0] throws when it is read: no");
    const shared = {};
    expect(encode([shared, shared], "it")).toBe("[{},{}]");
  });

  it("that are no JSON are refused", () => {
    expect(() => decode("{")).toThrow(expect.objectContaining({ code: "P0021" }));
  });
});
