// Forks and rewinds of runs in isolates: from the image, with what was done shared, and what comes drawn anew.

import type { RunId } from "@perdure/protocol";
import { describe, expect, test } from "vitest";
import type { Serving } from "../../src/serve.ts";
import { dice, maker } from "./fixtures/dice.ts";
import { snapshotServer } from "./snapshot-server.ts";

interface Played {
  readonly before: readonly number[];
  readonly paid: number;
  readonly child: unknown;
  readonly answer: string;
  readonly after: readonly unknown[];
}

const EAGER = { suspendAfterMs: 10, isolates: { policy: { tailEntries: 1 } } };

async function waiting({ runtime }: Serving): Promise<RunId> {
  const { run } = await runtime.submit({ target: { service: "dice", handler: "play" }, input: "1000000" });
  await imaged(runtime, run);
  return run;
}

async function imaged(runtime: Serving["runtime"], run: RunId): Promise<void> {
  for (let tries = 0; tries < 4_000; tries += 1) {
    const isSuspended = (await runtime.reader.run(run))?.status === "suspended";
    if (isSuspended && (await runtime.reader.images(run)).length > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error("the run was not imaged");
}

async function answered({ runtime }: Serving, run: RunId, answer: string): Promise<Played> {
  await runtime.signal(run, "answer", { kind: "value", value: JSON.stringify(answer) });
  const result = await runtime.attach(run);
  if (result.kind !== "value") throw new Error(JSON.stringify(result));
  return JSON.parse(String(result.value)) as Played;
}

describe("runs in isolates", () => {
  test("fork from their image: what was drawn and done is shared, what is drawn afterwards is each one's own", async () => {
    const serving = await snapshotServer([dice, maker], "dice.ts", EAGER);
    const { runtime } = serving;
    const run = await waiting(serving);
    const forks = [await runtime.fork(run, {}), await runtime.fork(run, {})];
    const ends = [await answered(serving, run, "origin")];
    for (const { run: fork } of forks) {
      expect((await runtime.reader.images(fork)).length).toBeGreaterThan(0);
      ends.push(await answered(serving, fork, "fork"));
    }
    const shared = ends.map(({ before, paid, child }) => JSON.stringify({ before, paid, child }));
    expect(new Set(shared).size).toBe(1);
    expect(ends.map(({ answer }) => answer)).toEqual(["origin", "fork", "fork"]);
    for (const at of [0, 1, 2, 3, 4]) expect(new Set(ends.map(({ after }) => after[at])).size).toBe(3);
    const children = await runtime.reader.runs({ service: "maker", limit: 10 });
    expect(children).toHaveLength(1);
  });

  test("rewind to an entry before the image, from their journal: what came after it is done again", async () => {
    const serving = await snapshotServer([dice, maker], "dice.ts", EAGER);
    const { runtime } = serving;
    const run = await waiting(serving);
    const [first] = await runtime.reader.journal(run, 0, 1);
    if (first?.kind !== "command" || first.result?.kind !== "value") throw new Error("the first step has no result");
    const { branch } = await runtime.rewind(run, 1);
    await imaged(runtime, run);
    const end = await answered(serving, run, "again");
    expect(end.paid).toBe(JSON.parse(String(first.result.value)));
    expect((await runtime.reader.run(branch))?.status).toBe("cancelled");
    expect(await runtime.reader.runs({ service: "maker", limit: 10 })).toHaveLength(2);
  });
});
