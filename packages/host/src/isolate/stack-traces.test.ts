import { describe, expect, test } from "vitest";
import { splitBundle, StackTraces, withSourceMap } from "./stack-traces.ts";

/** Line 1, column 1 of the script is line 3, column 7 of a.ts. */
const MAP = JSON.stringify({ version: 3, sources: ["a.ts"], names: [], mappings: "AAEM" });

describe("stack traces of isolates", () => {
  test("a bundle and its source map are kept as one text", () => {
    expect(splitBundle(withSourceMap("code();", MAP))).toEqual({ code: "code();", sourceMap: MAP });
    expect(splitBundle("code();")).toEqual({ code: "code();", sourceMap: null });
  });

  test("are told in the places of the user's files", () => {
    const traces = new StackTraces(MAP);
    expect(traces.told("    at boom (bundle.js:1:1)\n    at other (x.js:1:1)")).toBe(
      "    at boom (a.ts:3:7)\n    at other (x.js:1:1)",
    );
  });

  test("are left as they are without a map", () => {
    expect(new StackTraces(null).told("at boom (bundle.js:1:1)")).toBe("at boom (bundle.js:1:1)");
  });
});
