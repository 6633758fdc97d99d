// Idle reclamation: what waits is imaged and let go, by age and by the bound on memory; nothing is lost by it.

import type { RunId } from "@perdure/protocol";
import { describe, expect, test } from "vitest";
import type { Serving } from "../../src/serve.ts";
import { sleepers } from "./fixtures/sleepers.ts";
import { snapshotServer } from "./snapshot-server.ts";

/** Room for one instance. */
const ONE = { memoryMax: 1 };

async function start({ runtime }: Serving, handler: string, input: unknown): Promise<RunId> {
  const { run } = await runtime.submit({ target: { service: "sleepers", handler }, input: JSON.stringify(input) });
  return run;
}

async function output({ runtime }: Serving, run: RunId): Promise<unknown> {
  const result = await runtime.attach(run);
  return result.kind === "value" ? JSON.parse(String(result.value)) : result;
}

describe("idle reclamation", () => {
  test("a tree of runs that wait for each other gets through room for one", async () => {
    const serving = await snapshotServer([sleepers], "sleepers.ts", { isolates: ONE, suspendAfterMs: 60_000 });
    expect(await output(serving, await start(serving, "parent", 6))).toBe(7);
  });

  test("many that sleep get through room for one, each with its own heap", async () => {
    const serving = await snapshotServer([sleepers], "sleepers.ts", { isolates: ONE, suspendAfterMs: 60_000 });
    const naps = Array.from({ length: 60 }, (_, at) => 200 + (at % 7));
    const runs = await Promise.all(naps.map((ms) => start(serving, "nap", ms)));
    const outputs = await Promise.all(runs.map((run) => output(serving, run)));
    expect(outputs).toEqual(naps.map((ms) => [`before ${ms}`, `after ${ms}`]));
  });

  test("signals to one that was let go are heard, in order", async () => {
    const serving = await snapshotServer([sleepers], "sleepers.ts", { suspendAfterMs: 10 });
    const run = await start(serving, "listen", null);
    for (const word of ["a", "b", "c", "end"]) {
      await suspended(serving, run);
      await serving.runtime.signal(run, "word", { kind: "value", value: JSON.stringify(word) });
    }
    expect(await output(serving, run)).toEqual(["a", "b", "c"]);
  });
});

async function suspended({ runtime }: Serving, run: RunId): Promise<void> {
  for (let tries = 0; tries < 2_000; tries += 1) {
    if ((await runtime.reader.run(run))?.status === "suspended") return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error("the run did not suspend");
}
