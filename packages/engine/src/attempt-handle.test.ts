import type { Attempt, AttemptReplies, Entry, Run } from "@perdure/protocol";
import { encodeRunId, VOID } from "@perdure/protocol";
import { describe, expect, test } from "vitest";
import { AttemptHandle } from "./attempt-handle.ts";
import type { Event } from "./events.ts";

const run = { id: encodeRunId(new Uint8Array(24)), headers: null, retry: null, forkedFrom: null } as unknown as Run;
const signal = (index: number): Entry => ({ kind: "signal", index, at: 0, signal: "s", payload: VOID });

function begin(onStart: (replies: AttemptReplies) => void, entries: readonly Entry[], before: readonly Entry[] = []) {
  const told: number[] = [];
  const events: Event[] = [];
  const handle = new AttemptHandle(run, 1, { enqueue: (event) => void events.push(event) });
  for (const entry of before) handle.notify(entry);
  const attempt: Attempt = {
    notify: (notified) => void told.push(...notified.map(({ index }) => index)),
    abort: () => undefined,
    awaiting: () => [],
    yield: () => void told.push(-1),
  };
  const start = (_: unknown, replies: AttemptReplies): Attempt => {
    onStart(replies);
    return attempt;
  };
  handle.begin({ start }, { image: null, entries, state: null });
  return { handle, told, events };
}

describe("C2: each entry once", () => {
  test("entries that came while the journal was loaded are passed on where the load did not see them", () => {
    const { told } = begin(() => undefined, [signal(1), signal(2)], [signal(2), signal(3)]);
    expect(told).toEqual([3]);
  });

  test("an entry that the load saw before its commit was acted upon does not come again", () => {
    const { handle, told } = begin(() => undefined, [signal(1), signal(2)]);
    handle.notify(signal(2));
    handle.notify(signal(3));
    expect(told).toEqual([3]);
  });
});

test("C1: an attempt that ends while it begins is told nothing", () => {
  const { handle, told, events } = begin((replies) => replies.end(VOID), [], [signal(1)]);
  handle.notify(signal(2));
  handle.yield();
  expect(told).toEqual([]);
  expect(handle.awaiting()).toBeNull();
  expect(events).toMatchObject([{ type: "end" }]);
});

test("C2, C4: what an image has seen is not told again, and counts as seen", () => {
  const events: Event[] = [];
  const told: number[] = [];
  const handle = new AttemptHandle(run, 1, { enqueue: (event) => void events.push(event) });
  const attempt: Attempt = {
    notify: (entries) => void told.push(...entries.map(({ index }) => index)),
    abort: () => undefined,
    awaiting: () => [],
    yield: () => undefined,
  };
  const info = { entry: 4, hash: "", base: "", size: 0, at: 0, name: null };
  handle.begin({ start: () => attempt }, { image: { info, bytes: new Uint8Array(0) }, entries: [], state: null });
  handle.notify(signal(4));
  handle.suspend([], 2); // All that its code was told; what stands behind it are own commands.
  expect([told, events]).toMatchObject([[], [{ type: "suspend", entriesSeen: 4 }]]);
});
