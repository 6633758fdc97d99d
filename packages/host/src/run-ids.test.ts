import { decodeRunId } from "@perdure/protocol";
import { expect, test } from "vitest";
import { childRunId, derivedRunId, idempotentRunId, randomRunId, workflowRunId } from "./run-ids.ts";

const target = { service: "mailer", handler: "send" };
const keyed = { service: "inbox", handler: "add", key: "ada" };

test("E9: derived ids depend on every part, and on nothing else", () => {
  expect(idempotentRunId(target, "k")).toBe(idempotentRunId(target, "k"));
  const all = [
    idempotentRunId(target, "k"),
    idempotentRunId(target, "l"),
    idempotentRunId({ ...target, handler: "other" }, "k"),
    idempotentRunId({ ...target, service: "other" }, "k"),
    idempotentRunId({ ...keyed, key: "bob" }, "k"),
    idempotentRunId(keyed, "k"),
    workflowRunId("inbox", "ada"),
    workflowRunId("inbox", "bob"),
    derivedRunId(target, ["a", "bc"]),
    derivedRunId(target, ["ab", "c"]),
  ];
  expect(new Set(all).size).toBe(all.length);
});

test("runs of one key share its partition", () => {
  const partition = (id: Parameters<typeof decodeRunId>[0]): string =>
    Buffer.from(decodeRunId(id).subarray(0, 8)).toString("hex");
  const ids = [
    randomRunId(keyed),
    randomRunId(keyed),
    idempotentRunId(keyed, "k"),
    workflowRunId("inbox", "ada"),
    childRunId(randomRunId(target), 0, 1, keyed),
  ];
  expect(new Set(ids.map(partition)).size).toBe(1);
});

test("random ids differ and grow with time; children carry the time of their parent", async () => {
  const ids = Array.from({ length: 2_000 }, () => randomRunId(target));
  expect(new Set(ids).size).toBe(ids.length);
  const time = (id: (typeof ids)[number]): string => Buffer.from(decodeRunId(id).subarray(8, 14)).toString("hex");
  await new Promise((resolve) => setTimeout(resolve, 5));
  const [first = ids[0]] = ids;
  const later = randomRunId(target);
  if (first === undefined) throw new Error("there are ids");
  expect(time(later) > time(first)).toBe(true);
  const child = childRunId(first, 0, 1, target);
  expect(time(child)).toBe(time(first));
  expect(childRunId(first, 1, 1, target)).not.toBe(child);
  expect(childRunId(first, 0, 2, target)).not.toBe(child);
});
