// schedule(): its types, and what it refuses when a module is loaded.

import { DefinitionError } from "@perdure/protocol";
import { createRegistry, object, service, validate, workflow } from "@perdure/sdk";
import { describe, expect, it } from "vitest";
import { schedule } from "./schedule.ts";
import { sameJson, scheduleSpec, storedSpec } from "./spec.ts";

const mailer = service("mailer", { send: async (_, to: string) => to, sweep: async () => 1 });
const inbox = object("inbox", { add: async (_, note: { readonly text: string }) => note.text });
const report = workflow("report", { run: async (_, day?: number) => day, look: async () => 1 });
const cron = "0 3 * * *";

describe("schedule()", () => {
  it("is typed by its target", () => {
    const typed = (): unknown => [
      schedule("a", { cron, target: mailer, handler: "send", input: "ada" }),
      schedule("b", { every: "15m", target: mailer, handler: "sweep" }),
      schedule("c", {
        cron,
        timeZone: "Europe/Berlin",
        target: inbox,
        key: "ada",
        handler: "add",
        input: { text: "x" },
      }),
      schedule("d", { cron, target: report, handler: "run" }),
      schedule("e", { cron, target: report, handler: "run", input: 1 }),
      schedule("f", { cron, target: report, key: "k", handler: "look" }),
      // @ts-expect-error the input is a string
      schedule("a", { cron, target: mailer, handler: "send", input: 1 }),
      // @ts-expect-error it needs one
      schedule("a", { cron, target: mailer, handler: "send" }),
      // @ts-expect-error there is no such handler
      schedule("a", { cron, target: mailer, handler: "sent", input: "ada" }),
      // @ts-expect-error either cron or every
      schedule("a", { cron, every: "15m", target: mailer, handler: "sweep" }),
      // @ts-expect-error neither
      schedule("a", { target: mailer, handler: "sweep" }),
      // @ts-expect-error an object has keys
      schedule("a", { cron, target: inbox, handler: "add", input: { text: "x" } }),
      // @ts-expect-error a service has none
      schedule("a", { cron, target: mailer, key: "k", handler: "sweep" }),
      // @ts-expect-error no such policy
      schedule("a", { cron, target: mailer, handler: "sweep", overlap: "never" }),
    ];
    expect(typed).toThrow(DefinitionError); // Wrong types are refused when it runs, too.
  });

  it("brings what it needs, and says at a start what it is", () => {
    const weekly = schedule("weekly", { cron, target: report, handler: "run", jitter: "5m" });
    const { definitions, onStart } = createRegistry([weekly]);
    expect(definitions.map(({ name }) => name)).toEqual(["report", "perdure.schedules", "perdure.schedules.lanes"]);
    const target = { service: "report", handler: "run", keyPerStart: true };
    expect(onStart).toEqual([
      {
        target: { service: "perdure.schedules", key: "weekly", handler: "put" },
        input: { cron, jitter: "5m", target, exported: true },
      },
    ]);
    expect(() => createRegistry([weekly, schedule("weekly", { cron, target: report, handler: "run" })])).toThrow(
      'two schedules have the name "weekly"',
    );
  });

  const target = { target: mailer, handler: "sweep" } as const;
  it.each<[string, () => unknown]>([
    ["its name has 1 to 200 characters", () => schedule("", { cron, ...target })],
    ["five fields", () => schedule("a", { cron: "daily", ...target })],
    ["is not a time zone", () => schedule("a", { cron, timeZone: "Berlin", ...target })],
    ["every is not a duration", () => schedule("a", { every: "soon", ...target })],
    ["at least a second", () => schedule("a", { every: "10ms", ...target })],
    ["jitter is not a duration", () => schedule("a", { cron, jitter: "some", ...target })],
    ["is not a definition but undefined", () => schedule("a", { cron, ...target, target: undefined } as never)],
    ['has no handler "x"; it has send, sweep', () => schedule("a", { cron, ...target, handler: "x" } as never)],
    ["a service and has no keys", () => schedule("a", { cron, ...target, key: "k" } as never)],
    ["needs a key", () => schedule("a", { cron, target: inbox, handler: "add" } as never)],
    ["leave the key out", () => schedule("a", { cron, target: report, handler: "run", key: "k" } as never)],
    ["timeZone goes with cron", () => schedule("a", { every: "1h", timeZone: "UTC", ...target } as never)],
    ["either cron or every", () => schedule("a", { every: "1h", cron, ...target } as never)],
  ])("refuses: %s", (problem, make) => {
    expect(make).toThrow(problem);
    expect(make).toThrow(DefinitionError);
  });
});

describe("specs", () => {
  const to = { service: "mailer", handler: "sweep" };

  it("are the same where they mean the same", () => {
    const spelled = storedSpec({
      every: "1h",
      target: { handler: "sweep", service: "mailer" },
      overlap: "skip",
      input: { a: 1, b: 2 },
    });
    expect(sameJson(spelled, storedSpec({ every: 3_600_000, target: to, jitter: "0s", input: { b: 2, a: 1 } }))).toBe(
      true,
    );
    expect(sameJson(spelled, storedSpec({ every: "2h", target: to, input: { a: 1, b: 2 } }))).toBe(false);
    expect(storedSpec({ every: "1h", target: to, catchUp: "all" }).overlap).toBe("queue");
  });

  it("are checked where they are put by hand", () => {
    const check = (spec: unknown) => () => validate(scheduleSpec, spec, "the input");
    expect(check({ cron, target: to })()).toEqual({ cron, target: to });
    expect(check({ cron: "0 3", target: to })).toThrow("five fields");
    expect(check({ cron, target: { service: "mailer" } })).toThrow("$.target.handler");
    expect(check({ cron, target: { ...to, key: "k", keyPerStart: true } })).toThrow("not both");
    expect(check({ cron, target: to, overlap: "never" })).toThrow("$.overlap");
  });
});
