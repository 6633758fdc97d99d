import { BadRequestError } from "@perdure/protocol";
import { Writer } from "@perdure/engine/testing";
import { describe, expect, test } from "vitest";
import { openSqliteStore } from "./open.ts";
import { lastBatch, numberedBatch, scratch } from "./testing/scratch.ts";

const ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c";

describe("SQL of people", () => {
  test("an endless statement is stopped after its time, and holds up nobody", async () => {
    using directory = scratch();
    const store = await openSqliteStore({ directory: directory.path, sqlTimeMsMax: 500 });
    const writer = await Writer.on(store);
    let stopped = false;
    const endless = Promise.allSettled([store.reader.sql(ENDLESS, 10)]).finally(() => (stopped = true));
    let commits = 0;
    while (!stopped) {
      await writer.commit(...numberedBatch(++commits));
      await new Promise((resolve) => setImmediate(resolve));
    }
    const [outcome] = await endless;
    expect(outcome).toMatchObject({
      reason: { code: "P0034", message: expect.stringContaining("longer than 500 ms") },
    });
    expect(commits).toBeGreaterThan(10);
    expect(await lastBatch(store)).toBe(commits);
    await store.close();
  }, 20_000);

  test("values come as they are stored: bytes as bytes, whole numbers that a number cannot hold as text", async () => {
    using directory = scratch();
    const store = await openSqliteStore({ directory: directory.path });
    const { rows } = await store.reader.sql("SELECT 1, 2.5, 'a', NULL, x'00ff', 9223372036854775807", 1);
    expect(rows).toEqual([[1, 2.5, "a", null, new Uint8Array([0, 255]), "9223372036854775807"]]);
    await store.close();
  });

  test("a statement that is wrong is told where, as far as that can be known", async () => {
    using directory = scratch();
    const store = await openSqliteStore({ directory: directory.path });
    const placeOf = async (query: string): Promise<string | undefined> => {
      const error = await store.reader.sql(query, 1).catch((one: unknown) => one);
      expect(error, query).toBeInstanceOf(BadRequestError);
      return (error as BadRequestError).metadata?.["position"];
    };
    // The word stands there twice, and the second one is wrong.
    expect(await placeOf("SELECT id AS a FROM runs AS FROM")).toBe("28");
    expect(await placeOf("SELECT id, status\nFORM runs")).toBe("23");
    expect(await placeOf("SELECT runs_id, s FROM runs")).toBe("7");
    expect(await placeOf("SELECT states, 1 FROM runs, state WHERE states = 1")).toBe("7");
    expect(await placeOf("SELECT * FROM runs JOIN entry ON 1")).toBe("24");
    expect(await placeOf("SELECT 'a' || ^ 2")).toBe("14");
    expect(await placeOf("SELECT")).toBeUndefined();
    await store.close();
  }, 20_000);

  test("tables can be asked about, other files cannot be reached", async () => {
    using directory = scratch();
    const store = await openSqliteStore({ directory: directory.path });
    const columns = await store.reader.sql("SELECT name FROM pragma_table_info('timers')", 10);
    expect(columns.rows.flat()).toEqual(["at", "run", "kind", "id"]);
    expect((await store.reader.sql("EXPLAIN QUERY PLAN SELECT * FROM runs", 10)).rows.length).toBe(1);
    for (const query of [
      "/* */ -- \n ATTACH 'x' AS x",
      "SELECT load_extension('x')",
      "SELECT * FROM pragma_database_list",
      "EXPLAIN DELETE FROM runs",
      "VACUUM INTO 'x'",
    ]) {
      await expect(store.reader.sql(query, 1), query).rejects.toBeInstanceOf(BadRequestError);
    }
    await store.close();
  }, 20_000);
});
