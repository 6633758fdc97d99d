import { describe, expect, test } from "vitest";
import { aRun, at, runId } from "../../testing/samples.ts";
import {
  filterBody,
  isEmptySearch,
  matcher,
  readRunsSearch,
  runsQuery,
  searchOfText,
  showsRun,
} from "./runs-search.ts";

const NOW = Date.parse(at(3_600_000));

describe("filters in the address", () => {
  test("what is no filter, or no status, is left out", () => {
    const raw = { status: "paused,nonsense,failed", service: "mailer", key: "", order: "sideways", x: "1", limit: 3 };
    expect(readRunsSearch(raw)).toEqual({
      status: "failed,paused".split(",").toSorted().reverse().join(","),
      service: "mailer",
    });
    expect(readRunsSearch({ status: "nonsense" })).toEqual({});
    expect(isEmptySearch({ order: "oldest" })).toBe(true);
    expect(isEmptySearch({ key: "a" })).toBe(false);
  });

  test("an age is counted from now, a time is taken as it is, and nonsense filters nothing", () => {
    expect(filterBody({ since: "1h" }, NOW)).toEqual({ createdAfter: at(0) });
    expect(filterBody({ since: at(5), until: at(9) }, NOW)).toEqual({ createdAfter: at(5), createdBefore: at(9) });
    expect(filterBody({ since: "yesterday-ish", parent: "run_1x" }, NOW)).toEqual({});
  });

  test("the query carries order, limit and cursor", () => {
    expect(runsQuery({ status: "paused", order: "oldest" }, NOW, 200, 17)).toEqual({
      status: ["paused"],
      order: "oldest",
      limit: 200,
      cursor: 17,
    });
    expect(runsQuery({}, NOW, 200, null)).toEqual({ order: "newest", limit: 200 });
  });

  test.for([
    [{ status: "running,paused" }, true],
    [{ status: "paused" }, false],
    [{ service: "mailer", handler: "send" }, true],
    [{ service: "mail" }, false],
    [{ key: "alice" }, true],
    [{ key: "bob" }, false],
    [{ parent: runId(7) }, true],
    [{ parent: runId(8) }, false],
    [{ since: "1h" }, true],
    [{ since: "30m" }, false],
    [{ until: at(1) }, false],
    [{ until: at(2) }, true],
  ] as const)("F1: a run is judged as the API judges it, %o: %s", ([search, expected]) => {
    const run = aRun(1, { key: "alice", parent: { runId: runId(7), command: 1, awaited: true } });
    expect(matcher(search, NOW)(run)).toBe(expected);
  });
});

test("what the runtime does for itself is shown where it went wrong, or where somebody asks for it", () => {
  const own = aRun(1, { service: "perdure.budgets", status: "succeeded" });
  expect(showsRun({}, own)).toBe(false);
  expect(showsRun({}, { ...own, status: "failed" })).toBe(true);
  expect(showsRun({}, aRun(2, { status: "succeeded" }))).toBe(true);
  expect(showsRun({ own: "shown" }, own)).toBe(true);
  expect(showsRun({ service: "perdure.budgets" }, own)).toBe(true);
  expect(readRunsSearch({ own: "shown" })).toEqual({ own: "shown" });
});

describe("the search box", () => {
  test.for([
    ["mailer", { service: "mailer" }],
    ["mailer/send", { service: "mailer", handler: "send" }],
    ["research/a/b/run", { service: "research", key: "a/b", handler: "run" }],
    ["status:failed key:alice", { status: "failed", key: "alice" }],
    ["since:2h mailer", { since: "2h", service: "mailer" }],
  ] as const)("%s", ([text, search]) => {
    expect(searchOfText(text, {})).toEqual(search);
  });

  test("what the text does not speak of stays", () => {
    expect(searchOfText("key:bob", { status: "failed", key: "alice" })).toEqual({ status: "failed", key: "bob" });
  });
});
