// The moments of a run over its waterfall: a mark at the time each was taken, the named ones with their names.

import { useId, useRef, type ReactNode } from "react";
import type { MomentView } from "@perdure/protocol";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import { useHotkeys } from "../../keys/use-hotkeys.ts";
import { visibleLine } from "../../ui/visible-text.ts";
import { nextMoment } from "./moments.ts";
import type { TimeView } from "./time-view.ts";

export interface MomentLaneProps {
  readonly moments: readonly MomentView[];
  readonly view: TimeView;
  /** The entry that is looked at. */
  readonly entry: number | undefined;
  readonly onChoose: (entry: number) => void;
}

export function MomentLane({ moments, view, entry, onChoose }: MomentLaneProps): ReactNode {
  const t = useMessages().branches.moments;
  const lane = useRef<HTMLDivElement>(null);
  useHotkeys([
    {
      keys: "m",
      label: t.next,
      run: () => {
        const next = nextMoment(moments, entry ?? 0);
        if (next !== undefined) onChoose(next.entry);
      },
    },
  ]);
  return (
    <div className="moment-lane" ref={lane} role="group" aria-label={t.lane}>
      <span className="dim cut">{t.title}</span>
      <span className="moment-line">
        {moments.map((moment) => (
          <Mark
            key={moment.entry}
            moment={moment}
            view={view}
            isChosen={moment.entry === entry}
            onChoose={() => onChoose(moment.entry)}
          />
        ))}
      </span>
    </div>
  );
}

/** Its words are to the left of what stands far to the right. */
const TURNS_AT = 0.6;

interface MarkProps {
  readonly moment: MomentView;
  readonly view: TimeView;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}

function Mark({ moment, view, isChosen, onChoose }: MarkProps): ReactNode {
  const t = useMessages().branches.moments;
  const format = useFormat();
  const id = useId();
  const at = Date.parse(moment.at);
  const place = view.bar({ from: at, to: at });
  if (place === null) return null;
  const { entry, size, name } = moment;
  const label = name === null ? t.one(format.number(entry)) : `${t.one(format.number(entry))}: ${visibleLine(name)}`;
  return (
    <span
      className="moment-spot"
      data-turned={place.left > TURNS_AT || undefined}
      style={{ left: `${place.left * 100}%` }}
    >
      <button
        type="button"
        className="moment-mark"
        data-named={name !== null || undefined}
        aria-pressed={isChosen}
        aria-label={label}
        aria-describedby={id}
        onClick={onChoose}
      >
        <i aria-hidden />
        {name === null ? null : <b className="cut">{visibleLine(name)}</b>}
      </button>
      <span className="moment-tip" role="tooltip" id={id}>
        <b>{label}</b>
        <span>
          {format.clock(at)} · {format.bytes(size)}
        </span>
      </span>
    </span>
  );
}
