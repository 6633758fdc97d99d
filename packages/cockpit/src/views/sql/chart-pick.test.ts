import { describe, expect, test } from "vitest";
import { columnKinds, pickChart, pointsOf } from "./chart-pick.ts";

const T0 = Date.UTC(2026, 0, 31, 12);
const perMinute = {
  columns: ["started_at", "runs"],
  rows: [
    [T0 + 60_000, 3],
    [T0, 5],
  ],
};
const byHandler = {
  columns: ["service", "handler", "runs"],
  rows: [
    ["mailer", "send", 4],
    ["mailer", "echo", 2],
  ],
};

describe("what is drawn of an answer", () => {
  test("a column of milliseconds is a time where it is called so", () => {
    expect(columnKinds(perMinute)).toEqual(["time", "number"]);
    expect(columnKinds({ columns: ["bytes"], rows: [[T0]] })).toEqual(["number"]);
    expect(columnKinds({ columns: ["created_at"], rows: [[12]] })).toEqual(["number"]);
    expect(columnKinds({ columns: ["d"], rows: [["2026-01-31"], [null]] })).toEqual(["time"]);
    expect(columnKinds({ columns: ["x"], rows: [[null]] })).toEqual(["empty"]);
  });

  test("times are lines, names are bars, two numbers are points", () => {
    expect(pickChart(perMinute)).toEqual({ kind: "line", x: 0, y: 1 });
    expect(pickChart(byHandler)).toEqual({ kind: "bars", x: 1, y: 2 }); // Of the names the one that tells rows apart.
    expect(pickChart({ columns: ["a", "b"], rows: [[1, 2]] })).toEqual({ kind: "points", x: 0, y: 1 });
  });

  test("what is asked for is drawn where it can be", () => {
    expect(pickChart(byHandler, { kind: "line", x: "service", y: "runs" })).toEqual({ kind: "line", x: 0, y: 2 });
    expect(pickChart(byHandler, { x: "gone", y: "handler" })).toEqual({ kind: "bars", x: 1, y: 2 });
  });

  test("without a number there is nothing to draw", () => {
    expect(pickChart({ columns: ["a"], rows: [["x"]] })).toBeNull();
    expect(pickChart({ columns: ["a"], rows: [] })).toBeNull();
  });

  test("times run from left to right, names as they came", () => {
    expect(pointsOf(perMinute, { kind: "line", x: 0, y: 1 })).toEqual({
      xs: [T0 / 1_000, T0 / 1_000 + 60],
      ys: [5, 3],
      scale: "time",
      names: [],
    });
    expect(pointsOf(byHandler, { kind: "bars", x: 1, y: 2 })).toEqual({
      xs: [0, 1],
      ys: [4, 2],
      scale: "names",
      names: ["send", "echo"],
    });
  });

  test("a time without a zone is in UTC, as SQLite's own are", () => {
    const rows = [
      ["2026-01-31 12:00:00", 1],
      ["2026-01-31T13:00:00+01:00", 2],
      ["2026-01-31", 3],
    ];
    const points = pointsOf({ columns: ["day", "n"], rows }, { kind: "line", x: 0, y: 1 });
    expect(points.xs).toEqual([T0 / 1_000 - 43_200, T0 / 1_000, T0 / 1_000]);
    expect(points.ys).toEqual([3, 1, 2]);
  });
});
