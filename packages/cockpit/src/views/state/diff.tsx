import type { ReactNode } from "react";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import { visibleText } from "../../ui/visible-text.ts";
import type { Stored } from "./edit-plan.ts";
import { diffValues } from "./json-diff.ts";

export interface DiffProps {
  readonly before: Stored;
  readonly after: Stored;
  readonly label: string;
}

const SIGNS = { kept: " ", removed: "−", added: "+" } as const;

export function Diff({ before, after, label }: DiffProps): ReactNode {
  const t = useMessages().state;
  const format = useFormat();
  return (
    <div className="diff" role="group" aria-label={label} tabIndex={0}>
      {diffValues(before, after).map((line, at) =>
        line.kind === "gap" ? (
          <div key={at} className="diff-gap">
            {t.sameLines(format.number(line.lines))}
          </div>
        ) : (
          <div key={at} className="diff-line" data-kind={line.kind}>
            <span aria-hidden>{SIGNS[line.kind]}</span>
            {line.kind === "kept" ? null : (
              <span className="visually-hidden">{line.kind === "added" ? t.added : t.removed}</span>
            )}
            <code>{visibleText(line.text)}</code>
          </div>
        ),
      )}
    </div>
  );
}
