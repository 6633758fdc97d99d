// The waterfall on the screen: only the rows in sight are in the document, however long the journal is.

import { useVirtualizer } from "@tanstack/react-virtual";
import { Maximize2, ZoomIn, ZoomOut } from "lucide-react";
import { useEffect, useMemo, useRef, type ReactNode } from "react";
import type { MomentView, RunSummary } from "@perdure/protocol";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import { useHotkeys } from "../../keys/use-hotkeys.ts";
import { useNow } from "../../live/clock.ts";
import { Button } from "../../ui/button.tsx";
import { Segmented } from "../../ui/segmented.tsx";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { EntryPanel } from "./entry-panel.tsx";
import type { JournalState } from "./journal-reader.ts";
import { MomentLane } from "./moment-lane.tsx";
import { momentsByRow, rowOfEntry } from "./moments.ts";
import type { BranchAct, RunSearch } from "./run-search.ts";
import { compactScale, proportionalScale } from "./time-scale.ts";
import { layoutTimeline, type Row, type SegmentKind, type Timeline } from "./timeline-layout.ts";
import { TimelineRow, TONES } from "./timeline-row.tsx";
import { isWhole, useZoom, WHOLE, type Zoom } from "./use-zoom.ts";
import { viewOf, type TimeView } from "./time-view.ts";

const ROW_PX = 28;
const MARKS = 6;
const KINDS: readonly SegmentKind[] = ["work", "wait", "failed", "pause"];

export interface TimelineViewProps {
  readonly run: RunSummary;
  readonly journal: JournalState;
  readonly moments: readonly MomentView[];
  readonly search: RunSearch;
  readonly onSearch: (search: RunSearch) => void;
  readonly onAct: (act: BranchAct, at: number) => void;
}

export function TimelineView({ run, journal, moments, search, onSearch, onAct }: TimelineViewProps): ReactNode {
  const t = useMessages().run.timeline;
  const { createdAt, finishedAt, status } = run;
  const timeline = useMemo(
    () => layoutTimeline({ createdAt, finishedAt, status }, journal.entries),
    [createdAt, finishedAt, status, journal.entries],
  );
  const { rows } = timeline;
  const chosen = search.entry === undefined ? undefined : rowOfEntry(rows, search.entry);
  const momentsOf = useMemo(() => momentsByRow(rows, moments), [rows, moments]);
  const choose = (row: Row | undefined): void => {
    const { entry: _, ...rest } = search;
    onSearch(row === undefined ? rest : { ...rest, entry: row.index });
  };
  if (journal.error !== null && rows.length === 0) return <Failed error={journal.error} />;
  if (rows.length === 0) return journal.isLoading ? <Loading rows={8} /> : <Empty title={t.empty} />;
  return (
    <div className="timeline" data-split={chosen !== undefined || undefined}>
      <Waterfall
        timeline={timeline}
        journal={journal}
        moments={moments}
        momentsOf={momentsOf}
        search={search}
        onSearch={onSearch}
        chosen={chosen}
        onChoose={choose}
      />
      {chosen === undefined ? null : (
        <EntryPanel
          key={chosen.index}
          run={run}
          row={chosen}
          moments={momentsOf(chosen)}
          onClose={() => choose(undefined)}
          onAct={onAct}
        />
      )}
    </div>
  );
}

interface WaterfallProps {
  readonly timeline: Timeline;
  readonly journal: JournalState;
  readonly moments: readonly MomentView[];
  readonly momentsOf: (row: Row) => readonly MomentView[];
  readonly search: RunSearch;
  readonly onSearch: (search: RunSearch) => void;
  readonly chosen: Row | undefined;
  readonly onChoose: (row: Row | undefined) => void;
}

function Waterfall(props: WaterfallProps): ReactNode {
  const { timeline, moments, momentsOf, search, onSearch, chosen, onChoose } = props;
  const { rows } = timeline;
  const scroller = useRef<HTMLDivElement>(null);
  const headPx = moments.length === 0 ? ROW_PX : 2 * ROW_PX;
  const virtual = useVirtualizer({
    count: rows.length,
    // The axis and the moments stand before the rows, and stay over them.
    scrollMargin: headPx,
    scrollPaddingStart: headPx,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 8,
  });
  const zoom = useZoom(scroller);
  const view = useTimeView(timeline, search, zoom.zoom);
  useRowKeys(props, (at) => virtual.scrollToIndex(at, { align: "auto" }));
  useFollow(timeline, scroller, virtual.getTotalSize());
  return (
    <section className="panel waterfall">
      <Tools {...props} zoom={zoom} />
      <div className="waterfall-scroll" ref={scroller}>
        <Axis view={view} />
        {moments.length === 0 ? null : (
          <MomentLane
            moments={moments}
            view={view}
            entry={search.entry}
            onChoose={(entry) => {
              onSearch({ ...search, entry });
              const row = rowOfEntry(rows, entry);
              if (row !== undefined) virtual.scrollToIndex(rows.indexOf(row), { align: "auto" });
            }}
          />
        )}
        <div role="list" style={{ height: virtual.getTotalSize(), position: "relative" }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const row = rows[index];
            if (row === undefined) return null;
            return (
              <div
                key={row.index}
                role="listitem"
                className="virtual-row"
                style={{ transform: `translateY(${start - headPx}px)` }}
              >
                <TimelineRow
                  row={row}
                  moments={momentsOf(row)}
                  view={view}
                  isChosen={row.index === chosen?.index}
                  onChoose={() => onChoose(row.index === chosen?.index ? undefined : row)}
                />
              </div>
            );
          })}
        </div>
      </div>
    </section>
  );
}

function useTimeView(timeline: Timeline, { scale: kind }: RunSearch, zoom: Zoom): TimeView {
  const now = useNow();
  const last = timeline.rows.at(-1);
  // What goes on reaches to now, which is never before what has been seen.
  const end = timeline.to ?? Math.max(now, last?.from ?? 0, last?.to ?? 0);
  const scale = useMemo(() => {
    if (kind !== "compact") return proportionalScale(timeline.from, end);
    const times = timeline.rows.flatMap(({ segments }) =>
      segments.flatMap(({ from, to }) => (to === null ? [from] : [from, to])),
    );
    return compactScale(timeline.from, end, times);
  }, [timeline, end, kind]);
  return useMemo(() => viewOf(scale, zoom, end), [scale, zoom, end]);
}

function useRowKeys(props: WaterfallProps, reveal: (at: number) => void): void {
  const { timeline, chosen, onChoose, search } = props;
  const { rows } = timeline;
  const linked = search.entry;
  const t = useMessages().common.keys;
  const at = chosen === undefined ? -1 : rows.indexOf(chosen);
  const move = (to: number): void => {
    const next = Math.min(rows.length - 1, Math.max(0, to));
    onChoose(rows[next]);
    reveal(next);
  };
  useHotkeys([
    { keys: "j", label: t.next, run: () => move(at + 1) },
    { keys: "k", label: t.previous, run: () => move(at < 0 ? rows.length - 1 : at - 1) },
    { keys: "Escape", label: useMessages().run.entry.close, run: () => onChoose(undefined) },
  ]);
  // A deep link to an entry shows it, as soon as it is loaded.
  const wasRevealed = useRef(at < 0 && linked === undefined);
  useEffect(() => {
    if (at < 0 || wasRevealed.current) return;
    wasRevealed.current = true;
    reveal(at);
  });
}

const NEAR_END_PX = 80;

/** Who looks at the end of what goes on keeps seeing the end. */
function useFollow({ to }: Timeline, scroller: React.RefObject<HTMLDivElement | null>, height: number): void {
  const before = useRef(height);
  useEffect(() => {
    const element = scroller.current;
    const wasAtEnd = element !== null && element.scrollTop + element.clientHeight >= before.current - NEAR_END_PX;
    const hasScrolled = element !== null && element.scrollTop > 0;
    before.current = height;
    if (to === null && wasAtEnd && hasScrolled) element.scrollTo({ top: element.scrollHeight });
  }, [to, scroller, height]);
}

interface ToolsProps extends WaterfallProps {
  readonly zoom: ReturnType<typeof useZoom>;
}

function Tools({ journal, search, onSearch, zoom }: ToolsProps): ReactNode {
  const t = useMessages();
  const format = useFormat();
  const says = t.run.timeline;
  const setScale = (scale: "proportional" | "compact"): void => {
    const { scale: _, ...rest } = search;
    zoom.set(WHOLE);
    onSearch(scale === "compact" ? { ...rest, scale } : rest);
  };
  useHotkeys([
    { keys: "+", label: says.zoomIn, run: zoom.in },
    { keys: "-", label: says.zoomOut, run: zoom.out },
    { keys: "0", label: says.reset, run: () => zoom.set(WHOLE) },
  ]);
  return (
    <header>
      <Legend />
      {journal.isLoading ? <span className="dim">{says.loading(format.number(journal.entries.length))}</span> : null}
      <Segmented
        label={says.scale}
        value={search.scale ?? "proportional"}
        options={[
          { value: "proportional", label: says.proportional },
          { value: "compact", label: says.compact },
        ]}
        onChange={setScale}
      />
      <Button look="ghost" size="s" icon aria-label={says.zoomIn} title={says.zoomIn} onClick={zoom.in}>
        <ZoomIn aria-hidden />
      </Button>
      <Button
        look="ghost"
        size="s"
        icon
        aria-label={says.zoomOut}
        title={says.zoomOut}
        disabled={isWhole(zoom.zoom)}
        onClick={zoom.out}
      >
        <ZoomOut aria-hidden />
      </Button>
      <Button
        look="ghost"
        size="s"
        icon
        aria-label={says.reset}
        title={says.reset}
        disabled={isWhole(zoom.zoom)}
        onClick={() => zoom.set(WHOLE)}
      >
        <Maximize2 aria-hidden />
      </Button>
    </header>
  );
}

function Legend(): ReactNode {
  const t = useMessages().run.timeline.kinds;
  return (
    <span className="wf-legend">
      {KINDS.map((kind) => (
        <span key={kind}>
          <i data-tone={TONES[kind]} data-kind={kind} />
          {t[kind]}
        </span>
      ))}
    </span>
  );
}

/** Times along the line, counted from the run's beginning. */
function Axis({ view }: { readonly view: TimeView }): ReactNode {
  const format = useFormat();
  return (
    <div className="axis" aria-hidden>
      <span className="axis-line">
        {view.ticks(MARKS).map(({ place, sinceStart }) => (
          <span key={place} className="tick" style={{ left: `${place * 100}%` }}>
            +{format.duration(sinceStart)}
          </span>
        ))}
      </span>
    </div>
  );
}
