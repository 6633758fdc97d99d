import { expect, test } from "vitest";
import type { RunId } from "@perdure/protocol";
import { commandOfMany } from "./command-of-many.ts";
import type { Selection } from "./selection.ts";

const one: Selection = { kind: "some", ids: new Set(["run_1a" as RunId]) };
const two: Selection = { kind: "some", ids: new Set(["run_1a" as RunId, "run_1b" as RunId]) };
const all: Selection = { kind: "matching" };

test("runs that were chosen by hand are named", () => {
  expect(commandOfMany("cancel", two, { service: "mailer" })).toBe("npx perdure cancel run_1a run_1b");
});

test("all that match are named by what they match", () => {
  expect(commandOfMany("kill", all, { service: "mailer", status: "paused,failed", since: "2h" })).toBe(
    "npx perdure kill --status paused,failed --service mailer --since 2h",
  );
  expect(commandOfMany("pause", all, { own: "shown" })).toBe("npx perdure pause --all");
});

test("what a person wrote is one word of the shell", () => {
  expect(commandOfMany("cancel", all, { service: "a", key: "it's; rm -rf /" })).toBe(
    String.raw`npx perdure cancel --service a --key 'it'\''s; rm -rf /'`,
  );
});

test("where the page leaves runs out, no command does the same", () => {
  expect(commandOfMany("cancel", all, { key: "a" })).toBeNull();
});

test("a restart is one run's", () => {
  expect(commandOfMany("restart", one, {})).toBe("npx perdure restart run_1a --from 1");
  expect(commandOfMany("restart", two, {})).toBeNull();
});
