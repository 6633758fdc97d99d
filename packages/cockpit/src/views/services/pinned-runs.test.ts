import { expect, test } from "vitest";
import { countPinned } from "./pinned-runs.ts";

test("open runs are counted by the deployment that they are pinned to", () => {
  const rows = [
    ["v2", "running", 3],
    [null, "queued", 5],
    ["v1", "paused", 2],
    ["v2", "paused", 1],
    ["v1", "suspended", 9],
  ];
  expect(countPinned({ columns: ["deployment", "status", "runs"], rows, truncated: false })).toEqual([
    { deployment: "v1", open: 11, paused: 2 },
    { deployment: null, open: 5, paused: 0 },
    { deployment: "v2", open: 4, paused: 1 },
  ]);
});
