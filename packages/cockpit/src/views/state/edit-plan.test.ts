import { describe, expect, test } from "vitest";
import { clearAll, isConflict, isEditable, stateEdit } from "./edit-plan.ts";

describe("an edit of a value", () => {
  test("expects what was there when it was begun", () => {
    const plan = { name: "notes", force: false };
    expect(stateEdit({ ...plan, base: ["a"], next: ["b"] })).toEqual({
      set: { notes: ["b"] },
      expect: { values: { notes: ["a"] } },
    });
    expect(stateEdit({ ...plan, base: undefined, next: null })).toEqual({
      set: { notes: null },
      expect: { absent: ["notes"] },
    });
    expect(stateEdit({ ...plan, base: 1, next: undefined, force: true })).toEqual({
      clear: ["notes"],
      expect: { values: { notes: 1 } },
      force: true,
    });
    expect(clearAll({ a: 1, b: null }, false)).toEqual({ clear: ["a", "b"], expect: { values: { a: 1, b: null } } });
  });

  test("is in conflict where somebody changed it, unless to the same", () => {
    expect(isConflict({ a: 1, b: 2 }, { a: 3 }, { b: 2, a: 1 })).toBe(false); // Only the order of names.
    expect(isConflict({ a: 1 }, { a: 3 }, { a: 2 })).toBe(true);
    expect(isConflict({ a: 1 }, { a: 3 }, { a: 3 })).toBe(false);
    expect(isConflict({ a: 1 }, { a: 3 }, undefined)).toBe(true);
    expect(isConflict(undefined, { a: 3 }, null)).toBe(true); // null is a value.
  });

  test("is made of JSON, and not of bytes or of what was not shown", () => {
    expect(isEditable({ base64: "AA==", more: 1 })).toBe(true);
    expect(isEditable([])).toBe(true);
    expect(isEditable(null)).toBe(true);
    expect(isEditable({ base64: "AA==" })).toBe(false);
    expect(isEditable({ omitted: 100_000 })).toBe(false);
  });
});
