// SQL over the live tables: a statement, its answer as rows or as a picture, and what was asked before.

import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { History, Lightbulb, Play } from "lucide-react";
import { useEffect, useMemo, useRef, useState, type ReactNode } from "react";
import type { SqlAnswer } from "@perdure/protocol";
import { useApi } from "../../app/app-context.ts";
import { useMessages } from "../../i18n/use-messages.ts";
import { useHotkeys } from "../../keys/use-hotkeys.ts";
import { Button } from "../../ui/button.tsx";
import { CommandLine } from "../../ui/copy-button.tsx";
import { Menu } from "../../ui/menu.tsx";
import { shellWord } from "../../ui/shell-word.ts";
import { visibleLine, visibleText } from "../../ui/visible-text.ts";
import { placeOfError } from "./error-place.ts";
import { EXAMPLES } from "./examples.ts";
import { Result } from "./result.tsx";
import { SqlEditor } from "./sql-editor.tsx";
import { readHistory, remember } from "./sql-history.ts";
import type { SqlSearch } from "./sql-search.ts";
import { TablesPanel } from "./tables-panel.tsx";
import "./sql.css";

/** As many as the API gives. */
const ROWS_MAX = 10_000;

export function Sql(): ReactNode {
  const t = useMessages();
  const navigate = useNavigate({ from: "/sql" });
  const search = useSearch({ from: "/sql" });
  const ran = search.q ?? "";
  const [text, setText] = useState(ran);
  const [history, setHistory] = useState(() => readHistory(localStorage));
  const field = useRef<HTMLTextAreaElement>(null);
  // Who goes back in the browser finds the statement there, too.
  useEffect(() => setText(ran), [ran]);
  const query = useAnswer(ran);
  const run = (statement: string): void => {
    if (statement.trim() === "") return;
    setText(statement);
    setHistory(remember(localStorage, statement));
    if (statement === ran) void query.refetch();
    else void navigate({ search: { q: statement, ...(search.view === undefined ? {} : { view: search.view }) } });
  };
  const insert = (name: string): void => {
    const { selectionStart = text.length, selectionEnd = text.length } = field.current ?? {};
    setText(text.slice(0, selectionStart) + name + text.slice(selectionEnd));
    field.current?.focus();
  };
  useHotkeys([
    { keys: "mod+enter", label: t.sql.run, run: () => run(text) },
    { keys: "/", label: t.sql.toStatement, run: () => field.current?.focus() },
  ]);
  const { error } = query;
  const place = useMemo(() => (error === null ? null : placeOfError(error, ran, text)), [error, ran, text]);
  const set = (next: SqlSearch): void => void navigate({ search: next, replace: true });
  return (
    <div className="sql-page">
      <div className="sql-main">
        <div className="page-head">
          <h1>{t.sql.title}</h1>
          <HistoryMenu history={history} onChoose={run} />
          <ExamplesMenu onChoose={run} />
        </div>
        <SqlEditor text={text} onText={setText} place={place} field={field} />
        <div className="sql-actions">
          <Button look="primary" disabled={text.trim() === "" || query.isFetching} onClick={() => run(text)}>
            <Play aria-hidden />
            {query.isFetching ? t.sql.running : t.sql.run}
            <kbd>Ctrl ⏎</kbd>
          </Button>
          <span className="dim sql-note">{t.sql.readOnly}</span>
          {text.trim() === "" ? null : <CommandLine command={`npx perdure sql ${shellWord(text.trim())}`} />}
        </div>
        {query.error === null || query.isFetching ? null : (
          <div id="sql-error" className="notice" data-tone="red" role="alert">
            <p>
              {place === null ? null : <b>{t.sql.at(place.line, place.column)} </b>}
              {visibleText(query.error.message)}
            </p>
          </div>
        )}
        {query.data === undefined || query.error !== null ? null : (
          <Result answer={query.data.answer} tookMs={query.data.tookMs} search={search} onSearch={set} />
        )}
        {ran === "" ? <Examples onChoose={run} /> : null}
      </div>
      <TablesPanel onInsert={insert} />
    </div>
  );
}

function useAnswer(statement: string) {
  const api = useApi();
  return useQuery({
    queryKey: ["sql", statement],
    queryFn: async () => {
      const began = performance.now();
      const answer = await api.post<SqlAnswer>("/sql", { query: statement, limit: ROWS_MAX });
      return { answer, tookMs: performance.now() - began };
    },
    enabled: statement !== "",
    // It is asked when somebody asks, and not behind their back.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    retry: false,
  });
}

interface ChooseProps {
  readonly onChoose: (statement: string) => void;
}

const HISTORY_SHOWN = 30;
const LINE_SHOWN = 70;

function HistoryMenu({ history, onChoose }: ChooseProps & { readonly history: readonly string[] }): ReactNode {
  const t = useMessages().sql;
  const items = history.slice(0, HISTORY_SHOWN).map((statement) => {
    const line = visibleLine(statement.replaceAll(/\s+/g, " "));
    return {
      label: line.length > LINE_SHOWN ? `${line.slice(0, LINE_SHOWN)}…` : line,
      onSelect: () => onChoose(statement),
    };
  });
  return (
    <Menu
      trigger={
        <Button disabled={items.length === 0}>
          <History aria-hidden />
          {t.history}
        </Button>
      }
      groups={[{ items }]}
    />
  );
}

function ExamplesMenu({ onChoose }: ChooseProps): ReactNode {
  const t = useMessages().sql;
  return (
    <Menu
      trigger={
        <Button>
          <Lightbulb aria-hidden />
          {t.examplesTitle}
        </Button>
      }
      groups={[
        {
          items: EXAMPLES.map(({ name, statement }) => ({
            label: t.examples[name],
            onSelect: () => onChoose(statement),
          })),
        },
      ]}
    />
  );
}

/** What there is to ask, before anybody has. */
function Examples({ onChoose }: ChooseProps): ReactNode {
  const t = useMessages().sql;
  return (
    <section className="sql-examples" aria-label={t.examplesTitle}>
      {EXAMPLES.map(({ name, statement }) => (
        <button key={name} type="button" className="panel" onClick={() => onChoose(statement)}>
          <b>{t.examples[name]}</b>
          <code>{statement}</code>
        </button>
      ))}
    </section>
  );
}
