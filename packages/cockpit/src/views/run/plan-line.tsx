// A line of what a fork or a rewind will do, told apart by a sign.

import { Check, CornerUpLeft, Minus, RotateCw } from "lucide-react";
import type { ReactNode } from "react";
import type { EntryView } from "@perdure/protocol";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import { visibleLine } from "../../ui/visible-text.ts";
import { entryWords } from "./entry-words.ts";

type PlanKind = "kept" | "again" | "left" | "undone";

const SIGNS: Readonly<Record<PlanKind, ReactNode>> = {
  kept: <Check aria-hidden />,
  again: <RotateCw aria-hidden />,
  left: <Minus aria-hidden />,
  undone: <CornerUpLeft aria-hidden />,
};

export function PlanLine({ kind, children }: { readonly kind: PlanKind; readonly children: ReactNode }): ReactNode {
  return (
    <li data-kind={kind}>
      {SIGNS[kind]}
      <div>{children}</div>
    </li>
  );
}

const SHOWN_MAX = 6;

/** Commands by their names, the first few of them. */
export function CommandNames({ of }: { readonly of: readonly EntryView[] }): ReactNode {
  const t = useMessages();
  const format = useFormat();
  const rest = of.length - SHOWN_MAX;
  return (
    <>
      {of.slice(0, SHOWN_MAX).map((entry, at) => {
        const { verb, about } = entryWords(entry, t);
        return (
          <span key={entry.index}>
            {at === 0 ? "" : ", "}
            {verb} <b>{visibleLine(about)}</b>
          </span>
        );
      })}
      {rest > 0 ? `, ${t.common.data.more(format.number(rest))}` : ""}
    </>
  );
}
