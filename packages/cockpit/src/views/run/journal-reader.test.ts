import { describe, expect, test, vi } from "vitest";
import type { ApiEvent, EntryView, JournalPage } from "@perdure/protocol";
import { aStep, at, runId } from "../../testing/samples.ts";
import { JournalReader } from "./journal-reader.ts";

const RUN = runId(1);
const told = (entry: EntryView): ApiEvent => ({ type: "entry", at: entry.at, runId: RUN, entry });
const indexes = (reader: JournalReader): readonly number[] => reader.state().entries.map(({ index }) => index);

/** A journal that grows and is cut, and hands out pages of two. */
function journalOf(length: number) {
  const entries: EntryView[] = Array.from({ length }, (_, place) => aStep(place + 1, place));
  const asked: number[] = [];
  const get = async <T>(
    _path: string,
    { query = {} }: { readonly query?: Readonly<Record<string, unknown>> } = {},
  ): Promise<T> => {
    const after = Number(query["after"]);
    asked.push(after);
    const page = entries.slice(after, after + 2);
    const answer: JournalPage = { entries: page, nextAfter: page.length < 2 ? null : (page.at(-1)?.index ?? null) };
    return answer as T;
  };
  return { entries, asked, get };
}

describe("reading a journal", () => {
  test("it is read to its end, page by page, and followed", async () => {
    const journal = journalOf(5);
    const reader = new JournalReader(journal, RUN);
    await reader.read();
    expect(indexes(reader)).toEqual([1, 2, 3, 4, 5]);
    expect(reader.state().isLoading).toBe(false);
    reader.take([told(aStep(6, 9)), told(aStep(7, 9))]);
    expect(indexes(reader)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(journal.asked).toEqual([0, 2, 4]);
  });

  test("entries of others, and what is known already, change nothing", async () => {
    const reader = new JournalReader(journalOf(2), RUN);
    await reader.read();
    const before = reader.state().entries;
    reader.take([told(aStep(2, 9)), { type: "entry", at: at(1), runId: runId(2), entry: aStep(3, 9) }]);
    expect(reader.state().entries).toBe(before);
  });

  test("J1: where an entry was missed, the gap is read", async () => {
    const journal = journalOf(2);
    const reader = new JournalReader(journal, RUN);
    await reader.read();
    journal.entries.push(aStep(3, 3), aStep(4, 4));
    reader.take([told(aStep(4, 4))]);
    expect(indexes(reader)).toEqual([1, 2]);
    await vi.waitFor(() => expect(indexes(reader)).toEqual([1, 2, 3, 4]));
  });

  test("J2: what a restart cut is gone before anything is added", async () => {
    const journal = journalOf(4);
    const reader = new JournalReader(journal, RUN);
    await reader.read();
    journal.entries.splice(2);
    const after = aStep(3, 50, { command: { type: "sleep", wakeAt: at(99) } });
    journal.entries.push(after);
    reader.take([{ type: "truncated", at: at(9), runId: RUN, from: 3 }, told(after)]);
    expect(reader.state().entries.map(({ index, at: time }) => [index, time])).toEqual([
      [1, at(0)],
      [2, at(1)],
      [3, at(50)],
    ]);
  });

  test("events were missed for good: all of it is read again", async () => {
    const journal = journalOf(3);
    const reader = new JournalReader(journal, RUN);
    await reader.read();
    journal.entries.splice(0, 3, aStep(1, 70));
    reader.take([{ type: "reset", last: "9" }]);
    await vi.waitFor(() => expect(reader.state().entries.map(({ at: time }) => time)).toEqual([at(70)]));
  });

  test("J3: after stop nothing is asked, and a failure is told", async () => {
    const journal = journalOf(3);
    const stopped = new JournalReader(journal, RUN);
    stopped.stop();
    await stopped.read();
    expect(journal.asked).toEqual([]);
    const failing = new JournalReader({ get: () => Promise.reject(new Error("down")) }, RUN);
    await failing.read();
    expect(failing.state().error?.message).toBe("down");
  });
});
