// G2: the clock of handler code stands at the entry that was delivered last, so that what is met again is the same; that of
// steps is the real one.

import type { RunId } from "@perdure/protocol";
import { expect, test } from "vitest";
import type { Serving } from "../../src/serve.ts";
import { clock, STEP_MS } from "./fixtures/clock.ts";
import { snapshotServer } from "./snapshot-server.ts";

async function suspended({ runtime }: Serving, run: RunId, entries: number): Promise<void> {
  for (let tries = 0; tries < 4_000; tries += 1) {
    const { length } = await runtime.reader.journal(run, 0, 10);
    if (length === entries && (await runtime.reader.run(run))?.status === "suspended") return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error("the run did not suspend");
}

test("the clock is that of the journal in handlers, also when they run again, and the real one in steps", async () => {
  // Never imaged, so that it runs again from its beginning each time that it wakes.
  const isolates = { policy: { tailEntries: 1_000, tailRunMs: 60_000 } };
  const serving = await snapshotServer([clock], "clock.ts", { suspendAfterMs: 10, isolates });
  const { runtime } = serving;
  const { run } = await runtime.submit({ target: { service: "clock", handler: "look" }, input: "null" });
  await suspended(serving, run, 0);
  await runtime.signal(run, "go", { kind: "void" });
  await suspended(serving, run, 1);
  await runtime.signal(run, "end", { kind: "void" });
  const result = await runtime.attach(run);
  if (result.kind !== "value") throw new Error(JSON.stringify(result));
  const seen = JSON.parse(String(result.value)) as { readonly inStep: number };
  const [go, end] = await runtime.reader.journal(run, 0, 2);
  expect(seen).toMatchObject({ begun: (await runtime.reader.run(run))?.createdAt, heard: go?.at });
  expect(seen.inStep - (end?.at ?? 0)).toBeGreaterThanOrEqual(STEP_MS / 2); // Its turn has the time at which it began.
});
