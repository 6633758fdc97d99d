import { useId, useState, type ReactNode } from "react";
import { useMessages } from "../../i18n/use-messages.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { isReversed, rangeOf, rangeSearch } from "./range.ts";
import type { RunsSearch } from "./runs-search.ts";

export interface RangeDialogProps {
  readonly search: RunsSearch;
  readonly onSearch: (search: RunsSearch) => void;
  readonly onClose: () => void;
}

/** Runs created between two times of the viewer's. */
export function RangeDialog({ search, onSearch, onClose }: RangeDialogProps): ReactNode {
  const t = useMessages();
  const says = t.runs.filters;
  const id = useId();
  const [range, setRange] = useState(() => rangeOf(search, Date.now()));
  const isWrong = isReversed(range);
  const apply = (): void => {
    const { since: _, until: __, ...rest } = search;
    onSearch({ ...rest, ...rangeSearch(range) });
    onClose();
  };
  const field = (name: "from" | "to"): ReactNode => (
    <div className="field">
      <label htmlFor={`${id}-${name}`}>{says[name]}</label>
      <input
        id={`${id}-${name}`}
        className="input"
        type="datetime-local"
        value={range[name]}
        aria-invalid={isWrong && name === "to"}
        aria-describedby={`${id}-help`}
        onChange={(event) => setRange({ ...range, [name]: event.target.value })}
      />
    </div>
  );
  return (
    <Dialog isOpen onClose={onClose} title={says.customTitle}>
      <form
        className="range-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isWrong) apply();
        }}
      >
        {field("from")}
        {field("to")}
        <p id={`${id}-help`} className={isWrong ? "fault" : "help dim"}>
          {isWrong ? says.reversed : says.customHelp}
        </p>
        <div className="actions">
          <Button onClick={onClose}>{t.common.cancel}</Button>
          <Button type="submit" look="primary" disabled={isWrong}>
            {says.apply}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
