// The table: only the rows in sight are in the document, each follows its run by itself, and a keyboard walks through it.

import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowUp, Inbox } from "lucide-react";
import {
  memo,
  useEffect,
  useRef,
  useState,
  type Dispatch,
  type ReactNode,
  type RefObject,
  type SetStateAction,
} from "react";
import type { RunId, RunSummary } from "@perdure/protocol";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import { useHotkeys } from "../../keys/use-hotkeys.ts";
import { useNow } from "../../live/clock.ts";
import { useLiveRun } from "../../live/use-live.ts";
import { CommandLine } from "../../ui/copy-button.tsx";
import { reasonOf } from "../../ui/reason.ts";
import { RunLink, TargetName } from "../../ui/run-link.tsx";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { Ago, Took } from "../../ui/time.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import { isEmptySearch, type RunsSearch } from "./runs-search.ts";
import { isSelected, toggle, type Selection } from "./selection.ts";
import type { LoadedRuns } from "./use-runs.ts";

const ROW_PX = 36;
const AHEAD_ROWS = 60;

export interface RunsTableProps {
  readonly loaded: LoadedRuns;
  readonly search: RunsSearch;
  readonly selection: Selection;
  readonly onSelect: Dispatch<SetStateAction<Selection>>;
  /** The highest number that is shown from now on; null: all. */
  readonly onHold: (newestShown: number | null) => void;
  readonly onOpen: (run: RunId) => void;
}

export function RunsTable(props: RunsTableProps): ReactNode {
  const { loaded, selection, onSelect } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const { rows } = loaded;
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
    getItemKey: (at) => rows[at]?.id ?? at,
  });
  const items = virtual.getVirtualItems();
  const lastShown = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (loaded.hasMore && lastShown > rows.length - AHEAD_ROWS) loaded.loadMore();
  }, [loaded, lastShown, rows.length]);
  const cursor = useCursor(props, (at) => virtual.scrollToIndex(at, { align: "auto" }));
  return (
    <div className="runs-frame">
      <Held {...props} scroller={scroller} />
      <div className="runs-scroll" ref={scroller} onScroll={(event) => hold(event.currentTarget, props)}>
        <div role="table" aria-rowcount={loaded.hasMore ? -1 : rows.length} className="runs-table">
          <Head {...props} />
          <div role="rowgroup" style={{ height: virtual.getTotalSize(), position: "relative" }}>
            {items.map(({ index, start, key }) => {
              const run = rows[index];
              if (run === undefined) return null;
              return (
                <div key={key} className="virtual-row" style={{ transform: `translateY(${start}px)` }}>
                  <Row
                    run={run}
                    index={index}
                    isCurrent={cursor === index}
                    isChosen={isSelected(selection, run.id)}
                    onToggle={() => onSelect((now) => toggle(now, run.id))}
                  />
                </div>
              );
            })}
          </div>
        </div>
        <Foot {...props} />
      </div>
    </div>
  );
}

/** M3. Who has scrolled away from the top reads something: new rows wait until they come back. */
function hold({ scrollTop }: HTMLElement, { loaded, onHold }: RunsTableProps): void {
  if (scrollTop < ROW_PX) onHold(null);
  else if (loaded.held === 0) onHold(loaded.rows.reduce((newest, { seq }) => Math.max(newest, seq), 0));
}

/** The row that the keyboard is at; none until a key is pressed. */
function useCursor({ loaded, onSelect, onOpen }: RunsTableProps, reveal: (at: number) => void): number | null {
  const t = useMessages().common.keys;
  const [id, setId] = useState<RunId | null>(null);
  const { rows } = loaded;
  const found = rows.findIndex((run) => run.id === id);
  const at = found < 0 ? null : found;
  const move = (by: number): void => {
    const next = Math.min(rows.length - 1, Math.max(0, (at ?? (by > 0 ? -1 : 0)) + by));
    const run = rows[next];
    if (run === undefined) return;
    setId(run.id);
    reveal(next);
  };
  useHotkeys([
    { keys: "j", label: t.next, run: () => move(1) },
    { keys: "k", label: t.previous, run: () => move(-1) },
    { keys: "Enter", label: t.open, run: () => (id === null ? undefined : onOpen(id)) },
    { keys: "x", label: t.select, run: () => (id === null ? undefined : onSelect((now) => toggle(now, id))) },
  ]);
  return at;
}

function Head({ loaded, selection, onSelect }: RunsTableProps): ReactNode {
  const t = useMessages().runs;
  const isAll = selection.kind === "matching" || (loaded.rows.length > 0 && selection.ids.size >= loaded.rows.length);
  const toggleAll = (): void => onSelect({ kind: "some", ids: new Set(isAll ? [] : loaded.rows.map(({ id }) => id)) });
  return (
    <div role="rowgroup" className="runs-columns">
      <div role="row" className="runs-row">
        <span role="columnheader">
          <input type="checkbox" aria-label={t.selectLoaded} checked={isAll} onChange={toggleAll} />
        </span>
        <span role="columnheader">{t.columns.status}</span>
        <span role="columnheader">{t.columns.target}</span>
        <span role="columnheader" className="wide">
          {t.columns.id}
        </span>
        <span role="columnheader" className="wide">
          {t.columns.reason}
        </span>
        <span role="columnheader" className="numeric wide">
          {t.columns.took}
        </span>
        <span role="columnheader" className="numeric">
          {t.columns.created}
        </span>
      </div>
    </div>
  );
}

interface RowProps {
  readonly run: RunSummary;
  readonly index: number;
  readonly isCurrent: boolean;
  readonly isChosen: boolean;
  readonly onToggle: () => void;
}

const Row = memo(
  function Row({ run: read, index, isCurrent, isChosen, onToggle }: RowProps): ReactNode {
    const t = useMessages();
    const run = useLiveRun(read);
    return (
      <div
        role="row"
        aria-rowindex={index + 2}
        className="runs-row"
        data-current={isCurrent || undefined}
        data-chosen={isChosen || undefined}
      >
        <span role="cell">
          <input type="checkbox" aria-label={t.runs.columns.select} checked={isChosen} onChange={onToggle} />
        </span>
        <span role="cell">
          <StatusBadge status={run.status} />
        </span>
        <span role="cell" className="cut">
          <RunLink id={run.id}>
            <TargetName of={run} />
          </RunLink>
        </span>
        <span role="cell" className="wide">
          <RunLink id={run.id} />
        </span>
        <span role="cell" className="wide cut dim">
          <Reason run={run} />
        </span>
        <span role="cell" className="numeric wide">
          <Took from={run.createdAt} to={run.finishedAt} />
        </span>
        <span role="cell" className="numeric dim">
          <Ago at={run.createdAt} />
        </span>
      </div>
    );
  },
  // The rest is made anew each time, and means the same: what it does, it does to the selection of that moment.
  (a, b) => a.run === b.run && a.index === b.index && a.isCurrent === b.isCurrent && a.isChosen === b.isChosen,
);

function Reason({ run }: { readonly run: RunSummary }): ReactNode {
  const t = useMessages();
  const text = visibleLine(reasonOf(run, useNow(), t, useFormat()));
  return <span title={text}>{text}</span>;
}

function Held({
  loaded,
  onHold,
  scroller,
}: RunsTableProps & { readonly scroller: RefObject<HTMLElement | null> }): ReactNode {
  const t = useMessages().runs;
  if (loaded.held === 0) return null;
  const show = (): void => {
    onHold(null);
    scroller.current?.scrollTo({ top: 0 });
  };
  return (
    <button type="button" className="runs-held" onClick={show}>
      <ArrowUp aria-hidden />
      {t.newOnes(loaded.held)}
    </button>
  );
}

function Foot({ loaded, search }: RunsTableProps): ReactNode {
  const t = useMessages().runs;
  const format = useFormat();
  const { rows, error, isLoading, isLoadingMore, hasMore } = loaded;
  if (error !== null) return <Failed error={error} onRetry={loaded.retry} />;
  if (isLoading) return <Loading rows={12} />;
  if (rows.length > 0) {
    const count = format.number(rows.length);
    return (
      <p className="runs-foot dim">{isLoadingMore ? t.loadingMore : hasMore ? t.loaded(count) : t.loadedAll(count)}</p>
    );
  }
  if (!isEmptySearch(search))
    return (
      <Empty icon={<Inbox aria-hidden />} title={t.empty}>
        <p>{t.emptyHelp}</p>
      </Empty>
    );
  return (
    <Empty icon={<Inbox aria-hidden />} title={t.emptyAll}>
      <p>{t.emptyAllHelp}</p>
      <CommandLine command="npx perdure send <service>/<handler> '<json>'" />
    </Empty>
  );
}
