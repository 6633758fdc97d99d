import { expect, test } from "vitest";
import { metric, parseMetrics } from "./metrics.ts";

const TEXT = `# HELP perdure_runs Runs that are kept, by status.
# TYPE perdure_runs gauge
perdure_runs{status="running"} 3
perdure_runs{status="a \\"b\\"\\n\\\\"} 4
perdure_up 1
perdure_store_bytes 1.5e+6
`;

test("samples are found by name and labels", () => {
  const metrics = parseMetrics(TEXT);
  expect(metric(metrics, "perdure_runs", { status: "running" })).toBe(3);
  expect(metric(metrics, "perdure_runs", { status: 'a "b"\n\\' })).toBe(4);
  expect(metric(metrics, "perdure_runs", { status: "paused" })).toBeUndefined();
  expect(metric(metrics, "perdure_up")).toBe(1);
  expect(metric(metrics, "perdure_store_bytes")).toBe(1_500_000);
  expect(metric(metrics, "perdure_none")).toBeUndefined();
});
