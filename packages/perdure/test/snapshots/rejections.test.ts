// Promises inside an isolate that are rejected without anybody looking: they are logged, with the run and the place.

import { expect, test } from "vitest";
import { careless } from "./fixtures/careless.ts";
import { snapshotServer } from "./snapshot-server.ts";

test("an unhandled rejection is logged once, with its run and its place in the sources; handled ones are not", async () => {
  const lines: string[] = [];
  const { runtime } = await snapshotServer([careless], "careless.ts", { log: (line) => void lines.push(line) });
  const { run } = await runtime.submit({ target: { service: "careless", handler: "run" }, input: null });
  expect(await runtime.attach(run)).toMatchObject({ kind: "value", value: '"done"' });
  const told = lines.filter((line) => line.includes("rejected"));
  expect(told).toEqual([expect.stringContaining("a promise was rejected, and nobody handled it: nobody looks")]);
  expect(told[0]).toContain(run.slice(-6));
  expect(told[0]).toMatch(/fails \(.*careless\.ts:6:\d+\)/);
});
