// What the parts of the ingress' OpenAPI document are made of.

export type Json = Record<string, unknown>;

export const json: (description: string, schema: Json) => Json = (description, schema) => ({
  description,
  content: { "application/json": { schema } },
});
export const pathParameter: (name: string, description?: string) => Json = (name, description) => ({
  name,
  in: "path",
  required: true,
  schema: { type: "string" },
  ...(description === undefined ? {} : { description }),
});

export const ERROR: Json = { $ref: "#/components/schemas/Error" };
export const ERRORS: Json = {
  "4XX": json("The request is refused, or the run failed", ERROR),
  "5XX": json("The run failed, or the server cannot answer now", ERROR),
};
