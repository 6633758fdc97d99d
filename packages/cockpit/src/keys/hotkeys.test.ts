import { describe, expect, test, vi } from "vitest";
import { Hotkeys, type Pressed } from "./hotkeys.ts";

const key = (text: string, change: Partial<Pressed> = {}): Pressed => ({
  key: text,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  isInField: false,
  ...change,
});

function bound(...keys: readonly string[]) {
  const hotkeys = new Hotkeys();
  const run = vi.fn<(keys: string) => void>();
  const unbind = hotkeys.bind(keys.map((one) => ({ keys: one, label: one, group: "here", run: () => run(one) })));
  return { hotkeys, run, unbind };
}

describe("hotkeys", () => {
  test("one after the other is a command of its own, if it is quick", () => {
    const { hotkeys, run } = bound("g r", "r");
    expect(hotkeys.press(key("g"), 0)).toBe(true);
    expect(hotkeys.press(key("r"), 500)).toBe(true);
    hotkeys.press(key("g"), 1_000);
    hotkeys.press(key("r"), 9_000);
    expect(run.mock.calls).toEqual([["g r"], ["r"]]);
  });

  test("a prefix that leads nowhere is forgotten, and the key counts for itself", () => {
    const { hotkeys, run } = bound("g r", "j");
    hotkeys.press(key("g"), 0);
    hotkeys.press(key("j"), 1);
    expect(hotkeys.press(key("r"), 2)).toBe(false);
    expect(run.mock.calls).toEqual([["j"]]);
  });

  test("H1: in a field letters are letters, and chords are still commands", () => {
    const { hotkeys, run } = bound("j", "mod+k");
    expect(hotkeys.press(key("j", { isInField: true }), 0)).toBe(false);
    hotkeys.press(key("K", { isInField: true, ctrlKey: true }), 0);
    hotkeys.press(key("k", { metaKey: true }), 0);
    expect(hotkeys.press(key("j", { altKey: true }), 0)).toBe(false);
    expect(run.mock.calls).toEqual([["mod+k"], ["mod+k"]]);
  });

  test("H2: what was bound last comes first, until it is gone", () => {
    const { hotkeys, run } = bound("j");
    const over = vi.fn<() => void>();
    const unbind = hotkeys.bind([{ keys: "j", label: "over", group: "here", run: over }]);
    hotkeys.press(key("j"), 0);
    unbind();
    hotkeys.press(key("j"), 0);
    expect([over.mock.calls.length, run.mock.calls.length]).toEqual([1, 1]);
    expect(hotkeys.layers()).toHaveLength(1);
  });
});
