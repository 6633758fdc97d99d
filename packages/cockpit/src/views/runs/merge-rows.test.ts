import { describe, expect, test } from "vitest";
import type { RunSummary } from "@perdure/protocol";
import { aRun, runId } from "../../testing/samples.ts";
import { mergeRows, type MergeInput } from "./merge-rows.ts";

const running = (run: RunSummary): boolean => run.status === "running";
const seqs = (rows: readonly RunSummary[]): readonly number[] => rows.map(({ seq }) => seq);

function merge(read: readonly RunSummary[], told: readonly RunSummary[], change: Partial<MergeInput> = {}) {
  return mergeRows({
    read,
    readIds: new Set(read.map(({ id }) => id)),
    hasMore: false,
    told,
    deleted: new Set(),
    matches: running,
    order: "newest",
    newestShown: null,
    ...change,
  });
}

const READ = [9, 7, 5, 3].map((seq) => aRun(seq));

describe("rows", () => {
  test("nothing happened: what was read, the very same list", () => {
    expect(merge(READ, []).rows).toBe(READ);
    expect(merge(READ, [aRun(7)]).rows).toBe(READ);
  });

  test("M1: new runs come first, and runs that match now come in their place", () => {
    expect(seqs(merge(READ, [aRun(6), aRun(11), aRun(10)]).rows)).toEqual([11, 10, 9, 7, 6, 5, 3]);
    const oldest = { order: "oldest" } as const;
    expect(seqs(merge(READ.toReversed(), [aRun(10), aRun(4)], oldest).rows)).toEqual([3, 4, 5, 7, 9, 10]);
  });

  test("M2: who does not match any more, or was deleted, goes", () => {
    const done = aRun(7, { status: "succeeded" });
    expect(seqs(merge(READ, [done, aRun(12, { status: "failed" })]).rows)).toEqual([9, 5, 3]);
    expect(seqs(merge(READ, [aRun(11)], { deleted: new Set([runId(5), runId(11)]) }).rows)).toEqual([9, 7, 3]);
  });

  test("M2: what lies beyond what is loaded comes with its page", () => {
    expect(seqs(merge(READ, [aRun(2)], { hasMore: true }).rows)).toEqual([9, 7, 5, 3]);
    expect(seqs(merge(READ, [aRun(2)], { hasMore: false }).rows)).toEqual([9, 7, 5, 3, 2]);
  });

  test("M3: newer ones are counted, not shown, while the reader is elsewhere", () => {
    const { rows, held } = merge(READ, [aRun(10), aRun(11), aRun(8)], { newestShown: 9 });
    expect(seqs(rows)).toEqual([9, 8, 7, 5, 3]);
    expect(held).toBe(2);
  });
});
