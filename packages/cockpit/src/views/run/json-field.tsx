// A field into which JSON is written, that says where it is none.

import { useId, useState, type ReactNode } from "react";
import type { JsonValue } from "@perdure/protocol";
import { useMessages } from "../../i18n/use-messages.ts";

export interface JsonField {
  /** Null: it is no JSON, and the field says so. Undefined as the value: nothing was written. */
  readonly read: () => { readonly value: JsonValue | undefined } | null;
  readonly field: (label: string) => ReactNode;
}

/** @param initial what stands in it at first. */
export function useJsonField(initial = ""): JsonField {
  const t = useMessages().run.waits;
  const id = useId();
  const [text, setText] = useState(initial);
  const [problem, setProblem] = useState<string | null>(null);
  const read: JsonField["read"] = () => {
    if (text.trim() === "") return { value: undefined };
    try {
      return { value: JSON.parse(text) as JsonValue };
    } catch (error) {
      setProblem((error as Error).message);
      return null;
    }
  };
  const field: JsonField["field"] = (label) => (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        className="input"
        spellCheck={false}
        value={text}
        aria-invalid={problem !== null}
        onChange={(event) => {
          setText(event.target.value);
          setProblem(null);
        }}
      />
      {problem === null ? null : (
        <p className="help" role="alert" data-tone="red">
          {t.notJson(problem)}
        </p>
      )}
    </div>
  );
  return { read, field };
}
