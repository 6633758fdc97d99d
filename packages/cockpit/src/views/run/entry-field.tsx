// From which entry a run goes on: a number, or one of the places that are named below it.

import { Diamond } from "lucide-react";
import { useId, type ReactNode } from "react";
import type { EntryView, MomentView } from "@perdure/protocol";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import { visibleLine } from "../../ui/visible-text.ts";
import { readEntry } from "./branch-plan.ts";

export interface BranchDialogProps {
  readonly entries: readonly EntryView[];
  readonly moments: readonly MomentView[];
  /** The entry that is proposed. */
  readonly at: number;
  readonly onClose: () => void;
}

export interface EntryFieldProps extends Pick<BranchDialogProps, "entries" | "moments"> {
  readonly text: string;
  readonly onText: (text: string) => void;
}

export function EntryField({ text, onText, entries, moments }: EntryFieldProps): ReactNode {
  const t = useMessages().branches;
  const format = useFormat();
  const id = useId();
  const count = format.number(entries.length);
  const isThere = readEntry(text, entries.length) !== null;
  return (
    <div className="field entry-field">
      <label htmlFor={id}>{t.at}</label>
      <div className="entry-pick">
        <input
          id={id}
          className="input"
          inputMode="numeric"
          autoComplete="off"
          value={text}
          aria-invalid={!isThere}
          aria-describedby={`${id}-help`}
          onChange={(event) => onText(event.target.value)}
        />
        <div className="places" role="group" aria-label={t.places}>
          <Place label={t.begin} at={0} text={text} onText={onText} />
          {moments.map(({ entry, name }) => (
            <Place
              key={entry}
              label={name === null ? format.number(entry) : visibleLine(name)}
              at={entry}
              text={text}
              onText={onText}
              isMoment
            />
          ))}
          <Place label={t.end} at={entries.length} text={text} onText={onText} />
        </div>
      </div>
      <p
        id={`${id}-help`}
        className="help"
        data-tone={isThere ? undefined : "red"}
        role={isThere ? undefined : "alert"}
      >
        {isThere ? t.atHelp(count) : t.noEntry(count)}
      </p>
    </div>
  );
}

interface PlaceProps extends Pick<EntryFieldProps, "text" | "onText"> {
  readonly label: string;
  readonly at: number;
  readonly isMoment?: boolean;
}

function Place({ label, at, text, onText, isMoment = false }: PlaceProps): ReactNode {
  return (
    <button type="button" className="chip" aria-pressed={text.trim() === String(at)} onClick={() => onText(String(at))}>
      {isMoment ? <Diamond aria-hidden /> : null}
      {label}
    </button>
  );
}
