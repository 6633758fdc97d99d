// What a form begins with: defaults, and what has to be there in any case. What a person has to say is left open.

import type { JsonValue } from "@perdure/protocol";
import { keywordsOf, shapeOf, type Draft, type Schema } from "./schema.ts";

const DEPTH_MAX = 8;

export function initialValue(schema: Schema, root: Schema, depth = 0): Draft {
  const standard = keywordsOf(schema, root)?.["default"];
  if (standard !== undefined) return standard;
  const shape = shapeOf(schema, root);
  switch (shape.kind) {
    case "boolean":
      return false;
    case "null":
      return null;
    case "choice":
      return shape.options.length === 1 ? shape.options[0] : undefined;
    case "list":
      return shape.first.length === 0 || depth > DEPTH_MAX
        ? []
        : shape.first.map((one) => initialValue(one, root, depth + 1) ?? null);
    case "object": {
      const values: Record<string, JsonValue> = {};
      for (const { name, schema: one, isRequired } of depth > DEPTH_MAX ? [] : shape.properties) {
        const value = isRequired ? initialValue(one, root, depth + 1) : keywordsOf(one, root)?.["default"];
        if (value !== undefined) values[name] = value;
      }
      return values;
    }
    case "union":
      return shape.variants[0] === undefined ? undefined : initialValue(shape.variants[0], root, depth + 1);
    case "text":
    case "number":
    case "json":
      return undefined;
  }
}

/** What another variant of a union makes of a value: what has the same name in both stays. */
export function valueForVariant(before: Draft, schema: Schema, root: Schema): Draft {
  const initial = initialValue(schema, root);
  const shape = shapeOf(schema, root);
  if (shape.kind !== "object" || !isRecord(before) || !isRecord(initial)) return initial;
  const kept = shape.properties.flatMap(({ name, schema: one }) => {
    const value = before[name];
    // The name that tells variants apart is the new variant's own.
    return value === undefined || shapeOf(one, root).kind === "choice" ? [] : [[name, value] as const];
  });
  return { ...initial, ...Object.fromEntries(kept) };
}

function isRecord(value: Draft): value is { readonly [name: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
