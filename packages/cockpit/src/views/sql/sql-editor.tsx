// A field for SQL, with colours: they are drawn beneath letters that are themselves not seen, so that writing, undoing and
// reading aloud stay the browser's.

import { useEffect, useRef, type ReactNode, type RefObject } from "react";
import { useMessages } from "../../i18n/use-messages.ts";
import type { ErrorPlace } from "./error-place.ts";
import { tokensOf } from "./sql-tokens.ts";

export interface SqlEditorProps {
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly place: ErrorPlace | null;
  readonly field: RefObject<HTMLTextAreaElement | null>;
}

const LINES_MIN = 6;
const LINES_MAX = 20;

export function SqlEditor({ text, onText, place, field }: SqlEditorProps): ReactNode {
  const t = useMessages().sql;
  const under = useRef<HTMLPreElement>(null);
  const lines = text.split("\n").length;
  useEffect(() => {
    if (place === null) return;
    field.current?.setSelectionRange(place.offset, place.offset + place.length);
  }, [place, field]);
  return (
    <div className="sql-editor">
      <pre ref={under} aria-hidden>
        {tokensOf(text).map(({ kind, text: piece }, at) => (
          <span key={at} data-kind={kind}>
            {piece}
          </span>
        ))}
        {"\n "}
      </pre>
      {place === null ? null : <Mark text={text} place={place} />}
      <textarea
        ref={field}
        aria-label={t.statement}
        aria-invalid={place !== null}
        aria-describedby={place === null ? undefined : "sql-error"}
        spellCheck={false}
        autoCapitalize="off"
        autoComplete="off"
        wrap="soft"
        rows={Math.min(LINES_MAX, Math.max(LINES_MIN, lines + 1))}
        placeholder={t.placeholder}
        value={text}
        onChange={(event) => onText(event.target.value)}
        onScroll={({ currentTarget }) => {
          for (const layer of currentTarget.parentElement?.querySelectorAll("pre") ?? [])
            layer.scrollTop = currentTarget.scrollTop;
        }}
      />
    </div>
  );
}

/** The word that is wrong, underlined. */
function Mark({ text, place: { offset, length } }: { readonly text: string; readonly place: ErrorPlace }): ReactNode {
  return (
    <pre aria-hidden className="sql-mark">
      {text.slice(0, offset)}
      <mark>{text.slice(offset, offset + length)}</mark>
      {text.slice(offset + length)}
    </pre>
  );
}
