import { expect, it } from "vitest";
import { StateView } from "./state-view.ts";

const base = new Map([["a", "1"]]);

it("what is recorded stands in the state that an attempt starts with", () => {
  const state = new StateView(base);
  state.set("a", "2", false);
  state.clearAll(false);
  expect([state.get("a"), state.keys()]).toEqual(["1", ["a"]]);
  state.set("a", "3", true);
  expect(state.get("a")).toBe("3");
});

it("in a heap that was put back, it stands only in what is met again", () => {
  const state = new StateView(base);
  state.resume();
  state.set("b", "2", false);
  expect([state.get("a"), state.get("b")]).toEqual(["1", "2"]);
  state.clearAll(false);
  state.set("c", "3", false);
  expect(state.keys()).toEqual(["c"]);
});
