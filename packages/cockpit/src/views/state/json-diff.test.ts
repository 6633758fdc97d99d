import { describe, expect, test } from "vitest";
import fc from "fast-check";
import { diffLines, diffValues } from "./json-diff.ts";

const marks = { kept: " ", removed: "-", added: "+" } as const;
const shown = (before: Parameters<typeof diffValues>[0], after: Parameters<typeof diffValues>[1]): string[] =>
  diffValues(before, after).map((line) => (line.kind === "gap" ? `… ${line.lines}` : marks[line.kind] + line.text));

describe("the difference of two values", () => {
  test("is what was removed and what was added", () => {
    expect(shown({ a: 1, b: 2 }, { a: 1, b: 3 })).toEqual([" {", '   "a": 1,', '-  "b": 2', '+  "b": 3', " }"]);
  });

  test("a comma that a line gains is no change of it", () => {
    expect(shown({ a: 1 }, { a: 1, b: 2 })).toEqual([" {", '   "a": 1,', '+  "b": 2', " }"]);
  });

  test("nothing at all is no line", () => {
    expect(shown(undefined, 1)).toEqual(["+1"]);
    expect(shown("x", undefined)).toEqual(['-"x"']);
    expect(shown(undefined, undefined)).toEqual([]);
  });

  test("long stretches that stay are left out, but for some lines around what changes", () => {
    const list = Array.from({ length: 40 }, (_, at) => at);
    expect(shown(list, list.with(20, -1))).toEqual([
      "… 18",
      "   17,",
      "   18,",
      "   19,",
      "-  20,",
      "+  -1,",
      "   21,",
      "   22,",
      "   23,",
      "… 17",
    ]);
    expect(shown(list, list)).toEqual(["… 42"]);
  });

  test("kept and removed lines are the old text, kept and added ones the new one", () => {
    const lines = fc.array(fc.constantFrom("a", "b", "c", "d,", "d"), { maxLength: 14 });
    const plain = (text: string): string => text.replace(/,$/, "");
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const diff = diffLines(before, after);
        const side = (left: "removed" | "added"): string[] =>
          diff.filter(({ kind }) => kind === "kept" || kind === left).map(({ text }) => text);
        expect(side("removed").map(plain)).toEqual(before.map(plain));
        expect(side("added")).toEqual(after);
      }),
    );
  });

  test("what is too long to be compared is shown as replaced", () => {
    const many = (word: string): string[] => Array.from({ length: 2_100 }, (_, at) => `${word}${at}`);
    const diff = diffLines(many("a"), many("b"));
    expect(diff).toHaveLength(4_200);
    expect(diff.slice(0, 2_100).every(({ kind }) => kind === "removed")).toBe(true);
  });
});
