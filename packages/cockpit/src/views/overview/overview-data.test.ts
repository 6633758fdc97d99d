// @vitest-environment jsdom
import { expect, test } from "vitest";
import { anApproval, aRun, at } from "../../testing/samples.ts";
import { itemsOf } from "./attention-list.tsx";
import { commandsFor } from "./empty-runtime.tsx";
import { budgetRow } from "./use-overview.ts";

const approval = anApproval({ askedAt: at(50) });

test("who has waited for a person for longest comes first; failures come last, the newest first", () => {
  const failed = (ms: number) => aRun(ms, { status: "failed", finishedAt: at(ms) });
  const items = itemsOf({
    approvals: [approval],
    paused: [aRun(1, { changedAt: at(90) }), aRun(2, { changedAt: at(10) })],
    failed: [failed(5), failed(7)],
  });
  expect(items.map(({ kind, at: time }) => [kind, time])).toEqual([
    ["paused", at(10)],
    ["approval", at(50)],
    ["paused", at(90)],
    ["failed", at(7)],
    ["failed", at(5)],
  ]);
});

test("a budget's book is read as its amounts; what is no book is none", () => {
  const book = {
    limits: { tokens: 100, nanoUsd: 2e9, calls: null },
    raised: { tokens: 50, nanoUsd: 0 },
    spent: { tokens: 30, nanoUsd: 5e8 },
    question: { number: 1 },
  };
  expect(budgetRow("a/b", book)).toEqual({
    id: "a/b",
    tokens: { spent: 30, limit: 150 },
    usd: { spent: 0.5, limit: 2 },
    isAsking: true,
  });
  expect(budgetRow("a/b", "nonsense")).toBeNull();
});

test("commands that start what is served, with the least that the schema asks for", () => {
  const inputSchema = {
    type: "object",
    properties: { to: { type: "string" }, cc: { type: "string" } },
    required: ["to"],
  };
  const handlers = [
    { name: "send", mode: "exclusive", inputSchema },
    { name: "look", mode: "shared" },
    { name: "own", mode: "exclusive", internal: true },
  ] as const;
  expect(commandsFor({ name: "mail", kind: "object", handlers })).toEqual([
    `npx perdure send mail/my-key/send '{"to":"…"}'`,
  ]);
  expect(commandsFor({ name: "perdure.budgets", kind: "object", handlers })).toEqual([]);
});
