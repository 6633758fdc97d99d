import { describe, expect, test } from "vitest";
import { budgetIn } from "./budget.ts";
import { receiptOf } from "./receipts.ts";
import { readSessionSearch } from "./session-search.ts";
import { splitFinished } from "./split-finished.ts";
import { switchFor } from "./write-switch.ts";

describe("receipts", () => {
  test("R1: a message is accepted, then seen, then answered", () => {
    expect(receiptOf(false, "queued")).toBe("accepted");
    expect(receiptOf(true, "running")).toBe("seen");
    expect(receiptOf(true, "suspended")).toBe("seen");
    expect(receiptOf(true, "succeeded")).toBe("answered");
    expect(receiptOf(false, "succeeded")).toBe("answered");
  });

  test("whose run is not kept any more was seen; an end without an answer is none", () => {
    expect(receiptOf(true, undefined)).toBe("seen");
    expect(receiptOf(true, "failed")).toBe("failed");
    expect(receiptOf(false, "cancelled")).toBe("withdrawn");
    expect(receiptOf(true, "killed")).toBe("withdrawn");
  });
});

describe("text that is being said", () => {
  test("is finished up to its last blank line", () => {
    expect(splitFinished("One.\n\nTwo.\n\nThr")).toEqual(["One.\n\nTwo.\n\n", "Thr"]);
    expect(splitFinished("One.\n")).toEqual(["", "One.\n"]);
    expect(splitFinished("")).toEqual(["", ""]);
  });

  test("is not cut within a block of code", () => {
    const open = "Look:\n\n```ts\nlet a;\n\nlet b";
    expect(splitFinished(open)).toEqual(["Look:\n\n", "```ts\nlet a;\n\nlet b"]);
    expect(splitFinished(`${open};\n\`\`\`\n\nSo`)).toEqual([`${open};\n\`\`\`\n\n`, "So"]);
  });

  test.each(["a\n\nb\n\nc", "```\n\n```\n\nx", "\n\n\n", "~~~\n\nx"])("loses nothing: %j", (text) => {
    expect(splitFinished(text).join("")).toBe(text);
  });
});

describe("the switch for writes", () => {
  const say = (key: string, writes: "allow" | "ask" | "deny") => ({ key, writes, by: "ada" });

  test("the most restrictive of those that speak of a session holds", () => {
    const controls = [say("*", "ask"), say("a", "deny"), say("a/s", "allow"), say("b", "deny")];
    expect(switchFor(controls, "a", "s")).toMatchObject({
      holding: { key: "a", writes: "deny" },
      own: { writes: "allow" },
    });
    expect(switchFor(controls, "c", "s").holding).toMatchObject({ key: "*", writes: "ask" });
  });

  test("where nobody says anything, the agent's rules decide; of two alike the session's own counts", () => {
    expect(switchFor([], "a", "s").holding).toEqual({ key: "a/s", writes: "allow" });
    expect(switchFor([say("*", "ask"), say("a/s", "ask")], "a", "s").holding.key).toBe("a/s");
  });
});

describe("a budget", () => {
  test("has the dimensions that have a limit", () => {
    const budget = budgetIn({
      limits: { tokens: 100, usd: 2 },
      spent: { tokens: 40, usd: 0.5, calls: 3, wallMs: 0 },
      reserved: { tokens: 10, usd: 0, calls: 1 },
      waiting: 2,
      asked: { question: 1, about: "limit" },
      denied: null,
    });
    expect(budget).toEqual({
      dimensions: [
        { name: "tokens", spent: 40, reserved: 10, limit: 100 },
        { name: "usd", spent: 0.5, reserved: 0, limit: 2 },
      ],
      waiting: 2,
      isAsking: true,
      isDenied: false,
    });
  });

  test("what is none has none", () => {
    expect(budgetIn(null)).toEqual({ dimensions: [], waiting: 0, isAsking: false, isDenied: false });
  });
});

test("what of a session is shown stands in its address, and nothing else is taken from there", () => {
  expect(readSessionSearch({ tab: "transcript", at: "12" })).toEqual({ tab: "transcript", at: 12 });
  expect(readSessionSearch({ at: 0 })).toEqual({ at: 0 });
  expect(readSessionSearch({ tab: "secrets", at: "-1", x: 1 })).toEqual({});
  expect(readSessionSearch({ at: "" })).toEqual({});
});
