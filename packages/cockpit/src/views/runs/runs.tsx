// The runs: a live table of as many as there are, found by filters that stand in the address.

import { parseRunId } from "@perdure/protocol";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useRef, useState, type ReactNode } from "react";
import { useMessages } from "../../i18n/use-messages.ts";
import { useHotkeys } from "../../keys/use-hotkeys.ts";
import { Filters } from "./filters.tsx";
import { RunsTable } from "./runs-table.tsx";
import { searchOfText, type RunsSearch } from "./runs-search.ts";
import { SavedViews } from "./saved-views.tsx";
import { SelectionBar } from "./selection-bar.tsx";
import { NOTHING, type Selection } from "./selection.ts";
import { useRuns } from "./use-runs.ts";
import "./runs.css";

const route = getRouteApi("/runs");

export function Runs(): ReactNode {
  const t = useMessages();
  const search = route.useSearch();
  const navigate = useNavigate();
  const [newestShown, setNewestShown] = useState<number | null>(null);
  const [selection, setSelection] = useState<Selection>(NOTHING);
  const loaded = useRuns(search, newestShown);
  const setSearch = (next: RunsSearch): void => {
    setSelection(NOTHING);
    setNewestShown(null);
    void navigate({ to: "/runs", search: next, replace: true });
  };
  return (
    <div className="runs-page">
      <div className="runs-head">
        <div className="page-head">
          <h1>{t.runs.title}</h1>
          <SearchBox search={search} onSearch={setSearch} />
        </div>
        <SavedViews search={search} onSearch={setSearch} />
        <Filters search={search} onSearch={setSearch} />
      </div>
      <RunsTable
        key={JSON.stringify(search)}
        loaded={loaded}
        search={search}
        selection={selection}
        onSelect={setSelection}
        onHold={setNewestShown}
        onOpen={(run) => void navigate({ to: "/runs/$run", params: { run } })}
      />
      <SelectionBar search={search} selection={selection} onSelect={setSelection} />
    </div>
  );
}

interface SearchBoxProps {
  readonly search: RunsSearch;
  readonly onSearch: (search: RunsSearch) => void;
}

function SearchBox({ search, onSearch }: SearchBoxProps): ReactNode {
  const t = useMessages();
  const navigate = useNavigate();
  const field = useRef<HTMLInputElement>(null);
  useHotkeys([{ keys: "/", label: t.common.keys.focusSearch, run: () => field.current?.focus() }]);
  const submit = (text: string): void => {
    const id = parseRunId(text.trim());
    if (id !== undefined) void navigate({ to: "/runs/$run", params: { run: id } });
    else onSearch(searchOfText(text, search));
  };
  return (
    <form
      role="search"
      className="runs-search"
      onSubmit={(event) => {
        event.preventDefault();
        const input = field.current;
        if (input === null) return;
        submit(input.value);
        input.value = "";
        input.blur();
      }}
    >
      <input
        ref={field}
        className="input"
        type="search"
        aria-label={t.runs.searchLabel}
        placeholder={t.runs.searchPlaceholder}
        onKeyDown={(event) => {
          if (event.key === "Escape") event.currentTarget.blur();
        }}
      />
      <kbd>/</kbd>
    </form>
  );
}
