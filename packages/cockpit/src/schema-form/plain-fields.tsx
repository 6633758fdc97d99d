// Fields of one value: a text, a number, yes or no, one of several; and JSON where a form knows nothing better.

import { useState, type ReactNode } from "react";
import type { JsonValue } from "@perdure/protocol";
import { useMessages } from "../i18n/use-messages.ts";
import { visibleLine } from "../ui/visible-text.ts";
import { sameJson } from "./check-value.ts";
import type { KindProps } from "./schema-field.tsx";
import { Label } from "./schema-field.tsx";
import type { Draft } from "./schema.ts";

export function TextField({ shape, value, isRequired, onChange, ...field }: KindProps<"text">): ReactNode {
  const text = textOf(value);
  // Nothing written in a field that may be left out is: left out.
  const change = (written: string): void => onChange(written === "" && !isRequired ? undefined : written);
  const common = {
    id: field.id,
    value: text,
    "aria-invalid": field.isWrong,
    "aria-describedby": field.describedBy,
    "aria-required": isRequired,
    spellCheck: false,
  };
  if (shape.isLong || text.includes("\n"))
    return <textarea {...common} className="input prose" rows={4} onChange={(event) => change(event.target.value)} />;
  return (
    <input
      {...common}
      className="input"
      type="text"
      autoComplete="off"
      placeholder={exampleOf(shape.format)}
      onChange={(event) => change(event.target.value)}
    />
  );
}

/** A value of another kind is shown as the JSON that it is. */
function textOf(value: Draft): string {
  return value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
}

const EXAMPLES: Readonly<Record<string, string>> = {
  "date-time": "2026-01-31T12:00:00Z",
  date: "2026-01-31",
  time: "12:00:00Z",
  duration: "PT15M",
  email: "ada@example.com",
  uri: "https://example.com",
  uuid: "00000000-0000-4000-8000-000000000000",
};

function exampleOf(format: string | null): string | undefined {
  return format === null ? undefined : EXAMPLES[format];
}

/** What is no number yet is kept as the text that it is, and said to be none. */
export function NumberField({ shape, value, isRequired, onChange, ...field }: KindProps<"number">): ReactNode {
  const [written, setWritten] = useState("");
  const text = sameValue(numberOf(written), value) ? written : textOf(value);
  return (
    <input
      id={field.id}
      className="input"
      type="text"
      inputMode={shape.isInteger ? "numeric" : "decimal"}
      autoComplete="off"
      value={text}
      aria-invalid={field.isWrong}
      aria-describedby={field.describedBy}
      aria-required={isRequired}
      onChange={(event) => {
        setWritten(event.target.value);
        onChange(numberOf(event.target.value));
      }}
    />
  );
}

function numberOf(text: string): Draft {
  if (text.trim() === "") return undefined;
  const number = Number(text);
  const isExact = Number.isFinite(number) && (!Number.isInteger(number) || Number.isSafeInteger(number));
  return isExact ? number : text;
}

function sameValue(a: Draft, b: Draft): boolean {
  return a === undefined || b === undefined ? a === b : sameJson(a, b);
}

interface BooleanProps extends KindProps<"boolean"> {
  readonly label: string;
  readonly notes: ReactNode;
}

export function BooleanField({ value, isRequired, onChange, label, notes, ...field }: BooleanProps): ReactNode {
  const t = useMessages();
  if (!isRequired)
    return (
      <div className="field">
        <label htmlFor={field.id}>
          <Label label={label} isRequired={false} />
        </label>
        <select
          id={field.id}
          className="input"
          value={textOf(value)}
          aria-describedby={field.describedBy}
          onChange={({ target }) => onChange(target.value === "" ? undefined : target.value === "true")}
        >
          <option value="">{t.form.absent}</option>
          <option value="true">{t.common.yes}</option>
          <option value="false">{t.common.no}</option>
        </select>
        {notes}
      </div>
    );
  return (
    <div className="field">
      <label className="check" htmlFor={field.id}>
        <input
          id={field.id}
          type="checkbox"
          checked={value === true}
          aria-describedby={field.describedBy}
          onChange={(event) => onChange(event.target.checked)}
        />
        {label}
      </label>
      {notes}
    </div>
  );
}

export function ChoiceField({ shape, value, isRequired, onChange, ...field }: KindProps<"choice">): ReactNode {
  const t = useMessages().form;
  const at = value === undefined ? -1 : shape.options.findIndex((option) => sameJson(option, value));
  return (
    <select
      id={field.id}
      className="input"
      value={at}
      aria-invalid={field.isWrong}
      aria-describedby={field.describedBy}
      aria-required={isRequired}
      onChange={(event) => onChange(shape.options[Number(event.target.value)])}
    >
      {at < 0 || !isRequired ? <option value={-1}>{isRequired ? t.choose : t.absent}</option> : null}
      {shape.options.map((option, index) => (
        <option key={index} value={index}>
          {optionText(option)}
        </option>
      ))}
    </select>
  );
}

function optionText(option: JsonValue): string {
  return visibleLine(typeof option === "string" ? option : JSON.stringify(option));
}

export function JsonField({ value, isRequired, onChange, ...field }: KindProps<"json">): ReactNode {
  const t = useMessages().form;
  const [written, setWritten] = useState<{ readonly text: string; readonly value: Draft } | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const isCurrent = written !== null && (problem !== null || sameValue(written.value, value));
  const text = isCurrent ? written.text : value === undefined ? "" : JSON.stringify(value, null, 2);
  const change = (next: string): void => {
    try {
      const parsed = next.trim() === "" ? undefined : (JSON.parse(next) as JsonValue);
      setWritten({ text: next, value: parsed });
      setProblem(null);
      onChange(parsed);
    } catch (error) {
      setWritten({ text: next, value });
      setProblem((error as Error).message);
    }
  };
  return (
    <>
      <textarea
        id={field.id}
        className="input json-input"
        rows={Math.min(12, Math.max(2, text.split("\n").length))}
        spellCheck={false}
        placeholder={t.jsonHere}
        value={text}
        aria-invalid={field.isWrong || problem !== null}
        aria-describedby={field.describedBy}
        aria-required={isRequired}
        onChange={(event) => change(event.target.value)}
      />
      {problem === null ? null : (
        <p className="fault" role="alert">
          {t.notJson(problem)}
        </p>
      )}
    </>
  );
}
