import { expect, test } from "vitest";
import { parseSearch, searchText } from "./search-text.ts";

test("search parameters read well, and come back as they were", () => {
  const search = {
    status: "paused,failed",
    key: "a b/ü&=",
    since: "2026-01-31T12:00:00.000Z",
    entry: 3,
    none: undefined,
    empty: "",
  };
  const text = searchText(search);
  expect(text).toContain("status=paused,failed");
  expect(parseSearch(text)).toEqual({
    status: "paused,failed",
    key: "a b/ü&=",
    since: "2026-01-31T12:00:00.000Z",
    entry: "3",
  });
  expect(searchText({})).toBe("");
});
