// What code was given and gave back: as a tree, as text, as a document; whatever it is, only ever as text.

import { useMemo, useState, type ReactNode } from "react";
import { lazy, Suspense } from "react";
import type { JsonValue, PayloadView, ResultView } from "@perdure/protocol";
import { chunk } from "../app/chunks.ts";
import { useFormat, useMessages } from "../i18n/use-messages.ts";
import { Button } from "./button.tsx";
import { CopyButton } from "./copy-button.tsx";
import { JsonTree } from "./json-tree.tsx";
import { Segmented } from "./segmented.tsx";
import { visibleText } from "./visible-text.ts";

const Markdown = lazy(
  chunk(() => import("./markdown.tsx").then(({ Markdown: component }) => ({ default: component }))),
);

type Shape = "tree" | "text" | "markdown" | "raw";

export interface PayloadProps {
  readonly value: PayloadView;
  /** Asks for all of it, where it was left out. */
  readonly onLoad?: () => void;
}

export function Payload({ value, onLoad }: PayloadProps): ReactNode {
  const t = useMessages().common.data;
  const format = useFormat();
  const omitted = sizeOf(value, "omitted");
  if (omitted !== null)
    return (
      <p className="dim">
        {t.omitted(format.bytes(omitted))}{" "}
        {onLoad === undefined ? null : (
          <Button size="s" onClick={onLoad}>
            {t.load}
          </Button>
        )}
      </p>
    );
  const base64 = isRecord(value) && Object.keys(value).length === 1 ? value["base64"] : undefined;
  if (typeof base64 === "string") return <Bytes base64={base64} />;
  return <Shown value={value} />;
}

export function ResultPayload({
  result,
  onLoad,
}: {
  readonly result: ResultView;
  readonly onLoad?: () => void;
}): ReactNode {
  const t = useMessages();
  switch (result.kind) {
    case "void":
      return <p className="dim">{t.common.data.void}</p>;
    case "value":
      return <Payload value={result.value} {...(onLoad === undefined ? {} : { onLoad })} />;
    case "failure":
      return <p className="text-data">{visibleText(result.failure.message)}</p>;
  }
}

function Shown({ value }: { readonly value: JsonValue }): ReactNode {
  const t = useMessages().common.data;
  const document = useMemo(() => documentIn(value), [value]);
  const shapes: readonly Shape[] =
    typeof value === "string"
      ? ["text", "markdown", "raw"]
      : ["tree", ...(document === null ? [] : (["markdown"] as const)), "raw"];
  const [chosen, setChosen] = useState<Shape | null>(null);
  const shape = chosen !== null && shapes.includes(chosen) ? chosen : (shapes[0] ?? "raw");
  const isPlain = typeof value !== "string" && (typeof value !== "object" || value === null);
  if (isPlain) return <JsonTree value={value} />;
  return (
    <div className="payload">
      <div className="payload-head">
        <Segmented
          label={t.tree}
          value={shape}
          options={shapes.map((one) => ({ value: one, label: t[one] }))}
          onChange={setChosen}
        />
        <CopyButton text={typeof value === "string" ? value : JSON.stringify(value, null, 2)} />
      </div>
      <ShapeOf shape={shape} value={value} document={document} />
    </div>
  );
}

interface ShapeProps {
  readonly shape: Shape;
  readonly value: JsonValue;
  readonly document: string | null;
}

function ShapeOf({ shape, value, document }: ShapeProps): ReactNode {
  switch (shape) {
    case "tree":
      return <JsonTree value={value} />;
    case "text":
      return <p className="text-data">{visibleText(typeof value === "string" ? value : JSON.stringify(value))}</p>;
    case "markdown":
      return (
        <Suspense fallback={<p className="text-data">{visibleText(document ?? "")}</p>}>
          <Markdown text={document ?? ""} />
        </Suspense>
      );
    case "raw":
      return <p className="text-data">{visibleText(JSON.stringify(value, null, 2))}</p>;
  }
}

const BYTES_SHOWN = 512;

function Bytes({ base64 }: { readonly base64: string }): ReactNode {
  const t = useMessages().common.data;
  const format = useFormat();
  const size = Math.floor((base64.length * 3) / 4) - (base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0);
  return (
    <div className="payload">
      <div className="payload-head">
        <span className="dim">{t.bytes(format.bytes(size))}</span>
        <CopyButton text={base64} />
      </div>
      <p className="text-data dim">
        {base64.slice(0, BYTES_SHOWN)}
        {base64.length > BYTES_SHOWN ? "…" : ""}
      </p>
    </div>
  );
}

const DOCUMENT_LENGTH_MIN = 80;

/** The longest text in a value, where it looks like something to be read. */
function documentIn(value: JsonValue): string | null {
  let longest = "";
  const look = (one: JsonValue): void => {
    if (typeof one === "string") {
      if (one.length > longest.length) longest = one;
    } else if (Array.isArray(one)) one.forEach(look);
    else if (isRecord(one)) Object.values(one).forEach(look);
  };
  look(value);
  return typeof value === "string" || (longest.length >= DOCUMENT_LENGTH_MIN && longest.includes("\n"))
    ? longest
    : null;
}

function isRecord(value: JsonValue): value is { readonly [name: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function sizeOf(value: JsonValue, name: string): number | null {
  if (!isRecord(value) || Object.keys(value).length !== 1) return null;
  const size = value[name];
  return typeof size === "number" ? size : null;
}
