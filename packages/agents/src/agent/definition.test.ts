// What cannot be meant is refused where an agent is defined, with its place.

import { DefinitionError } from "@perdure/sdk";
import { expect, test } from "vitest";
import { z } from "zod";
import { scriptedModel } from "../models/scripted-model.ts";
import { agent } from "./agent.ts";
import { agentSpec, type AgentOptions } from "./definition.ts";

const model = scriptedModel(() => "yes");
const inputSchema = z.object({});
const execute = (): string => "done";

const refused: readonly (readonly [what: string, options: unknown, message: RegExp])[] = [
  ["no model", { model: [] }, /agent "a" has no model/],
  [
    "a tool's name that no provider takes",
    { model, tools: { "a b": { inputSchema, execute } } },
    /tool "a b" of agent "a"/,
  ],
  ["a tool without an effect", { model, tools: { t: { inputSchema } } }, /one of execute \(one effect\) and run/],
  ["a tool without a schema", { model, tools: { t: { execute } } }, /has no inputSchema/],
  [
    "an approval that is none",
    { model, tools: { t: { inputSchema, execute, approval: "allways" } } },
    /"always", "never"/,
  ],
  ["no steps", { model, maxSteps: 0 }, /maxSteps must be a whole number above 0/],
];

for (const [what, options, message] of refused) {
  test(`${what} is refused`, () => {
    expect(() => agentSpec("a", options as AgentOptions)).toThrow(DefinitionError);
    expect(() => agentSpec("a", options as AgentOptions)).toThrow(message);
  });
}

test("how an agent is remembered is an option of it", () => {
  expect(agent("a", { model, memory: "snapshot" }).options.memory).toBe("snapshot");
  expect(agent("a", { model }).options.memory).toBeUndefined();
});
