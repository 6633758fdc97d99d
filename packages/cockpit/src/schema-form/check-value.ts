// Does a value fit a schema? For hints beside a field: the server's word counts, and it checks again.
//
// C1. What is not understood is no fault: a keyword that is unknown here lets everything pass.

import type { JsonValue } from "@perdure/protocol";
import { keywordsOf, shapeOf, type Draft, type Schema } from "./schema.ts";

export type Fault =
  | { readonly kind: "missing" }
  | { readonly kind: "type"; readonly expected: "text" | "number" | "integer" | "boolean" | "null" | "object" | "list" }
  | { readonly kind: "choice" }
  | { readonly kind: "variant" }
  | { readonly kind: "unknown" }
  | { readonly kind: "pattern"; readonly pattern: string }
  | { readonly kind: "atLeast" | "atMost" | "above" | "below" | "multiple"; readonly limit: number }
  | { readonly kind: "shortest" | "longest" | "fewest" | "most"; readonly limit: number };

export interface Issue {
  /** As the server names places: `$.mail.to[0]`. */
  readonly path: string;
  readonly fault: Fault;
}

export function checkValue(schema: Schema, value: Draft, root: Schema = schema, path = "$"): readonly Issue[] {
  if (value === undefined) return [{ path, fault: { kind: "missing" } }];
  const shape = shapeOf(schema, root);
  const keywords = keywordsOf(schema, root) ?? {};
  const fault = (one: Fault): readonly Issue[] => [{ path, fault: one }];
  switch (shape.kind) {
    case "json":
      return schema === false ? fault({ kind: "unknown" }) : [];
    case "text":
      return typeof value === "string" ? textFaults(value, keywords).flatMap(fault) : fault(wrong("text"));
    case "number": {
      const isRight = typeof value === "number" && (!shape.isInteger || Number.isInteger(value));
      return isRight
        ? numberFaults(value, keywords).flatMap(fault)
        : fault(wrong(shape.isInteger ? "integer" : "number"));
    }
    case "boolean":
      return typeof value === "boolean" ? [] : fault(wrong("boolean"));
    case "null":
      return value === null ? [] : fault(wrong("null"));
    case "choice":
      return shape.options.some((option) => sameJson(option, value)) ? [] : fault({ kind: "choice" });
    case "union":
      return unionIssues(shape.variants, value, root, path);
    case "list": {
      if (!Array.isArray(value)) return fault(wrong("list"));
      const sizes = sizeFaults(value.length, keywords, "minItems", "maxItems", ["fewest", "most"]);
      const items = value as readonly JsonValue[];
      const inside = items.flatMap((item, at) =>
        checkValue(shape.first[at] ?? shape.items, item, root, `${path}[${at}]`),
      );
      return [...sizes.flatMap(fault), ...inside];
    }
    case "object": {
      if (!isRecord(value)) return fault(wrong("object"));
      return [
        ...shape.properties.flatMap(({ name, schema: one, isRequired }) =>
          value[name] === undefined && !isRequired ? [] : checkValue(one, value[name], root, pathOf(path, name)),
        ),
        ...unknownNames(value, shape.properties, keywords).flatMap((name) => {
          const others = (keywords["additionalProperties"] ?? true) as Schema;
          return checkValue(others, value[name], root, pathOf(path, name));
        }),
      ];
    }
  }
}

/** Where the server names a place inside of a field, too, the field is the one that is meant. */
export function issueAt(issues: readonly Issue[], path: string): Issue | undefined {
  return issues.find((issue) => issue.path === path);
}

export function pathOf(parent: string, name: string): string {
  return /^\d+$/.test(name) ? `${parent}[${name}]` : `${parent}.${name}`;
}

/** The faults of the variant that comes closest, where one clearly does. */
function unionIssues(variants: readonly Schema[], value: JsonValue, root: Schema, path: string): readonly Issue[] {
  const closest = closestVariant(variants, value, root);
  const issues = variants[closest] === undefined ? [] : checkValue(variants[closest], value, root, path);
  const isElsewhere = issues.some((issue) => issue.path === path);
  return isElsewhere ? [{ path, fault: { kind: "variant" } }] : issues;
}

/** The place of the variant that a value fits best. Of several, the first. */
export function closestVariant(variants: readonly Schema[], value: Draft, root: Schema): number {
  let best = 0;
  let fewest = Number.POSITIVE_INFINITY;
  variants.forEach((variant, at) => {
    const issues = checkValue(variant, value, root);
    // Of the wrong type, or with another tag, is further away than any number of missing fields.
    const weight = issues.reduce(
      (sum, issue) => sum + (issue.path === "$" || issue.fault.kind === "choice" ? 100 : 1),
      0,
    );
    if (weight >= fewest) return;
    fewest = weight;
    best = at;
  });
  return best;
}

function unknownNames(
  value: { readonly [name: string]: JsonValue },
  properties: readonly { readonly name: string }[],
  keywords: { readonly [name: string]: JsonValue },
): readonly string[] {
  if ((keywords["additionalProperties"] ?? true) === true) return [];
  return Object.keys(value).filter((name) => properties.every((property) => property.name !== name));
}

function wrong(expected: Extract<Fault, { kind: "type" }>["expected"]): Fault {
  return { kind: "type", expected };
}

type Keywords = { readonly [name: string]: JsonValue };

/** As JSON Schema counts them: a character outside of the basic plane is one. */
function lettersOf(text: string): number {
  return text.length - (text.match(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g)?.length ?? 0);
}

function textFaults(value: string, keywords: Keywords): readonly Fault[] {
  const faults = sizeFaults(lettersOf(value), keywords, "minLength", "maxLength", ["shortest", "longest"]);
  const { pattern } = keywords;
  if (typeof pattern !== "string" || matches(pattern, value)) return faults;
  return [...faults, { kind: "pattern", pattern }];
}

const PATTERN_TEXT_MAX = 2_000;

/** A pattern that this engine cannot read, or that a long text could keep busy, is left to the server. */
function matches(pattern: string, value: string): boolean {
  if (value.length > PATTERN_TEXT_MAX) return true;
  try {
    return new RegExp(pattern, "u").test(value);
  } catch {
    return true;
  }
}

function numberFaults(value: number, keywords: Keywords): readonly Fault[] {
  const limit = (name: string): number | null => (typeof keywords[name] === "number" ? keywords[name] : null);
  const [least, most, above, below, step] = [
    limit("minimum"),
    limit("maximum"),
    limit("exclusiveMinimum"),
    limit("exclusiveMaximum"),
    limit("multipleOf"),
  ];
  return [
    ...(least !== null && value < least ? [{ kind: "atLeast", limit: least } as const] : []),
    ...(most !== null && value > most ? [{ kind: "atMost", limit: most } as const] : []),
    ...(above !== null && value <= above ? [{ kind: "above", limit: above } as const] : []),
    ...(below !== null && value >= below ? [{ kind: "below", limit: below } as const] : []),
    ...(step !== null && !isMultiple(value, step) ? [{ kind: "multiple", limit: step } as const] : []),
  ];
}

/** 0.3 is a multiple of 0.1, whatever binary fractions make of it. */
function isMultiple(value: number, step: number): boolean {
  const times = value / step;
  return Math.abs(times - Math.round(times)) < 1e-9 * Math.max(1, Math.abs(times));
}

function sizeFaults<K extends "shortest" | "longest" | "fewest" | "most">(
  size: number,
  keywords: Keywords,
  min: string,
  max: string,
  [tooSmall, tooLarge]: readonly [K, K],
): readonly Fault[] {
  const [least, most] = [keywords[min], keywords[max]];
  if (typeof least === "number" && size < least) return [{ kind: tooSmall, limit: least }];
  if (typeof most === "number" && size > most) return [{ kind: tooLarge, limit: most }];
  return [];
}

function isRecord(value: JsonValue): value is { readonly [name: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Equal as JSON, in whatever order objects name their fields. */
export function sameJson(a: JsonValue, b: JsonValue): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item: JsonValue, at) => sameJson(item, (b as JsonValue[])[at] ?? null));
  if (!isRecord(a) || !isRecord(b)) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => name in b && sameJson(a[name] ?? null, b[name] ?? null))
  );
}
