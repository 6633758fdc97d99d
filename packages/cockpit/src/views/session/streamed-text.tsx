// What a model says, as a document, also while it is being said: what stands before the last blank line is finished, and is
// not read again with every token.

import { lazy, memo, Suspense, type ReactNode } from "react";
import { visibleText } from "../../ui/visible-text.ts";
import { splitFinished } from "./split-finished.ts";

const Markdown = lazy(() =>
  import("../../ui/markdown.tsx").then(({ Markdown: component }) => ({ default: component })),
);

export interface StreamedTextProps {
  readonly text: string;
  readonly isOpen: boolean;
}

export function StreamedText({ text, isOpen }: StreamedTextProps): ReactNode {
  if (!isOpen) return <Document text={text} />;
  const [finished, rest] = splitFinished(text);
  return (
    <div className="streamed">
      {finished === "" ? null : <Document text={finished} />}
      {rest === "" ? null : <Document text={rest} />}
    </div>
  );
}

const Document = memo(function Document({ text }: { readonly text: string }): ReactNode {
  return (
    <Suspense fallback={<p className="document plain">{visibleText(text)}</p>}>
      <Markdown text={text} />
    </Suspense>
  );
});
