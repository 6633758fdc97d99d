// A row of the waterfall: what it is, when it was, how long it took.

import { CircleAlert, Diamond } from "lucide-react";
import { memo, type ReactNode } from "react";
import type { MomentView } from "@perdure/protocol";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import type { Tone } from "../../ui/status-badge.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import { entryWords } from "./entry-words.ts";
import type { TimeView } from "./time-view.ts";
import type { Row, Segment, SegmentKind } from "./timeline-layout.ts";

export interface TimelineRowProps {
  readonly row: Row;
  /** Those that were taken at one of its entries. */
  readonly moments: readonly MomentView[];
  readonly view: TimeView;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}

export const TONES: Readonly<Record<SegmentKind, Tone>> = {
  work: "green",
  wait: "violet",
  failed: "red",
  pause: "amber",
};

export const TimelineRow = memo(
  function TimelineRow({ row, moments, view, isChosen, onChoose }: TimelineRowProps): ReactNode {
    const t = useMessages();
    const format = useFormat();
    const { verb, about } = entryWords(row.entry, t);
    const isPoint = row.from === row.to;
    const took = format.duration((row.to ?? view.end) - row.from);
    return (
      <button
        type="button"
        className="wf-row"
        data-chosen={isChosen || undefined}
        data-outcome={row.outcome}
        aria-pressed={isChosen}
        onClick={onChoose}
      >
        <span className="wf-index">{row.index}</span>
        <span className="wf-name cut">
          <span className="dim">{verb}</span> {visibleLine(about)}
          {row.retries.length > 0 && row.entry.kind === "command" ? (
            <span className="wf-tries" data-tone="amber">
              {t.run.timeline.tries(row.retries.length + (row.outcome === "open" ? 0 : 1))}
            </span>
          ) : null}
          {moments.map(({ entry, name }) => (
            <span key={entry} className="wf-moment" data-named={name !== null || undefined}>
              <Diamond aria-label={t.branches.moments.one(format.number(entry))} />
              {name === null ? null : visibleLine(name)}
            </span>
          ))}
          {row.outcome === "failed" ? <CircleAlert aria-label={t.run.entry.failure} /> : null}
        </span>
        <span className="wf-line">
          {row.segments.map((segment, at) => (
            <Piece key={at} segment={segment} row={row} view={view} />
          ))}
          {moments.map((moment) => (
            <MomentPoint key={moment.entry} moment={moment} view={view} />
          ))}
        </span>
        <span className="wf-took" title={row.isGuessed ? t.run.timeline.atMost : undefined}>
          {isPoint ? "" : `${row.isGuessed ? "≤ " : ""}${took}`}
        </span>
      </button>
    );
  },
  (a, b) => a.row === b.row && a.moments === b.moments && a.view === b.view && a.isChosen === b.isChosen,
);

function MomentPoint({ moment, view }: { readonly moment: MomentView; readonly view: TimeView }): ReactNode {
  const at = Date.parse(moment.at);
  const place = view.bar({ from: at, to: at });
  if (place === null) return null;
  const isNamed = moment.name !== null;
  return <i className="wf-point" data-named={isNamed || undefined} style={{ left: `${place.left * 100}%` }} />;
}

interface PieceProps {
  readonly segment: Segment;
  readonly row: Row;
  readonly view: TimeView;
}

function Piece({ segment, row, view }: PieceProps): ReactNode {
  const bar = view.bar(segment);
  if (bar === null) return null;
  const isOpen = segment.to === null;
  const tone = segment.kind === "work" && isOpen ? "blue" : TONES[segment.kind];
  return (
    <span
      className="wf-bar"
      data-tone={tone}
      data-kind={segment.kind}
      data-open={isOpen || undefined}
      data-guessed={row.isGuessed || undefined}
      style={{ left: `${bar.left * 100}%`, width: `${bar.width * 100}%` }}
    />
  );
}
