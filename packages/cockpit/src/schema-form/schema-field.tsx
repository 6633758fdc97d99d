// One field of a form, of whatever kind its schema says; what it holds inside are fields again.

import { X } from "lucide-react";
import { useId, type ReactNode } from "react";
import type { JsonValue } from "@perdure/protocol";
import { useMessages } from "../i18n/use-messages.ts";
import { Button } from "../ui/button.tsx";
import { visibleLine, visibleText } from "../ui/visible-text.ts";
import { issueAt } from "./check-value.ts";
import { faultText } from "./fault-text.ts";
import { useForm } from "./form-context.ts";
import { initialValue } from "./initial-value.ts";
import { ListField } from "./list-field.tsx";
import { ObjectField } from "./object-field.tsx";
import { BooleanField, ChoiceField, JsonField, NumberField, TextField } from "./plain-fields.tsx";
import { shapeOf, type Draft, type Schema, type Shape } from "./schema.ts";
import { UnionField } from "./union-field.tsx";

export interface SchemaFieldProps {
  /** Null: the whole of it, or an item of a list, which has a place and no name. */
  readonly name: string | null;
  readonly schema: Schema;
  readonly value: Draft;
  readonly path: string;
  readonly isRequired: boolean;
  readonly onChange: (value: Draft) => void;
}

/** What every kind of field is given. */
export interface KindProps<Kind extends Shape["kind"]> extends SchemaFieldProps {
  readonly shape: Extract<Shape, { kind: Kind }>;
  readonly id: string;
  /** Of what describes it, and what is wrong with it. */
  readonly describedBy: string | undefined;
  readonly isWrong: boolean;
}

export function SchemaField(props: SchemaFieldProps): ReactNode {
  const { name, schema, value, path, isRequired, onChange } = props;
  const messages = useMessages();
  const { root, issues } = useForm();
  const id = useId();
  const shape = shapeOf(schema, root);
  const issue = issueAt(issues, path);
  // Whoever calls a handler knows its properties by their names; titles are often those of types.
  const label = visibleLine(name ?? shape.title ?? "");
  const helpId = shape.description === null ? undefined : `${id}-help`;
  const faultId = issue === undefined ? undefined : `${id}-fault`;
  const describedBy = [helpId, faultId].filter((one) => one !== undefined).join(" ");
  const parts = {
    ...props,
    id,
    describedBy: describedBy === "" ? undefined : describedBy,
    isWrong: issue !== undefined,
  };
  const isGroup = shape.kind === "object" || shape.kind === "list" || shape.kind === "union";
  const notes = (
    <>
      {shape.description === null ? null : (
        <p id={helpId} className="help">
          {visibleText(shape.description)}
        </p>
      )}
      {issue === undefined ? null : (
        <p id={faultId} className="fault">
          {faultText(issue.fault, messages)}
        </p>
      )}
    </>
  );
  if (isGroup && !isRequired && value === undefined)
    return <Absent label={label} notes={notes} onAdd={() => onChange(initialValue(schema, root) ?? null)} />;
  if (isGroup)
    return (
      <fieldset className="form-group" data-bare={label === "" || undefined} aria-describedby={parts.describedBy}>
        {label === "" ? null : (
          <legend>
            <Label {...{ label, isRequired }} />
            {isRequired ? null : <Remove label={label} onRemove={() => onChange(undefined)} />}
          </legend>
        )}
        {notes}
        <Kind shape={shape} {...parts} />
      </fieldset>
    );
  if (shape.kind === "boolean") return <BooleanField {...parts} shape={shape} label={label} notes={notes} />;
  return (
    <div className="field">
      {label === "" ? null : (
        <label htmlFor={id}>
          <Label {...{ label, isRequired }} />
        </label>
      )}
      <Kind shape={shape} {...parts} />
      {notes}
    </div>
  );
}

type WithoutShape = Omit<KindProps<"text">, "shape">;

function Kind({ shape, ...rest }: WithoutShape & { readonly shape: Shape }): ReactNode {
  switch (shape.kind) {
    case "text":
      return <TextField {...rest} shape={shape} />;
    case "number":
      return <NumberField {...rest} shape={shape} />;
    case "choice":
      return <ChoiceField {...rest} shape={shape} />;
    case "object":
      return <ObjectField {...rest} shape={shape} />;
    case "list":
      return <ListField {...rest} shape={shape} />;
    case "union":
      return <UnionField {...rest} shape={shape} />;
    case "json":
      return <JsonField {...rest} shape={shape} />;
    case "null":
      return <code className="dim">null</code>;
    case "boolean":
      return null;
  }
}

export function Label({ label, isRequired }: { readonly label: string; readonly isRequired: boolean }): ReactNode {
  const t = useMessages().form;
  return (
    <>
      {label}
      {isRequired ? null : <span className="optional">{t.optional}</span>}
    </>
  );
}

interface AbsentProps {
  readonly label: string;
  readonly notes: ReactNode;
  readonly onAdd: () => void;
}

function Absent({ label, notes, onAdd }: AbsentProps): ReactNode {
  const t = useMessages().form;
  return (
    <div className="field">
      <span className="label">
        <Label label={label} isRequired={false} />
      </span>
      <div>
        <Button size="s" onClick={onAdd} aria-label={t.addNamed(label)}>
          {t.add}
        </Button>
      </div>
      {notes}
    </div>
  );
}

export function Remove({ label, onRemove }: { readonly label: string; readonly onRemove: () => void }): ReactNode {
  const t = useMessages().form;
  return (
    <Button
      look="ghost"
      size="s"
      icon
      aria-label={t.removeNamed(label)}
      title={t.removeNamed(label)}
      onClick={onRemove}
    >
      <X aria-hidden />
    </Button>
  );
}

export function isRecord(value: Draft): value is { readonly [name: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
