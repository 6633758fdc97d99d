// The answer's form, where the agent has a schema for it: what the model is asked for, and what it gave.

import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { asSchema, type FlexibleSchema } from "ai";

export async function responseFormat(
  output: FlexibleSchema<unknown>,
): Promise<NonNullable<LanguageModelV4CallOptions["responseFormat"]>> {
  return { type: "json", schema: await asSchema(output).jsonSchema, name: "answer" };
}

type ReadOutput = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string };

export async function readOutput(output: FlexibleSchema<unknown>, text: string): Promise<ReadOutput> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, problem: "it is not JSON" };
  }
  const checked = await asSchema(output).validate?.(value);
  if (checked === undefined) return { ok: true, value };
  return checked.success ? { ok: true, value: checked.value } : { ok: false, problem: checked.error.message };
}
