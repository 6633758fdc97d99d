// Looking into the image of a run.

import { expect, test } from "vitest";
import type { ImageInspectionAnswer } from "@perdure/protocol";
import { perdure } from "../cli/acting-world.ts";
import { sleepers } from "./fixtures/sleepers.ts";
import { snapshotServer } from "./snapshot-server.ts";

test("an image is shown with its pages, its heap and what stands after it", async () => {
  const { runtime, adminUrl } = await snapshotServer([sleepers], "sleepers.ts", {
    suspendAfterMs: 10,
    isolates: { policy: { tailEntries: 0 } },
  });
  const { run } = await runtime.submit({ target: { service: "sleepers", handler: "listen" }, input: "null" });
  const ask = (...words: string[]) => perdure(["snapshot", "inspect", ...words, "--admin", adminUrl]);
  expect(await ask(run)).toMatchObject({ exit: 4, stderr: expect.stringContaining("no image") });
  // One that has seen nothing is worth no image, so it hears something first.
  const bulk = "x".repeat(300_000);
  await runtime.signal(run, "word", { kind: "value", value: JSON.stringify(bulk) });
  while ((await runtime.moments(run)).length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  const told = await ask(run, "--json");
  expect(told).toMatchObject({ exit: 0, stderr: "" });
  const image = JSON.parse(told.stdout) as ImageInspectionAnswer;
  expect(image).toMatchObject({ runId: run, entry: 1, isOurEngine: true, entriesAfter: 0 });
  expect(image.bundle).toBe((await runtime.run(run)).deployment);
  const { pages, heap } = image;
  expect(pages.code + pages.heap + pages.free).toBe(pages.changed);
  expect(pages.changed * pages.pageBytes).toBeGreaterThan(bulk.length);
  expect(pages.heap * pages.pageBytes).toBeGreaterThan(0.9 * bulk.length);
  expect(image.bytes).toBeLessThan(bulk.length / 10);
  expect(heap?.allocatedBytes).toBeGreaterThan(bulk.length);
  for (const kind of ["objects", "strings", "functions", "atoms"] as const)
    expect(heap?.[kind].count).toBeGreaterThan(100);

  const byHash = await ask(image.hash.slice(0, 12));
  expect(byHash.stdout).toMatch(new RegExp(`^image {3}${image.hash.slice(0, 12)}, of ${run} after entry 1, `));
  expect(byHash.stdout).toMatch(/^waits .*word/m);
  expect(await ask("0".repeat(12))).toMatchObject({ exit: 4 });
  const missing = await fetch(`${adminUrl}/runs/${run}/images/7/inspect`);
  expect([missing.status, await missing.json()]).toMatchObject([400, { error: { code: "P0034" } }]);
}, 30_000);
