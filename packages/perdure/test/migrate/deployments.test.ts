// Two versions of a service on one directory, one after the other: old runs keep their code, new ones get the new, and the
// command line and the API move them.

import type { BulkMigrateAnswer, DeploymentsAnswer, MigrationReport, RunId } from "@perdure/protocol";
import { describe, expect, test } from "vitest";
import type { Serving } from "../../src/serve.ts";
import { perdure, type Ran } from "../cli/acting-world.ts";
import { scratchFolder, snapshotServer } from "../snapshots/snapshot-server.ts";
import { caller as caller1 } from "./fixtures/caller-1.ts";
import { caller as caller2 } from "./fixtures/caller-2.ts";
import { clerk as clerk1 } from "./fixtures/clerk-1.ts";
import { clerk as clerk2 } from "./fixtures/clerk-2.ts";

const FIXTURES = new URL("./fixtures/", import.meta.url);

async function version(number: 1 | 2, data: string): Promise<Serving> {
  const definition = number === 1 ? clerk1 : clerk2;
  return snapshotServer([definition], "unused", { data, sources: [new URL(`clerk-${number}.ts`, FIXTURES)] });
}

async function start({ runtime }: Serving): Promise<RunId> {
  const { run } = await runtime.submit({ target: { service: "clerk", handler: "listen" }, input: null });
  return run;
}

const say = ({ runtime }: Serving, run: RunId, word: string): Promise<unknown> =>
  runtime.signal(run, "word", { kind: "value", value: JSON.stringify(word) });

async function output({ runtime }: Serving, run: RunId): Promise<unknown> {
  await say({ runtime } as Serving, run, "end");
  const result = await runtime.attach(run);
  return result.kind === "value" ? JSON.parse(String(result.value)) : result;
}

/** Until it is at its safe point again, after so many words. */
async function atRest({ runtime }: Serving, run: RunId, words: number): Promise<void> {
  for (;;) {
    const journal = await runtime.reader.journal(run, 0, 1_000);
    const points = journal.filter((entry) => entry.kind === "command" && entry.command.type === "step");
    if (points.filter((entry) => JSON.stringify(entry).includes("perdure.safePoint/")).length > words) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const cli = ({ adminUrl }: Serving, ...words: string[]): Promise<Ran> => perdure([...words, "--admin", adminUrl]);

async function api<T>(
  { adminUrl }: Serving,
  method: string,
  path: string,
  body?: object,
): Promise<readonly [number, T]> {
  const response = await fetch(`${adminUrl}${path}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  });
  return [response.status, (await response.json()) as T];
}

describe("deployments", () => {
  test("old runs finish on old code, new ones on new, and some go over", async () => {
    const data = scratchFolder();
    const first = await version(1, data);
    const [stays, goes, poisoned] = [await start(first), await start(first), await start(first)];
    for (const run of [stays, goes]) await say(first, run, "a");
    await say(first, poisoned, "poison");
    for (const run of [stays, goes, poisoned]) await atRest(first, run, 1);
    await first.close();

    const second = await version(2, data);
    const fresh = await start(second);
    await atRest(second, fresh, 0);
    const [, { deployments }] = await api<DeploymentsAnswer>(second, "GET", "/deployments");
    expect(deployments.map(({ entry, services }) => [entry, services])).toEqual([
      ["clerk-2.ts", ["clerk"]],
      ["clerk-1.ts", []],
    ]);
    const pinned = deployments.map(({ runs }) => Object.values(runs).reduce((sum, count) => sum + count, 0));
    expect(pinned).toEqual([1, 3]);
    expect((await cli(second, "deployments")).stdout).toMatch(/^BUNDLE .*\n[0-9a-f]{12} +clerk-2\.ts .* clerk +1 /);

    const dry = await cli(second, "migrate", "--service", "clerk", "--dry-run");
    expect(dry.exit).toBe(5); // One is refused.
    expect(dry.stdout).toContain(`${goes}  would go on with bundle`);
    expect(dry.stdout).toContain(`${poisoned}  would be refused: migrate of clerk/listen failed`);
    expect(dry.stdout).toContain(`${fresh}  unchanged`);
    expect(await cli(second, "migrate", goes)).toMatchObject({
      exit: 0,
      stdout: expect.stringMatching(/ goes on with bundle [0-9a-f]{12}, from the safe point "idle"\n$/),
    });
    expect((await cli(second, "show", goes)).stdout).toContain('from the safe point "idle"');
    await say(second, fresh, "x");
    expect(await output(second, stays)).toEqual({ heard: ["one a"], by: "one" });
    expect(await output(second, goes)).toEqual({ heard: ["one a"], count: 1, from: "idle", by: "two" });
    expect(await output(second, fresh)).toMatchObject({ heard: ["two x"], from: "the beginning" });
  }, 30_000);

  test("a run of old code that calls a function which is not there any more waits for it", async () => {
    const data = scratchFolder();
    const open = (number: 1 | 2): Promise<Serving> =>
      snapshotServer([number === 1 ? caller1 : caller2], "unused", {
        data,
        sources: [new URL(`caller-${number}.ts`, FIXTURES)],
      });
    const first = await open(1);
    const { run } = await first.runtime.submit({ target: { service: "caller", handler: "run" }, input: null });
    await first.close();
    const second = await open(2);
    await say(second, run, "loud");
    let paused = await second.runtime.run(run);
    for (; paused.status !== "paused"; paused = await second.runtime.run(run))
      await new Promise((resolve) => setTimeout(resolve, 5));
    expect(paused.pausedBy).toMatchObject({ errorCode: "P0103", message: expect.stringContaining("hands-1.ts") });
    await second.close();
    const third = await open(1);
    await third.runtime.resume(run);
    expect(await third.runtime.attach(run)).toEqual({ kind: "value", value: '"LOUD"' });
  }, 30_000);

  test("the API refuses with P0104, and says of each run what became of it", async () => {
    const data = scratchFolder();
    const first = await version(1, data);
    const [run, poisoned] = [await start(first), await start(first)];
    await say(first, poisoned, "poison");
    await atRest(first, run, 0);
    await atRest(first, poisoned, 1);
    const [status, refused] = await api<{ error: { code: string } }>(first, "POST", `/runs/${run}/migrate`, {
      to: "123456",
    });
    expect([status, refused.error.code]).toEqual([400, "P0034"]);
    await first.close();

    const second = await version(2, data);
    expect(await api(second, "POST", `/runs/${poisoned}/migrate`)).toMatchObject([409, { error: { code: "P0104" } }]);
    expect(await api(second, "POST", "/runs/migrate", { filter: {} })).toMatchObject([
      400,
      { error: { code: "P0034" } },
    ]);
    const [, answer] = await api<BulkMigrateAnswer>(second, "POST", "/runs/migrate", { filter: { service: "clerk" } });
    expect(answer).toMatchObject({ dryRun: false, matched: 2, outcomes: { migrated: 1, refused: 1 } });
    const [, again] = await api<MigrationReport>(second, "POST", `/runs/${run}/migrate`, { dryRun: true });
    expect(again).toMatchObject({ outcome: "unchanged", dryRun: true });
    expect(await output(second, run)).toMatchObject({ by: "two", from: "idle" });
  }, 30_000);
});
