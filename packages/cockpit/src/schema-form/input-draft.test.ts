import { describe, expect, test } from "vitest";
import { draftOf, inMode, sentText, withText, withValue } from "./input-draft.ts";

describe("an input that is written", () => {
  test("as a form stands there as JSON, too, and the other way round", () => {
    const form = withValue(draftOf("form", undefined), { a: 1 });
    const json = inMode(form, "json");
    expect(json).toMatchObject({ mode: "json", text: '{\n  "a": 1\n}' });
    const changed = withText(json, '{"a": 2, "b": [true]}');
    expect(inMode(changed, "form")).toMatchObject({ mode: "form", value: { a: 2, b: [true] } });
  });

  test("as text that is no JSON yet keeps the text, and its way back to the form is closed", () => {
    const broken = withText(draftOf("json", { a: 1 }), '{"a": 1,');
    expect(broken.problem).not.toBeNull();
    expect(inMode(broken, "form")).toBe(broken);
    expect(broken).toMatchObject({ mode: "json", text: '{"a": 1,', value: { a: 1 } });
    expect(inMode(withText(broken, '{"a": 1}'), "form").mode).toBe("form");
  });

  test("is sent as the text that was written", () => {
    const text = '{"id": 12345678901234567890}';
    expect(sentText(withText(draftOf("json", undefined), ` ${text}\n`))).toBe(text);
    expect(sentText(draftOf("form", { a: "ü" }))).toBe('{"a":"ü"}');
    expect(sentText(withText(draftOf("json", 1), "  "))).toBeNull();
    expect(sentText(draftOf("json", null))).toBe("null");
  });
});
