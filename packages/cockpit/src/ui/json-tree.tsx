// JSON as a tree whose branches open and close. Long lists open a hundred at a time.

import { useState, type ReactNode } from "react";
import type { JsonValue } from "@perdure/protocol";
import { useFormat, useMessages } from "../i18n/use-messages.ts";
import { Button } from "./button.tsx";
import { visibleLine, visibleText } from "./visible-text.ts";

const SHOWN_AT_ONCE = 100;
const OPEN_DEPTH = 2;
const PREVIEW_LENGTH = 60;

export function JsonTree({ value }: { readonly value: JsonValue }): ReactNode {
  return (
    <div className="json">
      <Node name={null} value={value} depth={0} />
    </div>
  );
}

interface NodeProps {
  readonly name: string | null;
  readonly value: JsonValue;
  readonly depth: number;
}

function Node({ name, value, depth }: NodeProps): ReactNode {
  const [isOpen, setOpen] = useState(depth < OPEN_DEPTH);
  if (typeof value !== "object" || value === null) {
    return (
      <div className="leaf">
        <Name name={name} />
        <Leaf value={value} />
      </div>
    );
  }
  const entries: readonly (readonly [string, JsonValue])[] = Object.entries(value);
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Name name={name} />
        <span className="dim">{isOpen ? summaryOf(value) : previewOf(value)}</span>
      </summary>
      {isOpen ? <Children entries={entries} isList={Array.isArray(value)} depth={depth} /> : null}
    </details>
  );
}

interface ChildrenProps {
  readonly entries: readonly (readonly [string, JsonValue])[];
  readonly isList: boolean;
  readonly depth: number;
}

function Children({ entries, isList, depth }: ChildrenProps): ReactNode {
  const t = useMessages().common.data;
  const format = useFormat();
  const [shown, setShown] = useState(SHOWN_AT_ONCE);
  const rest = entries.length - shown;
  return (
    <div className="children">
      {entries.slice(0, shown).map(([name, value]) => (
        <Node key={name} name={isList ? `${name}` : name} value={value} depth={depth + 1} />
      ))}
      {rest > 0 ? (
        <Button look="ghost" size="s" onClick={() => setShown(shown + SHOWN_AT_ONCE)}>
          {t.more(format.number(rest))}
        </Button>
      ) : null}
    </div>
  );
}

function Name({ name }: { readonly name: string | null }): ReactNode {
  return name === null ? null : <span className="name">{visibleLine(name)}: </span>;
}

function Leaf({ value }: { readonly value: null | boolean | number | string }): ReactNode {
  if (typeof value === "string") return <span className="string">{visibleText(value)}</span>;
  return <span className={typeof value === "number" ? "number" : "word"}>{String(value)}</span>;
}

function summaryOf(value: object): string {
  return Array.isArray(value) ? `[${value.length}]` : `{${Object.keys(value).length}}`;
}

/** The beginning of what is closed. */
function previewOf(value: object): string {
  const text = visibleLine(JSON.stringify(value).slice(0, PREVIEW_LENGTH));
  return text.length < PREVIEW_LENGTH ? text : `${text}…`;
}
