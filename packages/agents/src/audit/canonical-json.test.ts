import { SerializationError } from "@perdure/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson } from "./canonical-json.ts";

describe("canonical JSON", () => {
  test("sorts keys by code unit at every depth, and writes no spaces", () => {
    const value = { b: [1, { z: null, a: "\u00e9\n" }], "€": 1e21, a: true, A: -0.5 };
    expect(canonicalJson(value)).toBe('{"A":-0.5,"a":true,"b":[1,{"a":"é\\n","z":null}],"€":1e+21}');
  });

  test("is JSON of the same value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test("is the same for any order of keys", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const turned = Object.fromEntries(Object.entries(value).reverse());
        expect(canonicalJson(turned)).toBe(canonicalJson(value));
      }),
    );
  });

  test.each([[Number.NaN], [Number.POSITIVE_INFINITY], [1n], [[undefined]], [{ f: () => 1 }]])(
    "refuses %s, which no journal can hold",
    (value) => {
      expect(() => canonicalJson(value)).toThrow(SerializationError);
    },
  );
});
