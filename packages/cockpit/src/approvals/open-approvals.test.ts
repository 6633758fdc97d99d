// @vitest-environment jsdom
import { expect, test } from "vitest";
import { anApproval } from "../testing/samples.ts";
import { foundApprovals, readApprovalsSearch } from "../views/approvals/approvals-search.ts";
import { at } from "../testing/samples.ts";
import { sessionOf } from "./approval-text.tsx";
import { budgetOf, concernsSession, whyOf } from "./open-approvals.ts";

test("a session is asked about by itself, by those below it, and by its budget; by nobody else", () => {
  const of = (change: Parameters<typeof anApproval>[0]): boolean => concernsSession(anApproval(change), "a", "s");
  expect(of({ agent: "a", session: "s" })).toBe(true);
  expect(of({ agent: "b", session: "s/child" })).toBe(true);
  expect(of({ kind: "budget", details: { budget: "a/s" } })).toBe(true);
  expect(of({ kind: "budget", details: { budget: "b/s/child" } })).toBe(true);
  expect(of({ agent: "b", session: "s" })).toBe(false);
  expect(of({ agent: "a", session: "s2" })).toBe(false);
  expect(of({ kind: "budget", details: { budget: "a/s2" } })).toBe(false);
  expect(of({ kind: "custom", details: { budget: "a/s" } })).toBe(false);
});

test("a budget's question leads to the session whose budget it is", () => {
  const question = anApproval({ kind: "budget", details: { budget: "a/s/child" } });
  expect(sessionOf(question)).toEqual({ agent: "a", session: "s/child" });
  expect(sessionOf(anApproval({ agent: "a", session: "s" }))).toEqual({ agent: "a", session: "s" });
  expect(sessionOf(anApproval())).toBeNull();
  expect([
    budgetOf(anApproval({ details: { budget: 1 } })),
    whyOf(anApproval({ details: { why: "because" } })),
  ]).toEqual([null, "because"]);
});

test("open questions are found by kind and words, the longest wait first; the others keep their order", () => {
  const all = [
    anApproval({ id: "new", askedAt: at(2), agent: "support", tool: "send_mail" }),
    anApproval({ id: "old", askedAt: at(1), kind: "budget", title: "Raise it" }),
  ];
  const ids = (search: Parameters<typeof foundApprovals>[1]): readonly string[] =>
    foundApprovals(all, search).map(({ id }) => id);
  expect(ids({})).toEqual(["old", "new"]);
  expect(ids({ tab: "closed" })).toEqual(["new", "old"]);
  expect(ids({ kind: "budget" })).toEqual(["old"]);
  expect(ids({ find: "MAIL support" })).toEqual(["new"]);
  expect(ids({ find: "mail raise" })).toEqual([]);
});

test("only what is known is taken from the address", () => {
  expect(readApprovalsSearch({ tab: "closed", kind: "tool", find: "x", id: "apr_1", more: 1 })).toEqual({
    tab: "closed",
    kind: "tool",
    find: "x",
    id: "apr_1",
  });
  expect(readApprovalsSearch({ tab: "open", kind: "all", find: "", id: 4 })).toEqual({});
});
