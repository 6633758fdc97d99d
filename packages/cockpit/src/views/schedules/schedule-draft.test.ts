import { describe, expect, test } from "vitest";
import type { ScheduleSummary, ServiceManifest } from "@perdure/protocol";
import {
  draftOfSchedule,
  isComplete,
  keyingOf,
  NEW_SCHEDULE,
  scheduleBody,
  type ScheduleDraft,
} from "./schedule-draft.ts";
import { outcomeOf, targetOf } from "./schedule-words.ts";

const services: readonly ServiceManifest[] = [
  { name: "mailer", kind: "service", handlers: [{ name: "send", mode: "service" }] },
  { name: "inbox", kind: "object", handlers: [{ name: "add", mode: "exclusive" }] },
  {
    name: "order",
    kind: "workflow",
    handlers: [
      { name: "run", mode: "workflow" },
      { name: "approve", mode: "shared" },
    ],
  },
];
const draft: ScheduleDraft = {
  ...NEW_SCHEDULE,
  name: "nightly",
  cron: " 0 3 * * * ",
  timeZone: "Europe/Berlin",
  service: "mailer",
  handler: "send",
};
const stored: ScheduleSummary = {
  name: "poll",
  paused: true,
  timing: { kind: "every", everyMs: 5_400_000 },
  target: { service: "inbox", handler: "add", key: "ada" },
  keyPerStart: false,
  input: { a: 1 },
  overlap: "queue",
  catchUp: "all",
  jitterMs: 300_000,
  exported: false,
  next: [],
  history: [],
};

describe("a schedule that is written", () => {
  test("has a key as its target needs one", () => {
    expect(keyingOf(services, { service: "mailer", handler: "send" })).toBe("none");
    expect(keyingOf(services, { service: "inbox", handler: "add" })).toBe("key");
    expect(keyingOf(services, { service: "order", handler: "run" })).toBe("perStart");
    expect(keyingOf(services, { service: "order", handler: "approve" })).toBe("key");
  });

  test("is complete when there is a name, a time and all of its target", () => {
    expect(isComplete(draft, "none")).toBe(true);
    expect(isComplete(draft, "key")).toBe(false);
    expect(isComplete({ ...draft, key: "k" }, "key")).toBe(true);
    for (const change of [{ name: "" }, { cron: " " }, { handler: "" }, { when: "every" } as const])
      expect(isComplete({ ...draft, ...change }, "none")).toBe(false);
  });

  test("is sent as the API takes it", () => {
    expect(scheduleBody(draft, "none", undefined)).toEqual({
      cron: "0 3 * * *",
      timeZone: "Europe/Berlin",
      target: { service: "mailer", handler: "send" },
      overlap: "skip",
      catchUp: "latest",
      paused: false,
    });
    expect(scheduleBody({ ...draft, service: "order", handler: "run", key: "old" }, "perStart", 1)).toMatchObject({
      target: { service: "order", handler: "run", keyPerStart: true },
      input: 1,
    });
  });

  test("that is stored is read back, and sent unchanged", () => {
    const again = draftOfSchedule(stored, "UTC");
    expect(again).toMatchObject({ when: "every", every: "1h30m", key: "ada", jitter: "5m", paused: true });
    expect(scheduleBody(again, keyingOf(services, again), stored.input)).toEqual({
      every: "1h30m",
      target: { service: "inbox", handler: "add", key: "ada" },
      input: { a: 1 },
      overlap: "queue",
      catchUp: "all",
      jitter: "5m",
      paused: true,
    });
  });
});

test("an outcome is a word and its reason", () => {
  expect(outcomeOf("started")).toEqual({ kind: "started", why: "" });
  expect(outcomeOf("skipped: the one before\nstill runs")).toEqual({
    kind: "skipped",
    why: "the one before\nstill runs",
  });
  expect(outcomeOf("something new")).toEqual({ kind: null, why: "something new" });
});

test("a target without a key of its own says so", () => {
  expect(targetOf(stored)).toEqual({ service: "inbox", handler: "add", key: "ada" });
  expect(targetOf({ ...stored, keyPerStart: true }).key).toBe("…");
});
