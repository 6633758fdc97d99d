// The editor of an input: a form made of its schema, or JSON, whichever is liked better.

import { useId, useMemo, type ReactNode } from "react";
import { useMessages } from "../i18n/use-messages.ts";
import { Button } from "../ui/button.tsx";
import { Segmented } from "../ui/segmented.tsx";
import { checkValue, type Issue } from "./check-value.ts";
import { draftOf, inMode, withText, withValue, type InputDraft } from "./input-draft.ts";
import { faultText } from "./fault-text.ts";
import { FormContext } from "./form-context.ts";
import { initialValue } from "./initial-value.ts";
import { SchemaField } from "./schema-field.tsx";
import { shapeOf, type Schema } from "./schema.ts";
import "./schema-form.css";

export interface InputEditorProps {
  /** Undefined: nobody says what it is. */
  readonly schema: Schema | undefined;
  readonly draft: InputDraft;
  readonly onDraft: (draft: InputDraft) => void;
  /** What the server, or a first look, has against it. */
  readonly issues: readonly Issue[];
  readonly label: string;
}

/** How an input begins. Without a schema, or with one that says nothing, there is no form. */
export function firstDraft(schema: Schema | undefined): InputDraft {
  if (!hasForm(schema)) return draftOf("json", undefined);
  return draftOf("form", initialValue(schema, schema));
}

export function hasForm(schema: Schema | undefined): schema is Schema {
  return schema !== undefined && shapeOf(schema, schema).kind !== "json";
}

/** What there is to say against a draft before it is sent. */
export function issuesOf(schema: Schema | undefined, { value }: InputDraft): readonly Issue[] {
  return schema === undefined ? [] : checkValue(schema, value);
}

export function InputEditor(props: InputEditorProps): ReactNode {
  const { schema, draft, onDraft, label } = props;
  const t = useMessages().form;
  return (
    <div className="input-editor">
      <div className="input-editor-head">
        <h3>{label}</h3>
        {hasForm(schema) ? (
          <Segmented
            label={t.mode}
            value={draft.mode}
            options={[
              { value: "form", label: t.form },
              { value: "json", label: t.json },
            ]}
            onChange={(mode) => onDraft(inMode(draft, mode))}
          />
        ) : null}
      </div>
      {draft.mode === "form" && hasForm(schema) ? <Form {...props} schema={schema} /> : <JsonEditor {...props} />}
    </div>
  );
}

function Form({ schema, draft, onDraft, issues }: InputEditorProps & { readonly schema: Schema }): ReactNode {
  const context = useMemo(() => ({ root: schema, issues }), [schema, issues]);
  return (
    <FormContext value={context}>
      <SchemaField
        name={null}
        schema={schema}
        value={draft.value}
        path="$"
        isRequired
        onChange={(value) => onDraft(withValue(draft, value))}
      />
    </FormContext>
  );
}

const LINES_MAX = 24;
const LINES_MIN = 5;

function JsonEditor({ schema, draft, onDraft, issues, label }: InputEditorProps): ReactNode {
  const messages = useMessages();
  const t = messages.form;
  const id = useId();
  const lines = draft.text.split("\n").length;
  const canFormat = draft.problem === null && draft.value !== undefined;
  return (
    <div className="field">
      <label htmlFor={id} className="visually-hidden">
        {label}, {t.json}
      </label>
      <textarea
        id={id}
        className="input json-input"
        spellCheck={false}
        rows={Math.min(LINES_MAX, Math.max(LINES_MIN, lines + 1))}
        value={draft.text}
        placeholder={schema === undefined ? t.anyJson : t.jsonHere}
        aria-invalid={draft.problem !== null || issues.length > 0}
        aria-describedby={`${id}-help`}
        onChange={(event) => onDraft(withText(draft, event.target.value))}
      />
      <div className="json-input-foot">
        <div id={`${id}-help`} role={draft.problem === null && issues.length === 0 ? undefined : "alert"}>
          {draft.problem === null ? null : (
            <p className="fault">
              {t.notJson(draft.problem)} {hasForm(schema) ? t.closed : ""}
            </p>
          )}
          {draft.problem !== null
            ? null
            : issues.map(({ path, fault }) => (
                <p key={`${path} ${fault.kind}`} className="fault">
                  <code>{path}</code> {faultText(fault, messages)}
                </p>
              ))}
        </div>
        <Button
          look="ghost"
          size="s"
          disabled={!canFormat}
          onClick={() => onDraft(withText(draft, JSON.stringify(draft.value, null, 2)))}
        >
          {t.format}
        </Button>
      </div>
    </div>
  );
}
