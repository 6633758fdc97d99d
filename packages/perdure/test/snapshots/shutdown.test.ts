// A server that ends in order images and suspends what waits, so that the next one goes on from images; and what the metrics
// say of it.

import { describe, expect, test } from "vitest";
import type { RunId } from "@perdure/protocol";
import type { Serving } from "../../src/serve.ts";
import { sleepers } from "./fixtures/sleepers.ts";
import { scratchFolder, snapshotServer } from "./snapshot-server.ts";

const WARM_FOR_EVER = 3_600_000;

async function metric({ adminUrl }: Serving, name: string): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  const value = new RegExp(`^${name.replaceAll(/[{}"+.]/g, String.raw`\$&`)} (.*)$`, "m").exec(text)?.[1];
  if (value === undefined) throw new Error(`there is no metric ${name}`);
  return Number(value);
}

async function waiting({ runtime }: Serving, run: RunId): Promise<void> {
  while (runtime.live(run).awaiting === null) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe("a shutdown in order", () => {
  test("all that wait are imaged and suspended, and go on from their images", async () => {
    const data = scratchFolder();
    // Each entry is worth an image: what is not imaged when it is let go would be replayed.
    const options = { data, suspendAfterMs: WARM_FOR_EVER, isolates: { policy: { tailEntries: 0 } } };
    const first = await snapshotServer([sleepers], "sleepers.ts", options);
    const runs: RunId[] = [];
    for (let at = 0; at < 5; at += 1) {
      const { run } = await first.runtime.submit({ target: { service: "sleepers", handler: "listen" }, input: "null" });
      await first.runtime.signal(run, "word", { kind: "value", value: JSON.stringify(`word ${at}`) });
      await waiting(first, run);
      runs.push(run);
    }
    expect(await metric(first, "perdure_isolates_live")).toBe(5);
    expect(await metric(first, "perdure_isolates_bytes")).toBeGreaterThan(0);
    expect(await metric(first, "perdure_images_captured_total")).toBe(0);
    await first.close(10_000);

    const second = await snapshotServer([sleepers], "sleepers.ts", options);
    expect((await second.runtime.reader.runs({ limit: 10 })).map(({ status }) => status)).toEqual(
      runs.map(() => "suspended"),
    );
    expect(await metric(second, "perdure_store_images")).toBe(5);
    expect(await metric(second, "perdure_bundles")).toBe(1);
    expect(await metric(second, "perdure_bases")).toBe(1);
    for (const [at, run] of runs.entries()) {
      await second.runtime.signal(run, "word", { kind: "value", value: '"end"' });
      expect(await second.runtime.attach(run)).toEqual({ kind: "value", value: JSON.stringify([`word ${at}`]) });
    }
    expect(await metric(second, "perdure_isolate_restore_seconds_count")).toBe(5);
    expect(await metric(second, 'perdure_isolate_restore_seconds_bucket{le="+Inf"}')).toBe(5);
    expect(await metric(second, "perdure_images_lost_total")).toBe(0);
  }, 30_000);
});
