import { expect, test } from "vitest";
import { visibleLine, visibleText } from "./visible-text.ts";

test("characters that hide, or turn the direction of what stands beside them, are shown by their number", () => {
  expect(visibleText("pay \u202eevil\u2066\u0000\u200b")).toBe("pay \\u{202e}evil\\u{2066}\\u{0}\\u{200b}");
  expect(visibleText("tag \u{e0041}")).toBe("tag \\u{e0041}");
});

test("what texts are written with stays: line breaks, emoji, other scripts", () => {
  const text = "a\tb\n👩‍💻 冰 نص";
  expect(visibleText(text)).toBe(text);
  expect(visibleLine("a\nb")).toBe("a⏎b");
});
