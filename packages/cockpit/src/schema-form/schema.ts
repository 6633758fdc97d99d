// JSON Schemas as a form sees them: one level at a time, so that a schema that refers to itself has an end
// ======================================================================================================
// F1. What a form cannot show (`not`, `if`, patterns of names …) is a field of JSON text, never left out.
// F2. Nothing here is executed that a schema says: patterns are tried, and no code is made of it.

import type { JsonValue } from "@perdure/protocol";

export type Schema = boolean | { readonly [name: string]: JsonValue };

/** A value, or nothing at all: what a person has not written yet. */
export type Draft = JsonValue | undefined;

export interface Property {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
}

interface Said {
  readonly title: string | null;
  readonly description: string | null;
}

export type Shape = Said &
  (
    | { readonly kind: "text"; readonly format: string | null; readonly isLong: boolean }
    | { readonly kind: "number"; readonly isInteger: boolean }
    | { readonly kind: "boolean" }
    | { readonly kind: "null" }
    | { readonly kind: "choice"; readonly options: readonly JsonValue[] }
    /** `others`: what properties of any other name are; false: there are none. */
    | { readonly kind: "object"; readonly properties: readonly Property[]; readonly others: Schema }
    /** `first`: items that have a place each. */
    | { readonly kind: "list"; readonly first: readonly Schema[]; readonly items: Schema }
    | { readonly kind: "union"; readonly variants: readonly Schema[] }
    /** Anything, or what a form does not know. */
    | { readonly kind: "json" }
  );

type Keywords = { readonly [name: string]: JsonValue };

const LONG_TEXT = 200;
const REFS_MAX = 32;
const UNKNOWN = ["not", "if", "patternProperties", "dependentSchemas", "contains", "$dynamicRef"];

/** Keywords of a schema, with its reference followed and its parts (`allOf`) laid together; null: they cannot be. */
export function keywordsOf(schema: Schema, root: Schema): Keywords | null {
  let found: Schema | null = schema;
  const beside: Keywords[] = [];
  for (let refs = 0; isKeywords(found) && typeof found["$ref"] === "string"; refs += 1) {
    if (refs > REFS_MAX) return null;
    const { $ref, ...rest }: Keywords = found;
    beside.push(rest);
    found = pointed(String($ref), root);
  }
  if (!isKeywords(found)) return found === true ? merged(beside) : null;
  const { allOf, ...own } = found;
  const parts = Array.isArray(allOf) ? allOf.map((part: JsonValue) => keywordsOf(part as Schema, root)) : [];
  if (parts.includes(null)) return null;
  return merged([...(parts as Keywords[]), own, ...beside.toReversed()]);
}

export function shapeOf(schema: Schema, root: Schema): Shape {
  const keywords = keywordsOf(schema, root);
  if (keywords === null) return { title: null, description: null, kind: "json" };
  return { title: textOf(keywords["title"]), description: textOf(keywords["description"]), ...kindOf(keywords) };
}

function kindOf(keywords: Keywords): DistributiveOmit<Shape, keyof Said> {
  if (UNKNOWN.some((name) => name in keywords)) return { kind: "json" };
  if ("const" in keywords) return { kind: "choice", options: [keywords["const"] ?? null] };
  const { enum: options, anyOf, oneOf, type, ...rest } = keywords;
  if (Array.isArray(options)) return { kind: "choice", options };
  const variants = anyOf ?? oneOf;
  if (Array.isArray(variants)) {
    if (anyOf !== undefined && oneOf !== undefined) return { kind: "json" };
    // What stands beside the variants holds for each of them.
    const { title: _, description: __, default: ___, $defs: ____, $schema: _____, ...common } = rest;
    const isBare = Object.keys(common).length === 0 && type === undefined;
    const around = type === undefined ? common : { ...common, type };
    return {
      kind: "union",
      variants: (variants as Schema[]).map((variant) => (isBare ? variant : { allOf: [around, variant as JsonValue] })),
    };
  }
  if (Array.isArray(type)) {
    if (type.length === 1) return ofType(String(type[0]), rest);
    const { title: _, description: __, default: ___, ...common } = rest; // Of the union as a whole.
    return { kind: "union", variants: type.map((one: JsonValue) => ({ ...common, type: one })) };
  }
  return ofType(typeof type === "string" ? type : guessed(keywords), rest);
}

/** Where a schema does not say what it is of, its keywords do. */
function guessed(keywords: Keywords): string {
  if ("properties" in keywords || "required" in keywords) return "object";
  if ("items" in keywords || "prefixItems" in keywords) return "array";
  return "";
}

function ofType(type: string, keywords: Keywords): DistributiveOmit<Shape, keyof Said> {
  switch (type) {
    case "string":
      return { kind: "text", format: textOf(keywords["format"]), isLong: isLong(keywords) };
    case "number":
    case "integer":
      return { kind: "number", isInteger: type === "integer" };
    case "boolean":
    case "null":
      return { kind: type };
    case "object":
      return objectOf(keywords);
    case "array":
      return {
        kind: "list",
        first: Array.isArray(keywords["prefixItems"]) ? (keywords["prefixItems"] as Schema[]) : [],
        items: (keywords["items"] as Schema | undefined) ?? true,
      };
    default:
      return { kind: "json" };
  }
}

function objectOf(keywords: Keywords): DistributiveOmit<Shape, keyof Said> {
  const { properties, required, additionalProperties = true } = keywords;
  const names = Array.isArray(required) ? required : [];
  const known = isKeywords(properties ?? null) ? Object.entries(properties as Keywords) : [];
  // A name that has to be there, of which nothing is said.
  const unsaid = names.filter((name) => known.every(([other]) => other !== name)).map(String);
  return {
    kind: "object",
    properties: [
      ...known.map(([name, schema]) => ({ name, schema: schema as Schema, isRequired: names.includes(name) })),
      ...unsaid.map((name) => ({ name, schema: true, isRequired: true })),
    ],
    // An object that says its properties, and nothing of others, is not meant to be asked for others.
    others: additionalProperties === true && known.length > 0 ? false : (additionalProperties as Schema),
  };
}

function isLong({ maxLength, contentMediaType, format }: Keywords): boolean {
  return (
    contentMediaType !== undefined || format === "textarea" || (typeof maxLength === "number" && maxLength > LONG_TEXT)
  );
}

/** `#`, `#/$defs/address`: other documents are not looked into. */
function pointed(ref: string, root: Schema): Schema | null {
  if (!ref.startsWith("#")) return null;
  let found: JsonValue | undefined = root as JsonValue;
  for (const step of decodeURIComponent(ref).split("/").slice(1)) {
    if (typeof found !== "object" || found === null) return null;
    found = (found as Keywords)[step.replaceAll("~1", "/").replaceAll("~0", "~")];
  }
  return isKeywords(found ?? null) || typeof found === "boolean" ? (found as Schema) : null;
}

function merged(parts: readonly Keywords[]): Keywords {
  const result: Record<string, JsonValue> = {};
  for (const part of parts) {
    for (const [name, value] of Object.entries(part)) {
      const before = result[name];
      if (name === "properties" && isKeywords(before ?? null) && isKeywords(value))
        result[name] = { ...(before as Keywords), ...value };
      else if (name === "required" && Array.isArray(before) && Array.isArray(value))
        result[name] = [...before, ...value];
      else result[name] = value;
    }
  }
  return result;
}

function isKeywords(value: JsonValue): value is Keywords {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: JsonValue | undefined): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
