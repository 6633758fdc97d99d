import { expect, test } from "vitest";
import { keySearchQuery, sqlText } from "./key-search.ts";

test("what is typed is a text in the statement, never a part of it", () => {
  const query = keySearchQuery({ service: "inbox", find: "' OR 1=1 --", after: "o'k", limit: 10 });
  expect(query).toBe(
    "SELECT DISTINCT key FROM state WHERE service = 'inbox' AND instr(lower(key), lower(''' OR 1=1 --')) > 0 AND key > 'o''k' ORDER BY key LIMIT 10",
  );
  expect(sqlText("a\0'b")).toBe("('a' || char(0) || '''b')");
  expect(sqlText("")).toBe("''");
});

test("the first page begins at the first key", () => {
  expect(keySearchQuery({ service: "s", find: "x", after: null, limit: 5 })).not.toContain("key >");
});
