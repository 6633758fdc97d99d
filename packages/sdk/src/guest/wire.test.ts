// What crosses the border of an isolate comes out as it went in.

import { expect, test } from "vitest";
import { fromWire, toWire } from "./wire.ts";

test.each([
  { what: "bytes", value: { a: [Uint8Array.of(0, 255, 10)], b: new Uint8Array(20_000) } },
  { what: "data that looks like bytes and is none", value: { input: { "~bytes": "%%%" } } },
  { what: "data that looks like bytes", value: [{ "~bytes": "AAAA" }, { "~bytes": 1, more: { "~bytes": null } }] },
  { what: "data that looks like what protects such data", value: { "~plain": [["~bytes", "AAAA"]], "~bytes": {} } },
  { what: "what is marked within bytes' neighbours", value: { "~plain": { x: Uint8Array.of(1) } } },
])("$what", ({ value }) => {
  expect(fromWire(toWire(value))).toEqual(value);
});
