import fc from "fast-check";
import { expect, test } from "vitest";
import { tokensOf } from "./sql-tokens.ts";

test("a statement has its colours", () => {
  const kinds = tokensOf("SELECT id, 'it''s', 1.5 FROM \"runs\" -- all\n/* open")
    .filter(({ kind }) => kind !== "other")
    .map(({ kind, text }) => `${kind} ${text}`);
  expect(kinds).toEqual([
    "keyword SELECT",
    "name id",
    "text 'it''s'",
    "number 1.5",
    "keyword FROM",
    'name "runs"',
    "comment -- all",
    "comment /* open",
  ]);
});

test("the pieces laid together are the text", () => {
  fc.assert(
    fc.property(
      fc.string({
        unit: fc.constantFrom("a", "select", " ", "'", '"', "-", "/", "*", "1", ".", "\n", "ü", "[", "`", "🦊"),
      }),
      (text) => {
        expect(
          tokensOf(text)
            .map((token) => token.text)
            .join(""),
        ).toBe(text);
      },
    ),
  );
});
