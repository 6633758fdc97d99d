// Where the code took another way than its journal: both side by side, the place in the code, and the ways on.

import { GitFork, Play, CornerUpLeft } from "lucide-react";
import { useState, type ReactNode } from "react";
import type { EntryView, Failure, RunSummary } from "@perdure/protocol";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { visibleText } from "../../ui/visible-text.ts";
import { entryOfCommand } from "./moments.ts";
import { ActionDialog } from "./run-actions.tsx";
import { RunEntryLink } from "./run-entry-link.tsx";
import type { BranchAct } from "./run-search.ts";
import { diffWords, placeOf } from "./word-diff.ts";

const DIVERGED = "P0016";

export interface Divergence {
  readonly recorded: string;
  readonly now: string;
  readonly position: string | undefined;
  readonly command: number;
}

/** Null: it failed for another reason. */
export function divergenceOf({ errorCode, metadata }: Failure): Divergence | null {
  const recorded = metadata?.["recorded"];
  const now = metadata?.["now"];
  if (errorCode !== DIVERGED || recorded === undefined || now === undefined) return null;
  return { recorded, now, position: metadata?.["position"], command: Number(metadata?.["command"]) };
}

/** What the journal has, and what the code asks for now. */
export function DivergenceDiff({ recorded, now, position }: Divergence): ReactNode {
  const t = useMessages().branches.divergence;
  const { head, before, after, tail } = diffWords(recorded, now);
  const place = position === undefined ? null : placeOf(position);
  return (
    <>
      <div className="divergence">
        <Side name={t.recorded} sign="−" tone="red" head={head} part={before} tail={tail} />
        <Side name={t.now} sign="+" tone="green" head={head} part={after} tail={tail} />
      </div>
      {place === null ? null : (
        <p className="divergence-place">
          <span className="dim">{t.at}</span> <code className="cut">{visibleText(place)}</code>
          <CopyButton text={place} />
        </p>
      )}
    </>
  );
}

interface SideProps {
  readonly name: string;
  readonly sign: string;
  readonly tone: string;
  readonly head: string;
  readonly part: string;
  readonly tail: string;
}

function Side({ name, sign, tone, head, part, tail }: SideProps): ReactNode {
  return (
    <div data-tone={tone}>
      <b>
        <span aria-hidden>{sign}</span> {name}
      </b>
      <code>
        {visibleText(head)}
        {part === "" ? null : <mark>{visibleText(part)}</mark>}
        {visibleText(tail)}
      </code>
    </div>
  );
}

export interface WaysOnProps {
  readonly run: RunSummary;
  readonly entries: readonly EntryView[];
  readonly divergence: Divergence;
  readonly onAct: (act: BranchAct, at: number) => void;
}

/** Resume what is repaired, rewind to before it, try it in a fork. */
export function WaysOn({ run, entries, divergence, onAct }: WaysOnProps): ReactNode {
  const t = useMessages();
  const says = t.branches.divergence;
  const format = useFormat();
  const [isResuming, setResuming] = useState(false);
  const entry = entryOfCommand(entries, divergence.command);
  return (
    <section className="ways-on">
      <h3>
        {says.choose}
        {entry === undefined ? null : (
          <RunEntryLink run={run.id} entry={entry}>
            {says.showEntry(format.number(entry))}
          </RunEntryLink>
        )}
      </h3>
      <ul>
        <li>
          <p>{says.fix}</p>
          <Button look="primary" onClick={() => setResuming(true)}>
            <Play aria-hidden />
            {t.run.actions.resume}
          </Button>
        </li>
        {entry === undefined ? null : (
          <>
            <li>
              <p>{says.rewind(format.number(entry))}</p>
              <Button onClick={() => onAct("rewind", entry - 1)}>
                <CornerUpLeft aria-hidden />
                {t.branches.rewind}
              </Button>
            </li>
            <li>
              <p>{says.fork(format.number(entry))}</p>
              <Button onClick={() => onAct("fork", entry - 1)}>
                <GitFork aria-hidden />
                {t.branches.fork}
              </Button>
            </li>
          </>
        )}
      </ul>
      {isResuming ? <ActionDialog run={run} action="resume" onClose={() => setResuming(false)} /> : null}
    </section>
  );
}
