// One of several kinds of values: which one is chosen first, and what had been written for another is kept.

import { useId, useRef, useState, type ReactNode } from "react";
import type { Messages } from "../i18n/messages.ts";
import { useMessages } from "../i18n/use-messages.ts";
import { visibleLine } from "../ui/visible-text.ts";
import { closestVariant } from "./check-value.ts";
import { useForm } from "./form-context.ts";
import { valueForVariant } from "./initial-value.ts";
import { SchemaField, type KindProps } from "./schema-field.tsx";
import { shapeOf, type Draft, type Schema } from "./schema.ts";

export function UnionField({ shape, value, path, onChange }: KindProps<"union">): ReactNode {
  const messages = useMessages();
  const t = messages.form;
  const { root } = useForm();
  const id = useId();
  const { variants } = shape;
  const [chosen, setChosen] = useState(() => closestVariant(variants, value, root));
  const written = useRef(new Map<number, Draft>());
  const variant = variants[chosen];
  const choose = (next: number): void => {
    const schema = variants[next];
    if (schema === undefined) return;
    written.current.set(chosen, value);
    setChosen(next);
    onChange(written.current.get(next) ?? valueForVariant(value, schema, root));
  };
  return (
    <>
      <div className="field">
        <label htmlFor={id} className="visually-hidden">
          {t.variant}
        </label>
        <select id={id} className="input" value={chosen} onChange={(event) => choose(Number(event.target.value))}>
          {variants.map((one, at) => (
            <option key={at} value={at}>
              {variantLabel(one, root, messages, at)}
            </option>
          ))}
        </select>
      </div>
      {variant === undefined || isSaid(variant, root) ? null : (
        <SchemaField
          key={chosen}
          name={null}
          schema={withoutTitle(variant)}
          value={value}
          path={path}
          isRequired
          onChange={onChange}
        />
      )}
    </>
  );
}

/** To have chosen it says all there is. */
function isSaid(schema: Schema, root: Schema): boolean {
  const shape = shapeOf(schema, root);
  return shape.kind === "null" || (shape.kind === "choice" && shape.options.length === 1);
}

function withoutTitle(schema: Schema): Schema {
  return typeof schema === "boolean" ? schema : { ...schema, title: null };
}

/** Its title, the word that tells it apart (`type: "email"`), or what kind it is of. */
function variantLabel(schema: Schema, root: Schema, { form: t }: Messages, at: number): string {
  const shape = shapeOf(schema, root);
  if (shape.title !== null) return visibleLine(shape.title);
  switch (shape.kind) {
    case "object": {
      const tag = shape.properties
        .map(({ name, schema: one }) => ({ name, tag: shapeOf(one, root) }))
        .find((property) => property.tag.kind === "choice" && property.tag.options.length === 1);
      if (tag?.tag.kind === "choice") return visibleLine(`${tag.name}: ${JSON.stringify(tag.tag.options[0])}`);
      const names = shape.properties.map(({ name }) => name).join(", ");
      return names === "" ? t.types.object : visibleLine(`{ ${names} }`);
    }
    case "choice":
      return visibleLine(shape.options.map((option) => JSON.stringify(option)).join(" | "));
    case "number":
      return t.types[shape.isInteger ? "integer" : "number"];
    case "text":
    case "boolean":
    case "null":
    case "list":
      return t.types[shape.kind];
    case "union":
    case "json":
      return t.variantAt(at + 1);
  }
}
