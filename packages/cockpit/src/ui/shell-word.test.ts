import { expect, test } from "vitest";
import { shellWord } from "./shell-word.ts";

test("what a shell would read something into is quoted, and quotes are too", () => {
  expect(shellWord("researcher/demo")).toBe("researcher/demo");
  expect(shellWord("two words")).toBe("'two words'");
  expect(shellWord("it's $(rm)")).toBe(String.raw`'it'\''s $(rm)'`);
  expect(shellWord("")).toBe("''");
  expect(shellWord("*")).toBe("'*'");
});
