// The rows of an answer: only those in sight are in the document. A column is sorted by a click on its name.

import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown, ArrowUp } from "lucide-react";
import { useMemo, useRef, useState, type ReactNode } from "react";
import { parseRunId, type JsonValue, type SqlAnswer } from "@perdure/protocol";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import { useHotkeys } from "../../keys/use-hotkeys.ts";
import { RunLink } from "../../ui/run-link.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import { cellText } from "./csv.ts";
import { columnKinds, type ColumnKind } from "./chart-pick.ts";
import { nextSorting, sortRows, type Sorting } from "./sort-rows.ts";

const ROW_PX = 30;
const CELL_SHOWN = 200;

export function ResultTable({ answer }: { readonly answer: SqlAnswer }): ReactNode {
  const t = useMessages();
  const { columns } = answer;
  const [sorting, setSorting] = useState<Sorting | null>(null);
  const rows = useMemo(() => sortRows(answer.rows, sorting), [answer.rows, sorting]);
  const kinds = useMemo(() => columnKinds(answer), [answer]);
  const widths = useMemo(() => columnWidths(answer), [answer]);
  const scroller = useRef<HTMLDivElement>(null);
  const [current, setCurrent] = useState<number | null>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 16,
  });
  const move = (by: number): void => {
    const next = Math.min(rows.length - 1, Math.max(0, current === null ? 0 : current + by));
    setCurrent(next);
    virtual.scrollToIndex(next, { align: "auto" });
  };
  useHotkeys([
    { keys: "j", label: t.common.keys.next, run: () => move(1) },
    { keys: "k", label: t.common.keys.previous, run: () => move(-1) },
  ]);
  const template = { gridTemplateColumns: widths.map((width) => `minmax(${width}ch, 1fr)`).join(" ") };
  return (
    <div className="result-scroll" ref={scroller} tabIndex={0} role="group" aria-label={t.sql.result}>
      <div role="table" aria-rowcount={rows.length + 1} className="result-table">
        <div role="rowgroup" className="result-head">
          <div role="row" className="result-row" style={template}>
            {columns.map((name, at) => (
              <Head key={at} name={name} at={at} kind={kinds[at]} sorting={sorting} onSort={setSorting} />
            ))}
          </div>
        </div>
        <div role="rowgroup" style={{ height: virtual.getTotalSize(), position: "relative" }}>
          {virtual.getVirtualItems().map(({ index, start }) => (
            <div
              key={index}
              className="virtual-row"
              role="presentation"
              style={{ transform: `translateY(${start}px)` }}
            >
              <div
                role="row"
                aria-rowindex={index + 2}
                className="result-row"
                data-current={index === current || undefined}
                style={template}
              >
                {columns.map((_, at) => (
                  <span key={at} role="cell" className={kinds[at] === "number" ? "numeric cut" : "cut"}>
                    <Cell cell={rows[index]?.[at] ?? null} kind={kinds[at] ?? "text"} />
                  </span>
                ))}
              </div>
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}

interface HeadProps {
  readonly name: string;
  readonly at: number;
  readonly kind: ColumnKind | undefined;
  readonly sorting: Sorting | null;
  readonly onSort: (sorting: Sorting | null) => void;
}

function Head({ name, at, kind, sorting, onSort }: HeadProps): ReactNode {
  const isSorted = sorting?.column === at;
  return (
    <span
      role="columnheader"
      aria-sort={isSorted ? (sorting.isDescending ? "descending" : "ascending") : "none"}
      className={kind === "number" ? "numeric" : undefined}
    >
      <button type="button" onClick={() => onSort(nextSorting(sorting, at))}>
        <span className="cut">{visibleLine(name)}</span>
        {isSorted ? sorting.isDescending ? <ArrowDown aria-hidden /> : <ArrowUp aria-hidden /> : null}
      </button>
    </span>
  );
}

function Cell({ cell, kind }: { readonly cell: JsonValue; readonly kind: ColumnKind }): ReactNode {
  const format = useFormat();
  if (cell === null) return <span className="dim">null</span>;
  if (typeof cell === "number" && kind === "time") return <span title={String(cell)}>{format.dateTime(cell)}</span>;
  const text = cellText(cell);
  const run = typeof cell === "string" ? parseRunId(cell) : undefined;
  if (run !== undefined) return <RunLink id={run} />;
  const shown = visibleLine(text.slice(0, CELL_SHOWN));
  return <span title={visibleLine(text.slice(0, CELL_SHOWN * 10))}>{shown}</span>;
}

const WIDTH_MIN = 9;
const WIDTH_MAX = 42;
const MEASURED = 100;
const RUN_LINK_LENGTH = 13;

/** In letters, as wide as most of what stands in it. */
function columnWidths({ columns, rows }: SqlAnswer): readonly number[] {
  return columns.map((name, at) => {
    const lengths = rows.slice(0, MEASURED).map((row) => shownLength(row[at] ?? null));
    const typical = lengths.toSorted((a, b) => a - b).at(Math.floor(lengths.length * 0.9)) ?? 0;
    return Math.min(WIDTH_MAX, Math.max(WIDTH_MIN, name.length + 4, typical + 2));
  });
}

/** The id of a run is shown cut. */
function shownLength(cell: JsonValue): number {
  return typeof cell === "string" && parseRunId(cell) !== undefined ? RUN_LINK_LENGTH : cellText(cell).length;
}
