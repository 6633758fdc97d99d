import { describe, expect, test } from "vitest";
import type { EntryView } from "@perdure/protocol";
import { aStep, at, runId, VALUE } from "../../testing/samples.ts";
import { forkPlan, readEntry, rewindPlan, type CommandEntry } from "./branch-plan.ts";

const TARGET = { service: "mailer", handler: "send" };
const call = (index: number, child: number): EntryView =>
  aStep(index, index, { command: { type: "call", target: TARGET }, child: runId(child) });
const completion = (index: number, id: number): EntryView => ({
  kind: "completion",
  index,
  id,
  at: at(index),
  result: VALUE,
});
const step = (index: number): EntryView => aStep(index, index, { result: VALUE });
const indexes = (entries: readonly CommandEntry[]): readonly number[] => entries.map(({ index }) => index);

/** A step, a call that is answered by entry 4, a step, its answer, a step, a call that is not answered. */
const JOURNAL: readonly EntryView[] = [step(1), call(2, 12), step(3), completion(4, 2), step(5), call(6, 16)];

describe("what goes on from an entry", () => {
  test("B1: a fork waits for what its entries have asked for and not got by then", () => {
    expect(indexes(forkPlan(JOURNAL, 3).waits)).toEqual([2]);
    expect(indexes(forkPlan(JOURNAL, 4).waits)).toEqual([]);
    expect(indexes(forkPlan(JOURNAL, 6).waits)).toEqual([6]);
    const underWay = [...JOURNAL, aStep(7, 7)];
    expect(indexes(forkPlan(underWay, 7).again)).toEqual([7]);
    expect(indexes(forkPlan(underWay, 6).again)).toEqual([]);
  });

  test("B2: a rewind keeps results that came later of what was asked for before", () => {
    expect(indexes(rewindPlan(JOURNAL, 3).waits)).toEqual([]);
    const { shared, after, repeated, last } = rewindPlan(JOURNAL, 3);
    expect([shared, after, last?.index]).toEqual([3, 3, 3]);
    expect(indexes(repeated)).toEqual([5]);
  });

  test("B3: sub-runs of the shared entries are shared, those called since and still under way are called off", () => {
    expect(forkPlan(JOURNAL, 3).sharedChildren).toEqual([runId(12)]);
    expect(rewindPlan(JOURNAL, 3).openChildren).toEqual([runId(16)]);
    expect(rewindPlan(JOURNAL, 1).openChildren).toEqual([runId(16)]);
    expect(rewindPlan(JOURNAL, 6).openChildren).toEqual([]);
  });

  test("at 0 nothing is shared, and all steps are repeated", () => {
    const plan = forkPlan(JOURNAL, 0);
    expect([plan.shared, plan.after, plan.last]).toEqual([0, 6, null]);
    expect(indexes(plan.repeated)).toEqual([1, 3, 5]);
  });

  test("what an open command has asked for without ever getting it is no repetition", () => {
    const open = aStep(2, 2, { command: { type: "setState", key: "a" } });
    expect(forkPlan([step(1), open], 1).repeated).toEqual([]);
    expect(forkPlan([step(1), open], 2).again).toEqual([]);
  });
});

test("an entry is a number that the journal has, or 0", () => {
  expect(["0", "6", " 3 "].map((text) => readEntry(text, 6))).toEqual([0, 6, 3]);
  expect(["7", "-1", "1.5", "", "x", "99999999999"].map((text) => readEntry(text, 6))).toEqual([
    null,
    null,
    null,
    null,
    null,
    null,
  ]);
});
