// An agent's tools as its turns use them: as models are told of them, and with their inputs checked.

import type { JSONSchema7, JSONValue, LanguageModelV4FunctionTool } from "@ai-sdk/provider";
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
  const functions: LanguageModelV4FunctionTool[] = [];
  const prepared = new Map<string, PreparedTool>();
  for (const [name, tool] of Object.entries(tools)) {
    const { schema, inputSchema } = await readSchema(tool);
    const { description } = tool;
    functions.push({ type: "function", name, inputSchema, ...(description === undefined ? {} : { description }) });
    prepared.set(name, { tool, read: (text) => readInput(schema, text) });
  }
  return { functions, names: functions.map(({ name }) => name), find: (name) => prepared.get(name) };
}

interface ReadSchema {
  readonly schema: Schema<unknown>;
  readonly inputSchema: JSONSchema7;
}

/** Tools are defined once and told to the model before every call; making a JSON schema of zod's takes 40 µs. */
const SCHEMAS: WeakMap<AnyTool, Promise<ReadSchema>> = new WeakMap();

function readSchema(tool: AnyTool): Promise<ReadSchema> {
  let read = SCHEMAS.get(tool);
  if (read === undefined) {
    read = makeSchema(tool);
    SCHEMAS.set(tool, read);
    read.catch(() => SCHEMAS.delete(tool)); // One that is fetched may be there the next time.
  }
  return read;
}

async function makeSchema(tool: AnyTool): Promise<ReadSchema> {
  const schema = asSchema(tool.inputSchema);
  return { schema, inputSchema: await schema.jsonSchema };
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
