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
        {placed(moments, view).map(({ moment, ...where }) => (
          <Mark
            key={moment.entry}
            moment={moment}
            {...where}
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

interface Placed {
  readonly moment: MomentView;
  readonly place: number;
  readonly isTurned: boolean;
  /** From 0 to 1: how far its words may reach, up to the next mark. */
  readonly room: number;
}

/** Those in sight. */
function placed(moments: readonly MomentView[], view: TimeView): readonly Placed[] {
  const seen = moments.flatMap((moment) => {
    const at = Date.parse(moment.at);
    const bar = view.bar({ from: at, to: at });
    return bar === null ? [] : [{ moment, place: bar.left, isTurned: bar.left > TURNS_AT }];
  });
  return seen.map((one, index) => {
    const before = seen[index - 1];
    const after = seen[index + 1];
    const left = before === undefined || before.isTurned ? (before?.place ?? 0) : (before.place + one.place) / 2;
    const right = after === undefined || !after.isTurned ? (after?.place ?? 1) : (one.place + after.place) / 2;
    return { ...one, room: one.isTurned ? one.place - left : right - one.place };
  });
}

interface MarkProps extends Placed {
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}

function Mark({ moment, place, isTurned, room, isChosen, onChoose }: MarkProps): ReactNode {
  const t = useMessages().branches.moments;
  const format = useFormat();
  const id = useId();
  const { entry, size, name } = moment;
  const at = Date.parse(moment.at);
  const label = name === null ? t.one(format.number(entry)) : `${t.one(format.number(entry))}: ${visibleLine(name)}`;
  return (
    <span
      className="moment-spot"
      data-turned={isTurned || undefined}
      style={{ left: `${place * 100}%`, maxWidth: `max(24px, ${room * 100}%)` }}
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
