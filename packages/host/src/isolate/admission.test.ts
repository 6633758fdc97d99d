import { describe, expect, test } from "vitest";
import { Admission } from "./admission.ts";

function bound(bytesMax: number): {
  readonly admission: Admission;
  readonly entered: string[];
  readonly asked: () => number;
} {
  let asked = 0;
  const admission = new Admission({ bytesMax, makeRoom: (count) => void (asked = count) });
  return { admission, entered: [], asked: () => asked };
}

const stays = (): boolean => false;

describe("admission of isolates", () => {
  test("D1: no more bytes than the bound; the first is admitted whatever it takes", () => {
    const { admission, entered, asked } = bound(10);
    admission.enter(12, stays, () => entered.push("large"));
    admission.enter(4, stays, () => entered.push("a"));
    expect([entered, admission.waiting, asked()]).toEqual([["large"], 1, 1]);
    admission.leave(12);
    expect([entered, admission.bytes, admission.count]).toEqual([["large", "a"], 4, 1]);
    admission.enter(6, stays, () => entered.push("b"));
    admission.enter(1, stays, () => entered.push("c"));
    expect([entered, admission.bytes]).toEqual([["large", "a", "b"], 10]);
  });

  test("D2: a small one does not pass a large one that came first", () => {
    const { admission, entered } = bound(10);
    admission.enter(8, stays, () => entered.push("a"));
    admission.enter(8, stays, () => entered.push("b"));
    admission.enter(1, stays, () => entered.push("c"));
    expect(entered).toEqual(["a"]);
    admission.leave(8);
    expect(entered).toEqual(["a", "b", "c"]);
  });

  test("D3: room is asked for as many as stand in line", () => {
    const { admission, asked } = bound(10);
    for (let i = 0; i < 3; i += 1) admission.enter(8, stays, () => undefined);
    expect(asked()).toBe(2);
    admission.leave(8);
    expect(asked()).toBe(1);
    admission.leave(8);
    expect(asked()).toBe(0);
  });

  test("who has gone meanwhile is passed over", () => {
    const { admission, entered } = bound(10);
    let gone = false;
    admission.enter(8, stays, () => entered.push("a"));
    admission.enter(
      8,
      () => gone,
      () => entered.push("b"),
    );
    admission.enter(8, stays, () => entered.push("c"));
    gone = true;
    admission.leave(8);
    expect([entered, admission.waiting, admission.count]).toEqual([["a", "c"], 0, 1]);
  });
});
