// An object: a field for each of its properties, and rows of name and value where it may have others.

import { Plus } from "lucide-react";
import { useState, type ReactNode } from "react";
import type { JsonValue } from "@perdure/protocol";
import { useMessages } from "../i18n/use-messages.ts";
import { Button } from "../ui/button.tsx";
import { pathOf, sameJson } from "./check-value.ts";
import { useForm } from "./form-context.ts";
import { initialValue } from "./initial-value.ts";
import { isRecord, Remove, SchemaField, type KindProps } from "./schema-field.tsx";
import { shapeOf, type Draft, type Property, type Schema } from "./schema.ts";

type Values = { readonly [name: string]: JsonValue };

export function ObjectField({ shape, value, path, onChange }: KindProps<"object">): ReactNode {
  const { root } = useForm();
  const values: Values = isRecord(value) ? value : {};
  const change = (name: string, next: Draft): void => onChange(withProperty(values, name, next, shape.properties));
  const asked = shape.properties.filter((property) => !isSettled(property, values[property.name], root));
  const known = new Set(shape.properties.map(({ name }) => name));
  const others = Object.keys(values).filter((name) => !known.has(name));
  return (
    <>
      {asked.map(({ name, schema, isRequired }) => (
        <SchemaField
          key={name}
          name={name}
          schema={schema}
          value={values[name]}
          path={pathOf(path, name)}
          isRequired={isRequired}
          onChange={(next) => change(name, next)}
        />
      ))}
      {others.map((name) => (
        <div key={name} className="form-item">
          <SchemaField
            name={name}
            schema={shape.others === false ? true : shape.others}
            value={values[name]}
            path={pathOf(path, name)}
            isRequired
            onChange={(next) => change(name, next ?? null)}
          />
          <Remove label={name} onRemove={() => change(name, undefined)} />
        </div>
      ))}
      {shape.others === false ? null : <AddProperty schema={shape.others} values={values} onAdd={change} />}
    </>
  );
}

/** It can be nothing else, and is that: the word by which kinds are told apart, say. */
function isSettled({ schema, isRequired }: Property, value: Draft, root: Schema): boolean {
  const shape = shapeOf(schema, root);
  const [only, ...others] = shape.kind === "choice" ? shape.options : [];
  return isRequired && only !== undefined && others.length === 0 && value !== undefined && sameJson(only, value);
}

interface AddProps {
  readonly schema: Schema;
  readonly values: Values;
  readonly onAdd: (name: string, value: Draft) => void;
}

function AddProperty({ schema, values, onAdd }: AddProps): ReactNode {
  const t = useMessages().form;
  const { root } = useForm();
  const [name, setName] = useState("");
  const isTaken = name in values;
  const add = (): void => {
    if (name === "" || isTaken) return;
    onAdd(name, initialValue(schema, root) ?? (schema === true ? null : ""));
    setName("");
  };
  return (
    <div className="form-add">
      <input
        className="input"
        aria-label={t.newName}
        placeholder={t.newName}
        value={name}
        aria-invalid={isTaken}
        onChange={(event) => setName(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.ctrlKey || event.metaKey) return;
          event.preventDefault();
          add();
        }}
      />
      <Button size="s" disabled={name === "" || isTaken} onClick={add}>
        <Plus aria-hidden />
        {t.add}
      </Button>
    </div>
  );
}

/** In the order of the schema; what it does not name comes last. */
function withProperty(values: Values, name: string, value: Draft, properties: readonly Property[]): Values {
  const next: Record<string, JsonValue> = {};
  const names = [...properties.map((property) => property.name), ...Object.keys(values), name];
  for (const one of new Set(names)) {
    const kept = one === name ? value : values[one];
    if (kept !== undefined) next[one] = kept;
  }
  return next;
}
