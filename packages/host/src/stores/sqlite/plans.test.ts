import { DatabaseSync, type StatementSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { BlobRefs } from "./blob-refs.ts";
import { ArtifactRows, ArtifactWriter } from "./artifacts.ts";
import { Loader } from "./loader.ts";
import { migrate } from "./migrate.ts";
import { Writer } from "./writer.ts";

/** A database that notes what is prepared on it. */
function noting(db: DatabaseSync): { readonly db: DatabaseSync; readonly noted: string[] } {
  const noted: string[] = [];
  const prepare = (sql: string): StatementSync => {
    noted.push(sql);
    return db.prepare(sql);
  };
  return { db: { prepare } as unknown as DatabaseSync, noted };
}

/** Statements that read a table from its end or begin, and stop there. */
const FIRST_ROW_ONLY = [
  /^SELECT 1 FROM (blobs|images) LIMIT 1$/,
  /^SELECT at FROM timers ORDER BY at LIMIT 1$/,
  /^SELECT 1 FROM sqlite_schema /, // At opening, among some twenty names.
  / FROM artifacts ORDER BY hash$/, // As many as there are deployments; their bytes are not read.
];

describe("query plans", () => {
  test("no statement of the loop looks at rows that it does not want", () => {
    const db = new DatabaseSync(":memory:");
    migrate(db, 0);
    const { db: watched, noted } = noting(db);
    new Loader(watched);
    const refs = new BlobRefs(watched, 1);
    new Writer(watched, refs, 0);
    new ArtifactRows(watched);
    new ArtifactWriter(watched, refs);
    expect(noted.length).toBeGreaterThan(40);
    for (const sql of noted.filter((text) => !FIRST_ROW_ONLY.some((pattern) => pattern.test(text)))) {
      if (sql.startsWith("SELECT hash, data FROM artifacts WHERE NOT EXISTS")) continue; // Below.
      const rows = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
      const scans = rows.map((row) => String(row["detail"])).filter((line) => /^SCAN|TEMP B-TREE/.test(line));
      expect(scans, sql).toEqual([]);
    }
    db.close();
  });

  test("R3: whether an artifact is needed is asked of indexes, once for each", () => {
    const db = new DatabaseSync(":memory:");
    migrate(db, 0);
    const { db: watched, noted } = noting(db);
    new ArtifactWriter(watched, new BlobRefs(watched, 1));
    const [sql = ""] = noted.filter((text) => text.includes("NOT EXISTS"));
    const rows = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
    const searches = rows.map((row) => String(row["detail"])).filter((line) => line.startsWith("SEARCH"));
    expect(searches.join("\n")).toMatch(/images_base \(base=\?\)/);
    expect(searches.join("\n")).toMatch(/runs_bundle \(deployment=\?\)/);
    db.close();
  });

  test("pages of runs by status use the index of statuses, suspended ones the table", () => {
    const db = new DatabaseSync(":memory:");
    migrate(db, 0);
    const plan = (where: string): string =>
      String(
        db.prepare(`EXPLAIN QUERY PLAN SELECT seq FROM runs WHERE ${where} ORDER BY seq LIMIT 5`).all()[0]?.["detail"],
      );
    expect(plan("status = ? AND status <> 'suspended' AND seq > ?")).toContain("runs_status (status=? AND rowid>?)");
    expect(plan("seq > ? AND +status = ?")).toContain("INTEGER PRIMARY KEY (rowid>?)");
    expect(plan("parent IS NOT NULL AND substr(parent, 17) = substr(?, 17) AND parent = ? AND seq > ?")).toContain(
      "runs_parent",
    );
    db.close();
  });
});
