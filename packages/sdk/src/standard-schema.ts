// Standard Schema, as much of it as Perdure uses
// ==============================================
// Zod, Valibot, ArkType and others carry their validator under the property `~standard`
// (https://standardschema.dev, version 1). It is typed here structurally, so that the SDK depends on none of them.
// Where a library also has the JSON Schema extension (`~standard.jsonSchema`), manifests and OpenAPI show the schema.

import { ValidationError } from "@perdure/protocol";

export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": StandardProps<Input, Output>;
}

interface StandardProps<Input, Output> {
  readonly version: 1;
  readonly vendor: string;
  readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
  /** Only for inference: never there at run time. */
  readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  readonly jsonSchema?: StandardJsonSchema;
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export interface StandardJsonSchema {
  readonly input: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>;
  readonly output: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>;
}

/** What a caller passes. */
export type SchemaInput<S> = S extends { readonly "~standard": { readonly types?: infer T } }
  ? InputOf<NonNullable<T>>
  : unknown;
/** What comes out of validation. */
export type SchemaOutput<S> = S extends { readonly "~standard": { readonly types?: infer T } }
  ? OutputOf<NonNullable<T>>
  : unknown;
type InputOf<T> = T extends { readonly input: infer I } ? I : unknown;
type OutputOf<T> = T extends { readonly output: infer O } ? O : unknown;

type Side = "input" | "output";

/** Making one takes longer than many a handler, and manifests are made of the same schemas again and again. */
const JSON_SCHEMAS: Readonly<Record<Side, WeakMap<StandardSchema, object | undefined>>> = {
  input: new WeakMap(),
  output: new WeakMap(),
};

/** The JSON Schema of one side of a schema, where its library can say it. */
export function jsonSchemaOf(schema: StandardSchema, side: Side): object | undefined {
  const known = JSON_SCHEMAS[side];
  if (!known.has(schema)) known.set(schema, makeJsonSchema(schema, side));
  return known.get(schema);
}

function makeJsonSchema(schema: StandardSchema, side: Side): object | undefined {
  const json = schema["~standard"].jsonSchema;
  if (json === undefined) return undefined;
  try {
    return json[side]({ target: "draft-2020-12" });
  } catch {
    return undefined; // The library throws for schemas that JSON Schema cannot express (transforms, custom checks).
  }
}

/**
 * The validated value; a promise only where the schema itself answers with one.
 * @throws ValidationError with every issue and its path.
 */
export function validate(schema: StandardSchema, value: unknown, what: string): unknown {
  const result = schema["~standard"].validate(value);
  if (isPromise(result)) return result.then((later) => valueOrThrow(later, what));
  return valueOrThrow(result, what);
}

function isPromise(result: object): result is Promise<StandardResult<unknown>> {
  return typeof (result as { readonly then?: unknown }).then === "function";
}

function valueOrThrow(result: StandardResult<unknown>, what: string): unknown {
  if (result.issues === undefined) return result.value;
  const lines = result.issues.map((issue) => `${formatPath(issue.path)}: ${issue.message}`);
  const first = formatPath(result.issues[0]?.path);
  throw new ValidationError(`${what} does not fit its schema: ${lines.join("; ")}`, { metadata: { path: first } });
}

/** `$`, `$.mail.to`, `$.items[3]`. */
function formatPath(path: StandardIssue["path"]): string {
  let text = "$";
  for (const segment of path ?? []) {
    const key = typeof segment === "object" ? segment.key : segment;
    text += typeof key === "number" ? `[${key}]` : `.${String(key)}`;
  }
  return text;
}
