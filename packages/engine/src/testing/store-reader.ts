// Contract: what people read (paging, filters, T5).

import { BadRequestError, type Run, type RunStatus } from "@perdure/protocol";
import { describe, expect } from "vitest";
import type { RunFilter } from "../store.ts";
import { append, fullRun, runIdOf, runOf, stepEntry, type StoreContract, type Writer } from "./store-harness.ts";
import { type StoreTest, storeTest } from "./store-test.ts";

export function describeReader(contract: StoreContract): void {
  const test = storeTest(contract);
  describeRunPages(test);
  describeSingles(test);
  describeSql(test, contract.capabilities.sql);
}

const STATUSES: readonly RunStatus[] = ["running", "suspended", "succeeded", "failed"];

/** Forty runs that differ in everything that a filter asks for. */
function sampleRuns(): Run[] {
  return Array.from({ length: 40 }, (_, i) => {
    const seq = 2 * i + 1;
    return runOf(seq, {
      status: STATUSES[i % 4] ?? "running",
      service: i % 3 === 0 ? "inbox" : i % 7 === 0 ? "perdure.approvals" : "mailer",
      handler: i % 5 === 0 ? "add" : "send",
      key: i % 2 === 0 ? `k${i % 6}` : null,
      mode: i % 2 === 0 ? "shared" : "service",
      parent: i % 7 === 0 ? { run: runIdOf(1), command: i, awaited: i % 2 === 0 } : null,
      createdAt: 1_000 + ((i * 13) % 40),
    });
  });
}

async function insertSamples(writer: Writer): Promise<Run[]> {
  const runs = sampleRuns();
  await writer.commit(...runs.map((run) => ({ type: "insertRun", run }) as const));
  return runs;
}

function describeRunPages(test: StoreTest): void {
  describe("run lists", () => {
    test("filters alone and together, newest and oldest first", async ({ writer }) => {
      const runs = await insertSamples(writer);
      const filters: readonly [Omit<RunFilter, "limit">, (run: Run) => boolean][] = [
        [{}, () => true],
        [{ status: ["failed"] }, (run) => run.status === "failed"],
        [
          { status: ["suspended", "succeeded", "suspended"] },
          (run) => run.status === "suspended" || run.status === "succeeded",
        ],
        [{ status: [] }, () => false],
        [{ service: "inbox" }, (run) => run.service === "inbox"],
        [{ handler: "add", service: "mailer" }, (run) => run.handler === "add" && run.service === "mailer"],
        [{ key: "k2" }, (run) => run.key === "k2"],
        [{ createdAfter: 1_010, createdBefore: 1_030 }, (run) => run.createdAt > 1_010 && run.createdAt < 1_030],
        [{ parent: runIdOf(1) }, (run) => run.parent !== null],
        [
          { parent: runIdOf(1), status: ["running", "suspended"] },
          (run) => run.parent !== null && (run.status === "running" || run.status === "suspended"),
        ],
        [{ status: ["suspended"], service: "inbox" }, (run) => run.status === "suspended" && run.service === "inbox"],
        [{ builtIn: false }, (run) => !run.service.startsWith("perdure.")],
        [{ service: "nobody" }, () => false],
      ];
      for (const [filter, matches] of filters) {
        const expected = runs.filter(matches);
        expect(await writer.store.reader.runs({ ...filter, limit: 1_000, order: "oldest" })).toStrictEqual(expected);
        expect(await writer.store.reader.runs({ ...filter, limit: 1_000 })).toStrictEqual(expected.toReversed());
      }
    });

    test("pages follow each other by cursor without gaps or repeats", async ({ writer }) => {
      const runs = await insertSamples(writer);
      for (const order of ["newest", "oldest"] as const) {
        for (const status of [undefined, ["running", "failed"], ["suspended", "failed"]] as const) {
          const seen: number[] = [];
          for (let cursor: number | undefined; ; ) {
            const filter = {
              order,
              limit: 7,
              ...(status === undefined ? {} : { status }),
              ...(cursor === undefined ? {} : { cursor }),
            };
            const page = await writer.store.reader.runs(filter);
            seen.push(...page.map(({ seq }) => seq));
            if (page.length < 7) break;
            cursor = page.at(-1)?.seq;
          }
          const expected = runs
            .filter((run) => status === undefined || (status as readonly RunStatus[]).includes(run.status))
            .map(({ seq }) => seq);
          expect(seen).toEqual(order === "oldest" ? expected : expected.toReversed());
        }
      }
    });

    test("counts by status", async ({ writer }) => {
      expect(await writer.store.reader.counts()).toEqual({});
      await insertSamples(writer);
      expect(await writer.store.reader.counts()).toEqual({ running: 10, suspended: 10, succeeded: 10, failed: 10 });
      await writer.commit({ type: "deleteRun", run: 1, id: runIdOf(1) });
      expect(await writer.store.reader.counts()).toMatchObject({ running: 9 });
    });

    test("counts by bundle and status, of runs that have one", async ({ writer }) => {
      expect(await writer.store.reader.deployments()).toEqual([]);
      const [a, b] = ["a".repeat(64), "b".repeat(64)];
      const runs: readonly (readonly [string | null, RunStatus])[] = [
        [b, "suspended"],
        [a, "suspended"],
        [null, "suspended"],
        ["by hand", "running"],
        [a, "running"],
        [a, "suspended"],
      ];
      for (const [at, [deployment, status]] of runs.entries())
        await writer.commit({ type: "insertRun", run: runOf(at + 1, { deployment, status }) });
      expect(await writer.store.reader.deployments()).toEqual([
        { deployment: a, status: "running", count: 1 },
        { deployment: a, status: "suspended", count: 2 },
        { deployment: b, status: "suspended", count: 1 },
      ]);
    });
  });
}

function describeSingles(test: StoreTest): void {
  describe("single reads", () => {
    test("one run, whole, or null", async ({ writer }) => {
      await writer.commit({ type: "insertRun", run: fullRun(3) });
      expect(await writer.store.reader.run(runIdOf(3))).toStrictEqual(fullRun(3));
      expect(await writer.store.reader.run(runIdOf(4))).toBeNull();
    });

    test("journals by page", async ({ writer }) => {
      await writer.commit(
        { type: "insertRun", run: runOf(1, { input: `"${"x".repeat(9_000)}"` }) },
        ...[1, 2, 3, 4, 5].map((i) => append(1, i, stepEntry(i, i))),
      );
      const page = async (after: number, limit: number) =>
        (await writer.store.reader.journal(runIdOf(1), after, limit)).map(({ index }) => index);
      expect(await page(0, 2)).toEqual([1, 2]);
      expect(await page(2, 100)).toEqual([3, 4, 5]);
      expect(await page(5, 100)).toEqual([]);
      expect(await page(0, 0)).toEqual([]);
      expect(await writer.store.reader.journal(runIdOf(2), 0, 10)).toEqual([]);
    });

    test("T5: keys that have state, in order, by page", async ({ writer }) => {
      const keys = ["b", "a", "\u{1F98A}", "\uFFFD", "", "a b", "é"];
      for (const key of keys) {
        for (const name of ["x", "y"])
          await writer.commit({ type: "setState", key: { service: "inbox", key }, name, value: "1" });
      }
      await writer.commit({ type: "setState", key: { service: "other", key: "z" }, name: "x", value: "1" });
      const ordered = ["", "a", "a b", "b", "é", "\uFFFD", "\u{1F98A}"];
      const reader = writer.store.reader;
      expect(await reader.stateKeys("inbox", null, 100)).toEqual(ordered);
      expect(await reader.stateKeys("inbox", null, 2)).toEqual(ordered.slice(0, 2));
      expect(await reader.stateKeys("inbox", "a", 3)).toEqual(ordered.slice(2, 5));
      expect(await reader.stateKeys("inbox", "\u{1F98A}", 3)).toEqual([]);
      await writer.commit(
        { type: "clearAllState", key: { service: "inbox", key: "b" } },
        { type: "clearState", key: { service: "inbox", key: "a" }, name: "x" },
      );
      expect(await reader.stateKeys("inbox", null, 100)).toEqual(ordered.filter((key) => key !== "b"));
    });

    test("figures are numbers, and count the rows", async ({ writer }) => {
      await writer.commit(
        { type: "insertRun", run: runOf(1) },
        { type: "addTimer", timer: { at: 1, run: 1, kind: "wake", id: 0 } },
      );
      const stats = await writer.store.reader.stats();
      expect(stats).toMatchObject({ runs: 1, timers: 1, state: 0, promises: 0, waiters: 0 });
      for (const figure of Object.values(stats)) expect(Number.isFinite(figure)).toBe(true);
    });
  });
}

function describeSql(test: StoreTest, speaksSql: boolean): void {
  describe("SQL of people", () => {
    test(speaksSql ? "answers one reading statement" : "is refused where the store speaks none", async ({ writer }) => {
      await writer.commit(
        { type: "insertRun", run: runOf(1) },
        { type: "insertRun", run: runOf(2, { status: "failed" }) },
      );
      const { reader } = writer.store;
      if (!speaksSql) {
        await expect(reader.sql("SELECT 1", 10)).rejects.toBeInstanceOf(BadRequestError);
        return;
      }
      expect(await reader.sql("SELECT seq, status, input FROM runs ORDER BY seq", 10)).toEqual({
        columns: ["seq", "status", "input"],
        rows: [
          [1, "running", '{"to":"a"}'],
          [2, "failed", '{"to":"a"}'],
        ],
        truncated: false,
      });
      expect(await reader.sql("WITH r AS (SELECT seq FROM runs) SELECT count(*) FROM r;  -- all", 1)).toMatchObject({
        rows: [[2]],
        truncated: false,
      });
      expect(await reader.sql("SELECT seq FROM runs ORDER BY seq", 1)).toMatchObject({ rows: [[1]], truncated: true });
    });

    const refused = [
      "DELETE FROM runs",
      "SELECT 1; SELECT 2",
      "SELECT 1; DELETE FROM runs",
      "WITH a AS (SELECT 1) DELETE FROM runs",
      "ATTACH 'x' AS y",
      "PRAGMA user_version = 3",
      "",
      "SELECT nonsense",
      "SELECT * FROM nowhere",
    ];
    for (const query of refused) {
      test(`refuses ${query === "" ? "nothing at all" : query}`, async ({ writer }) => {
        await writer.commit({ type: "insertRun", run: runOf(1) });
        await expect(writer.store.reader.sql(query, 10)).rejects.toBeInstanceOf(BadRequestError);
        expect(await writer.store.reader.counts()).toEqual({ running: 1 });
      });
    }
  });
}
