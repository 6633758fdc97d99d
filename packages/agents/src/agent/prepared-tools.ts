// An agent's tools as its turns use them: as models are told of them, and with their inputs checked.

import type { JSONValue, LanguageModelV4FunctionTool } from "@ai-sdk/provider";
import { asSchema, type Schema } from "ai";
import type { AnyTool, Toolset } from "../tools/tool.ts";

export interface PreparedTools {
  /** In the order of the definition: providers cache prompts by their beginning, and the tools stand there. */
  readonly functions: readonly LanguageModelV4FunctionTool[];
  readonly names: readonly string[];
  find(name: string): PreparedTool | undefined;
}

interface PreparedTool {
  readonly tool: AnyTool;
  /** The input, as the schema makes it, or what is wrong with it. */
  read(text: string): Promise<ReadInput>;
}

type ReadInput =
  | { readonly ok: true; readonly value: unknown; readonly raw: JSONValue }
  | { readonly ok: false; readonly problem: string };

export async function prepareTools(tools: Toolset): Promise<PreparedTools> {
  const entries = Object.entries(tools);
  const all = await Promise.all(entries.map(([name, tool]) => prepared(name, tool)));
  const byName = new Map(entries.map(([name], index) => [name, all[index]]));
  return {
    functions: all.map(({ described }) => described),
    names: entries.map(([name]) => name),
    find: (name) => byName.get(name),
  };
}

interface Prepared extends PreparedTool {
  readonly described: LanguageModelV4FunctionTool;
}

async function prepared(name: string, tool: AnyTool): Promise<Prepared> {
  const { schema, inputSchema } = await schemasOf(tool);
  const { description } = tool;
  return {
    tool,
    described: { type: "function", name, inputSchema, ...(description === undefined ? {} : { description }) },
    read: (text) => readInput(schema, text),
  };
}

interface Schemas {
  readonly schema: Schema<unknown>;
  readonly inputSchema: LanguageModelV4FunctionTool["inputSchema"];
}

/** A schema becomes JSON Schema once, not in every turn. */
const SCHEMAS: WeakMap<AnyTool["inputSchema"], Promise<Schemas>> = new WeakMap();

function schemasOf({ inputSchema: given }: AnyTool): Promise<Schemas> {
  let found = SCHEMAS.get(given);
  if (found === undefined) {
    const schema = asSchema(given);
    found = Promise.resolve(schema.jsonSchema).then((inputSchema) => ({ schema, inputSchema }));
    SCHEMAS.set(given, found);
  }
  return found;
}

async function readInput(schema: Schema<unknown>, text: string): Promise<ReadInput> {
  let raw: JSONValue;
  try {
    raw = text.trim() === "" ? {} : (JSON.parse(text) as JSONValue);
  } catch {
    return { ok: false, problem: `the input is not JSON: ${text.slice(0, 200)}` };
  }
  const checked = await schema.validate?.(raw);
  if (checked === undefined || checked.success)
    return { ok: true, value: checked === undefined ? raw : checked.value, raw };
  return { ok: false, problem: checked.error.message };
}
