import { expect, test } from "vitest";
import { tablesOf } from "./tables.ts";

test("tables have their columns, and what people ask about stands first", () => {
  const rows = [
    ["blobs", "id", "INTEGER"],
    ["meta", "name", "TEXT"],
    ["runs", "seq", "INTEGER"],
    ["runs", "id", "TEXT"],
    ["state", "key", "TEXT"],
  ];
  expect(tablesOf({ rows }).map(({ name }) => name)).toEqual(["runs", "state", "blobs", "meta"]);
  expect(tablesOf({ rows })[0]?.columns).toEqual([
    { name: "seq", type: "INTEGER" },
    { name: "id", type: "TEXT" },
  ]);
});
