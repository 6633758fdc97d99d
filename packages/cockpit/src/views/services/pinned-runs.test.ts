import { expect, test } from "vitest";
import { countPinned } from "./pinned-runs.ts";

test("open runs are counted by the deployment that they are pinned to", () => {
  const rows = [
    ["v2", "running", 3, "b"],
    [null, "queued", 5, "c"],
    ["v1", "paused", 2, "a"],
    ["v2", "paused", 1, "b"],
    ["v1", "suspended", 9, "a"],
  ];
  expect(countPinned({ columns: ["deployment", "status", "runs", "service"], rows, truncated: false })).toEqual([
    { deployment: "v1", service: "a", open: 11, paused: 2 },
    { deployment: null, service: "c", open: 5, paused: 0 },
    { deployment: "v2", service: "b", open: 4, paused: 1 },
  ]);
});
