import { describe, expect, test } from "vitest";
import { checkValue, closestVariant } from "./check-value.ts";
import { initialValue, valueForVariant } from "./initial-value.ts";
import { shapeOf, type Schema, type Shape } from "./schema.ts";

const kindOf = (schema: Schema, root: Schema = schema): Shape["kind"] => shapeOf(schema, root).kind;

const address: Schema = {
  type: "object",
  properties: { street: { type: "string", minLength: 1 }, zip: { type: "string", pattern: "^\\d{5}$" } },
  required: ["street"],
  additionalProperties: false,
};
const payment: Schema = {
  anyOf: [
    { type: "object", properties: { by: { const: "card" }, number: { type: "string" } }, required: ["by", "number"] },
    { type: "object", properties: { by: { const: "bill" }, to: { $ref: "#/$defs/address" } }, required: ["by", "to"] },
  ],
};
const order: Schema = {
  type: "object",
  properties: {
    customer: { type: "string" },
    count: { type: "integer", minimum: 1, exclusiveMaximum: 100 },
    express: { type: "boolean" },
    priority: { enum: ["low", "high"], default: "low" },
    payment,
    note: { type: ["string", "null"] },
    tags: { type: "array", items: { type: "string" }, maxItems: 2 },
  },
  required: ["customer", "count", "express", "payment"],
  $defs: { address },
};

describe("a schema as a form", () => {
  test("has a kind for each of its parts", () => {
    expect(kindOf({ type: "string" })).toBe("text");
    expect(shapeOf({ type: "string", maxLength: 5_000 }, true)).toMatchObject({ kind: "text", isLong: true });
    expect(shapeOf({ type: "integer" }, true)).toMatchObject({ kind: "number", isInteger: true });
    expect(kindOf({ const: 3 })).toBe("choice");
    expect(kindOf({ type: "null" })).toBe("null");
    expect(shapeOf({ type: "array", prefixItems: [{ type: "number" }], items: false }, true)).toMatchObject({
      kind: "list",
      first: [{ type: "number" }],
      items: false,
    });
    expect(kindOf({ properties: { a: true } })).toBe("object");
  });

  test("what a form cannot show is JSON, never left out", () => {
    for (const schema of [
      true,
      {},
      { not: { type: "string" } },
      { $ref: "https://example.com/other" },
    ] satisfies Schema[])
      expect(kindOf(schema)).toBe("json");
    expect(kindOf({ $ref: "#/$defs/none" }, order)).toBe("json");
  });

  test("a reference that leads back to itself has an end", () => {
    const loop: Schema = { $ref: "#" };
    expect(kindOf(loop)).toBe("json");
    const tree: Schema = {
      type: "object",
      properties: { children: { type: "array", items: { $ref: "#" } }, parent: { $ref: "#" } },
      required: ["children", "parent"],
    };
    expect(shapeOf({ $ref: "#" }, tree)).toMatchObject({ kind: "object", properties: [{ name: "children" }, {}] });
    expect(initialValue(tree, tree)).toHaveProperty("parent.parent.children", []);
  });

  test("what stands beside a reference or a union holds, too", () => {
    expect(shapeOf({ $ref: "#/$defs/address", title: "Home", description: "Where" }, order)).toMatchObject({
      kind: "object",
      title: "Home",
      description: "Where",
    });
    const both: Schema = {
      type: "object",
      properties: { id: { type: "string" } },
      required: ["id"],
      oneOf: [{ properties: { a: { type: "number" } }, required: ["a"] }, { properties: { b: { type: "number" } } }],
    };
    expect(checkValue(both, { a: 1 }).map(({ path }) => path)).toEqual(["$.id"]);
  });

  test("parts are laid together", () => {
    const all: Schema = {
      allOf: [{ $ref: "#/$defs/address" }, { properties: { floor: { type: "number" } }, required: ["floor"] }],
      $defs: { address },
    };
    const shape = shapeOf(all, all);
    expect(shape).toMatchObject({
      properties: [
        { name: "street", isRequired: true },
        { name: "zip", isRequired: false },
        { name: "floor", isRequired: true },
      ],
    });
  });

  test("a list of types is a choice between them", () => {
    const shape = shapeOf({ type: ["string", "null"], description: "x" }, true);
    expect(shape).toMatchObject({ kind: "union", description: "x", variants: [{ type: "string" }, { type: "null" }] });
  });

  test("others than the named properties are asked for only where a schema says what they are", () => {
    const others = (schema: Schema): Schema | undefined => {
      const shape = shapeOf(schema, schema);
      return shape.kind === "object" ? shape.others : undefined;
    };
    expect(others({ type: "object", additionalProperties: { type: "number" } })).toEqual({ type: "number" });
    expect(others({ type: "object" })).toBe(true);
    expect(others(order)).toBe(false);
  });
});

describe("what a form begins with", () => {
  test("is what has to be there, and defaults; what a person says is left open", () => {
    expect(initialValue(order, order)).toEqual({ express: false, priority: "low", payment: { by: "card" } });
    expect(initialValue({ type: "array", items: true }, true)).toEqual([]);
    expect(initialValue({ type: "string" }, true)).toBeUndefined();
  });

  test("another kind keeps what has the same name, and not the word that tells kinds apart", () => {
    const other: Schema = {
      type: "object",
      properties: { by: { const: "cash" }, number: { type: "string" } },
      required: ["by"],
    };
    expect(valueForVariant({ by: "card", number: "4", more: 1 }, other, order)).toEqual({ by: "cash", number: "4" });
    expect(valueForVariant("text", { type: "number" }, order)).toBeUndefined();
  });
});

describe("a value against its schema", () => {
  const good = { customer: "ada", count: 2, express: true, payment: { by: "bill", to: { street: "S" } } };
  const faults = (value: object): readonly string[] =>
    checkValue(order, { ...good, ...value }).map(({ path, fault }) => `${path} ${fault.kind}`);

  test("that fits has no faults", () => {
    expect(checkValue(order, { ...good, note: null, tags: ["a"], unnamed: 1 })).toEqual([]);
  });

  test("is told each place that is wrong, as the server names it", () => {
    expect(checkValue(order, { express: 1 }).map(({ path, fault }) => `${path} ${fault.kind}`)).toEqual([
      "$.customer missing",
      "$.count missing",
      "$.express type",
      "$.payment missing",
    ]);
    expect(faults({ count: 0 })).toEqual(["$.count atLeast"]);
    expect(faults({ count: 100 })).toEqual(["$.count below"]);
    expect(faults({ count: 1.5 })).toEqual(["$.count type"]);
    expect(faults({ priority: "none" })).toEqual(["$.priority choice"]);
    expect(faults({ note: 1 })).toEqual(["$.note variant"]);
    expect(faults({ tags: ["a", 1, "c"] })).toEqual(["$.tags most", "$.tags[1] type"]);
  });

  test("of a union is held to the kind that it comes closest to", () => {
    expect(faults({ payment: { by: "bill", to: { zip: "1" } } })).toEqual([
      "$.payment.to.street missing",
      "$.payment.to.zip pattern",
    ]);
    expect(closestVariant((payment as { anyOf: Schema[] }).anyOf, { by: "bill" }, order)).toBe(1);
    expect(closestVariant((payment as { anyOf: Schema[] }).anyOf, { by: "card" }, order)).toBe(0);
  });

  test("names that nobody knows are faults only where a schema closes the object", () => {
    expect(checkValue(address, { street: "S", door: 1 }).map(({ path }) => path)).toEqual(["$.door"]);
    expect(checkValue({ type: "object", additionalProperties: { type: "number" } }, { a: "x" })).toMatchObject([
      { path: "$.a", fault: { kind: "type" } },
    ]);
  });

  test("is compared in letters that people see, and numbers without the noise of binary fractions", () => {
    expect(checkValue({ type: "string", maxLength: 1 }, "🦊")).toEqual([]);
    expect(checkValue({ type: "number", multipleOf: 0.1 }, 0.3)).toEqual([]);
    expect(checkValue({ type: "number", multipleOf: 0.1 }, 0.35)).toHaveLength(1);
    expect(checkValue({ type: "string", pattern: "(" }, "x")).toEqual([]); // Left to the server.
  });
});
