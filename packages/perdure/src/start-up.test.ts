// What is said at a start: who is told, and what is reported where that fails or is not exported any more.

import { PayloadTooLargeError } from "@perdure/protocol";
import { expect, it } from "vitest";
import { callOnStart } from "./start-up.ts";

it("one that is refused is reported, and keeps nobody else from being told", async () => {
  const told: unknown[] = [];
  const logged: string[] = [];
  const call = (key: string, input?: string) => ({
    target: { service: "perdure.schedules", key, handler: "put" },
    input,
  });
  await callOnStart(
    {
      submit: async ({ target, input }) => {
        if (target.key === "large") throw new PayloadTooLargeError("too much");
        told.push([target.key, input]);
        return { run: "run_1" as never, existing: false, status: "running" };
      },
      reader: { stateKeys: async () => [], state: async () => new Map() },
    },
    [call("large", "x"), call("a", "x"), call("b")],
    (line) => logged.push(line),
    String,
  );
  expect(told).toEqual([
    ["a", '"x"'],
    ["b", null],
  ]);
  expect(logged).toEqual([expect.stringContaining("perdure.schedules/large/put could not be told at the start")]);
});

it("finds those that no module exports any more, however many schedules there are", async () => {
  const keys = Array.from({ length: 501 }, (_, at) => `s${String(at).padStart(3, "0")}`);
  const record = (isExported: boolean) => JSON.stringify({ spec: { exported: isExported } });
  const logged: string[] = [];
  await callOnStart(
    {
      submit: () => Promise.reject(new Error("nothing is to be told")),
      reader: {
        stateKeys: async (_, after, limit) => keys.filter((key) => key > (after ?? "")).slice(0, limit),
        state: async ({ key }) => new Map([["schedule", record(key === "s007" || key === "s500")]]),
      },
    },
    [],
    (line) => logged.push(line),
    String,
  );
  expect(logged.map((line) => /"(s\d+)"/.exec(line)?.[1])).toEqual(["s007", "s500"]);
});
