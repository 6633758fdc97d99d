import { describe, expect, test } from "vitest";
import type { EntryView, MomentView } from "@perdure/protocol";
import { aRun, aStep, at, VALUE } from "../../testing/samples.ts";
import { endOfRow, entryOfCommand, momentsByRow, nextMoment, rowOfEntry } from "./moments.ts";
import { layoutTimeline } from "./timeline-layout.ts";

/** A step that was tried twice, and another one that began in between. */
const JOURNAL: readonly EntryView[] = [
  aStep(1, 1),
  { kind: "retry", index: 2, id: 1, at: at(2), tries: 1, failure: { code: 500, message: "busy" } },
  aStep(3, 3, { id: 2, result: VALUE }),
  { kind: "completion", index: 4, id: 1, at: at(4), result: VALUE },
];
const { rows } = layoutTimeline(aRun(1), JOURNAL);
const moment = (entry: number, name: string | null = null): MomentView => ({
  entry,
  name,
  at: at(entry),
  hash: "",
  base: "",
  size: 1,
});

describe("moments on the timeline", () => {
  test("M1: a try and a completion belong to the row of their command", () => {
    expect([1, 2, 3, 4].map((entry) => rowOfEntry(rows, entry)?.index)).toEqual([1, 1, 3, 1]);
    expect(rowOfEntry(rows, 5)).toBeUndefined();
    const of = momentsByRow(rows, [moment(2), moment(4, "done"), moment(9)]);
    expect(rows.map((row) => of(row).map(({ entry }) => entry))).toEqual([[2, 4], []]);
  });

  test("a row without one is drawn once, whatever others get", () => {
    const [, second] = rows;
    if (second === undefined) throw new Error("there are two rows");
    expect(momentsByRow(rows, [])(second)).toBe(momentsByRow(rows, [moment(1)])(second));
  });

  test("one walks from each to the next, and from the last to the first", () => {
    const all = [moment(2), moment(4)];
    expect([0, 2, 3, 4].map((entry) => nextMoment(all, entry)?.entry)).toEqual([2, 4, 4, 2]);
    expect(nextMoment([], 1)).toBeUndefined();
  });

  test("going on from a row takes its result along, and a command stands in its own entry", () => {
    expect(rows.map(endOfRow)).toEqual([4, 3]);
    expect([1, 2, 3].map((id) => entryOfCommand(JOURNAL, id))).toEqual([1, 3, undefined]);
  });
});
