import { Copy, Download } from "lucide-react";
import type { ReactNode } from "react";
import type { SqlAnswer } from "@perdure/protocol";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import { Button } from "../../ui/button.tsx";
import { Segmented } from "../../ui/segmented.tsx";
import { Empty } from "../../ui/states.tsx";
import { say } from "../../ui/toasts.tsx";
import { csvOf } from "./csv.ts";
import { ResultChart } from "./result-chart.tsx";
import { ResultTable } from "./result-table.tsx";
import type { SqlSearch } from "./sql-search.ts";

export interface ResultProps {
  readonly answer: SqlAnswer;
  readonly tookMs: number;
  readonly search: SqlSearch;
  readonly onSearch: (search: SqlSearch) => void;
}

export function Result({ answer, tookMs, search, onSearch }: ResultProps): ReactNode {
  const t = useMessages();
  const format = useFormat();
  const { view, kind: _, x: __, y: ___, ...table } = search;
  const isChart = view === "chart";
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(csvOf(answer));
    say(t.common.copied);
  };
  return (
    <section className="result panel" aria-label={t.sql.result}>
      <header>
        <h2>
          {t.sql.rows(answer.rows.length)}
          <span className="dim"> {format.duration(tookMs)}</span>
          {answer.truncated ? <span className="dim"> · {t.sql.truncated}</span> : null}
        </h2>
        <Segmented
          label={t.sql.result}
          value={isChart ? "chart" : "table"}
          options={[
            { value: "table", label: t.sql.table },
            { value: "chart", label: t.sql.chart },
          ]}
          onChange={(next) => onSearch(next === "chart" ? { ...search, view: "chart" } : table)}
        />
        <Button look="ghost" size="s" onClick={() => void copy()}>
          <Copy aria-hidden />
          {t.sql.copyCsv}
        </Button>
        <Button
          look="ghost"
          size="s"
          icon
          aria-label={t.sql.download}
          title={t.sql.download}
          onClick={() => download(csvOf(answer))}
        >
          <Download aria-hidden />
        </Button>
      </header>
      {answer.rows.length === 0 ? (
        <Empty title={t.sql.noRows} />
      ) : isChart ? (
        <ResultChart answer={answer} search={search} onSearch={(change) => onSearch({ ...search, ...change })} />
      ) : (
        <ResultTable key={search.q} answer={answer} />
      )}
    </section>
  );
}

function download(csv: string): void {
  // A mark of its encoding, without which spreadsheets guess.
  const url = URL.createObjectURL(new Blob(["\uFEFF", csv], { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = "perdure.csv";
  link.click();
  URL.revokeObjectURL(url);
}
