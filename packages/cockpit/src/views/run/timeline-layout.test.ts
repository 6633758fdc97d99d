import { describe, expect, test } from "vitest";
import type { EntryView } from "@perdure/protocol";
import { aRun, aStep, at, runId, VALUE } from "../../testing/samples.ts";
import { layoutTimeline, type Row } from "./timeline-layout.ts";

const RUN = aRun(0);
const DONE = aRun(0, { status: "succeeded", finishedAt: at(10_000) });
const failure = { code: 500, message: "no" };

function retry(index: number, id: number, ms: number, againMs: number | null): EntryView {
  const again = againMs === null ? {} : { retryAt: at(againMs) };
  return { kind: "retry", index, id, tries: 1, at: at(ms), failure, ...again };
}

function completion(index: number, id: number, ms: number): EntryView {
  return { kind: "completion", index, id, at: at(ms), result: VALUE };
}

/** Segments as `kind from-to`, in milliseconds after the beginning. */
function pieces({ segments }: Row): readonly string[] {
  const since = (time: number | null): string => (time === null ? "" : String(time - Date.parse(at(0))));
  return segments.map(({ kind, from, to }) => `${kind} ${since(from)}-${since(to)}`);
}

describe("the waterfall", () => {
  test("W2: a step that is written with its result began, at the earliest, with the entry before", () => {
    const { rows } = layoutTimeline(RUN, [aStep(1, 100, { result: VALUE }), aStep(2, 250, { result: VALUE })]);
    expect(rows.map(pieces)).toEqual([["work 0-100"], ["work 100-250"]]);
    expect(rows.map(({ isGuessed }) => isGuessed)).toEqual([true, true]);
  });

  test("W1: completions are parts of their command's row, in whatever order they came", () => {
    const entries = [aStep(1, 10), aStep(2, 20), completion(3, 2, 70), completion(4, 1, 90)];
    const { rows } = layoutTimeline(RUN, entries);
    expect(rows.map(({ index }) => index)).toEqual([1, 2]);
    expect(rows.map(pieces)).toEqual([["work 10-90"], ["work 20-70"]]);
    expect(rows.map(({ outcome, isGuessed }) => [outcome, isGuessed])).toEqual([
      ["ok", false],
      ["ok", false],
    ]);
  });

  test("W3: tries that failed, the pauses between them, and the one that did not", () => {
    const entries = [aStep(1, 0), retry(2, 1, 100, 300), retry(3, 1, 400, 800), completion(4, 1, 950)];
    const [row] = layoutTimeline(RUN, entries).rows;
    expect(row === undefined ? [] : pieces(row)).toEqual([
      "failed 0-100",
      "pause 100-300",
      "failed 300-400",
      "pause 400-800",
      "work 800-950",
    ]);
    expect(row?.retries).toHaveLength(2);
  });

  test("W3: the next try began before its time where somebody resumed the run", () => {
    const [row] = layoutTimeline(RUN, [aStep(1, 0), retry(2, 1, 100, 90_000), completion(3, 1, 500)]).rows;
    expect(row === undefined ? [] : pieces(row)).toEqual(["failed 0-100", "pause 100-500", "work 500-500"]);
  });

  test("W4: what is open goes on, or ends with the run", () => {
    const sleep = aStep(1, 50, { command: { type: "sleep", wakeAt: at(99_000) } });
    expect(layoutTimeline(RUN, [sleep]).rows.map(pieces)).toEqual([["wait 50-"]]);
    expect(layoutTimeline(DONE, [sleep]).rows.map(pieces)).toEqual([["wait 50-10000"]]);
    expect(layoutTimeline(RUN, [sleep]).to).toBeNull();
  });

  test("a try that waits for a person is a pause without an end", () => {
    const [row] = layoutTimeline(RUN, [aStep(1, 0), retry(2, 1, 100, null)]).rows;
    expect(row === undefined ? [] : pieces(row)).toEqual(["failed 0-100", "pause 100-"]);
  });

  test("calls wait, and lead to their run; what is done at once takes no time", () => {
    const target = { service: "a", handler: "b" };
    const call = aStep(1, 10, { command: { type: "call", target }, child: runId(5) });
    const set = aStep(2, 20, { command: { type: "setState", key: "k", value: 1 } });
    const { rows } = layoutTimeline(RUN, [call, set]);
    expect(rows.map(pieces)).toEqual([["wait 10-"], ["work 20-20"]]);
    expect(rows.map(({ child, outcome }) => [child, outcome])).toEqual([
      [runId(5), "open"],
      [null, "none"],
    ]);
  });

  test("failures of the handler, signals and a person's resume have rows of their own", () => {
    const entries: readonly EntryView[] = [
      retry(1, 0, 100, 700),
      { kind: "signal", index: 2, at: at(800), signal: "go", payload: { kind: "void" } },
      { kind: "resumed", index: 3, at: at(900) },
    ];
    const { rows } = layoutTimeline(RUN, entries);
    expect(rows.map(pieces)).toEqual([["pause 100-700"], ["work 800-800"], ["work 900-900"]]);
  });

  test("W5: what a fork shares is older than the fork, and stands before it", () => {
    const { from, rows } = layoutTimeline(aRun(5_000), [
      aStep(1, 100, { result: VALUE }),
      aStep(2, 250, { result: VALUE }),
    ]);
    expect(from).toBe(Date.parse(at(100)));
    expect(rows.map(pieces)).toEqual([["work 100-100"], ["work 100-250"]]);
  });

  test("ten thousand entries are laid out in the time of some frames", () => {
    const entries = Array.from({ length: 5_000 }, (_, at) => [
      aStep(2 * at + 1, at * 10),
      completion(2 * at + 2, 2 * at + 1, at * 10 + 5),
    ]).flat();
    const start = performance.now();
    expect(layoutTimeline(RUN, entries).rows).toHaveLength(5_000);
    expect(performance.now() - start).toBeLessThan(2_000); // Quadratic would be a minute.
  });
});
