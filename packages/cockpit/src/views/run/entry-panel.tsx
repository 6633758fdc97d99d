// One entry in full: what was asked for, what came back, the tries in between.

import { useQuery } from "@tanstack/react-query";
import { CornerUpLeft, GitFork, RotateCcw, X } from "lucide-react";
import { useState, type ReactNode } from "react";
import type { CommandView, EntryView, KeptView, MomentView, RunSummary } from "@perdure/protocol";
import { useApi } from "../../app/app-context.ts";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import { Button } from "../../ui/button.tsx";
import { Payload, ResultPayload } from "../../ui/payload.tsx";
import { RunLink, TargetName } from "../../ui/run-link.tsx";
import { Badge } from "../../ui/status-badge.tsx";
import { Ago } from "../../ui/time.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import { entryWords } from "./entry-words.ts";
import { Fact } from "./fact.tsx";
import { MomentPart } from "./moment-part.tsx";
import { endOfRow } from "./moments.ts";
import { ActionDialog } from "./run-actions.tsx";
import { FailureText } from "./run-problem.tsx";
import type { BranchAct } from "./run-search.ts";
import type { Row } from "./timeline-layout.ts";
import { wholeEntry } from "./whole-entry.ts";

const SHOWN_BYTES = 262_144;
const ALL_BYTES = 33_554_432;

export interface EntryPanelProps {
  readonly run: RunSummary;
  readonly row: Row;
  readonly moments: readonly MomentView[];
  readonly onClose: () => void;
  readonly onAct: (act: BranchAct, at: number) => void;
}

export function EntryPanel({ run, row, moments, onClose, onAct }: EntryPanelProps): ReactNode {
  const t = useMessages();
  const format = useFormat();
  const [isRestarting, setRestarting] = useState(false);
  const { verb, about } = entryWords(row.entry, t);
  return (
    <aside className="panel entry" aria-label={t.run.entry.title(String(row.index))}>
      <header>
        <h2 className="cut">
          <span className="dim">{format.number(row.index)}</span> {verb} {visibleLine(about)}
        </h2>
        <Button look="ghost" size="s" icon aria-label={t.run.entry.close} onClick={onClose}>
          <X aria-hidden />
        </Button>
      </header>
      <div className="entry-actions">
        <Button size="s" onClick={() => onAct("fork", endOfRow(row))}>
          <GitFork aria-hidden />
          {t.branches.fork}
        </Button>
        <Button size="s" onClick={() => onAct("rewind", endOfRow(row))}>
          <CornerUpLeft aria-hidden />
          {t.branches.rewind}
        </Button>
        <Button look="ghost" size="s" onClick={() => setRestarting(true)}>
          <RotateCcw aria-hidden />
          {t.run.restartFromHere}
        </Button>
      </div>
      <div className="entry-body">
        {moments.map((moment) => (
          <MomentPart key={moment.entry} run={run.id} moment={moment} />
        ))}
        <EntryFacts row={row} />
        <EntryData run={run} row={row} />
        <Tries row={row} />
      </div>
      {isRestarting ? (
        <ActionDialog run={run} action="restart" from={row.index} onClose={() => setRestarting(false)} />
      ) : null}
    </aside>
  );
}

function EntryFacts({ row }: { readonly row: Row }): ReactNode {
  const t = useMessages().run;
  const format = useFormat();
  const { entry } = row;
  const command = entry.kind === "command" ? entry.command : null;
  return (
    <dl className="facts">
      <Fact name={t.entry.at}>
        <span title={format.dateTime(Date.parse(entry.at))}>{format.clock(Date.parse(entry.at))}</span>
      </Fact>
      {row.completion === null ? null : (
        <Fact name={t.entry.completed}>{format.clock(Date.parse(row.completion.at))}</Fact>
      )}
      {row.to === null || row.to === row.from ? null : (
        <Fact name={t.timeline.took}>
          {row.isGuessed ? "≤ " : ""}
          {format.duration(row.to - row.from)}
        </Fact>
      )}
      {command?.target === undefined ? null : (
        <Fact name={t.entry.target}>
          <TargetName of={command.target} />
        </Fact>
      )}
      {row.child === null ? null : (
        <Fact name={t.entry.child}>
          <RunLink id={row.child} />
        </Fact>
      )}
      {command?.wakeAt === undefined ? null : (
        <Fact name={t.waits.time}>
          <Ago at={command.wakeAt} />
        </Fact>
      )}
      {command?.atMostOnce === true ? <Badge tone="grey">{t.entry.atMostOnce}</Badge> : null}
    </dl>
  );
}

/** The timeline knows the beginnings of payloads only: the whole is read when somebody looks. */
function EntryData({ run, row }: { readonly run: RunSummary; readonly row: Row }): ReactNode {
  const t = useMessages().run.entry;
  const [bytesMax, setBytesMax] = useState(SHOWN_BYTES);
  const entry = useEntry(run, row.entry, bytesMax);
  const completion = useEntry(run, row.completion ?? row.entry, bytesMax);
  const load = (): void => setBytesMax(ALL_BYTES);
  const command = entry.kind === "command" ? entry.command : null;
  const result =
    entry.kind === "command"
      ? (entry.result ?? (completion.kind === "completion" ? completion.result : undefined))
      : entry.kind === "completion"
        ? entry.result
        : undefined;
  const kept =
    entry.kind === "command"
      ? (entry.kept ?? (completion.kind === "completion" ? completion.kept : undefined))
      : undefined;
  return (
    <>
      {command === null ? null : <CommandData command={command} onLoad={load} />}
      {entry.kind === "signal" ? (
        <Part title={t.value}>
          <ResultPayload result={entry.payload} onLoad={load} />
        </Part>
      ) : null}
      {result !== undefined ? (
        <Part title={result.kind === "failure" ? t.failure : t.result}>
          {result.kind === "failure" ? (
            <FailureText failure={result.failure} />
          ) : (
            <ResultPayload result={result} onLoad={load} />
          )}
          {kept === undefined ? null : <Kept kept={kept} />}
        </Part>
      ) : row.outcome === "open" ? (
        <p className="dim">{t.noResult}</p>
      ) : null}
    </>
  );
}

function CommandData({ command, onLoad }: { readonly command: CommandView; readonly onLoad: () => void }): ReactNode {
  const t = useMessages().run.entry;
  return (
    <>
      {command.input === undefined || command.input === null ? null : (
        <Part title={t.input}>
          <Payload value={command.input} onLoad={onLoad} />
        </Part>
      )}
      {command.value === undefined ? null : (
        <Part title={t.value}>
          <Payload value={command.value} onLoad={onLoad} />
        </Part>
      )}
      {command.completion === undefined ? null : (
        <Part title={t.value}>
          <ResultPayload result={command.completion} onLoad={onLoad} />
        </Part>
      )}
    </>
  );
}

function useEntry(run: RunSummary, known: EntryView, maxPayload: number): EntryView {
  const api = useApi();
  const { data } = useQuery({ ...wholeEntry(api, run, known, maxPayload), placeholderData: (before) => before });
  return data?.index === known.index ? data : known;
}

function Kept({ kept: { stream, from, count } }: { readonly kept: KeptView }): ReactNode {
  const t = useMessages().run.entry;
  const range = count === 1 ? String(from) : `${from}–${from + count - 1}`;
  return <p className="dim">{t.kept(visibleLine(stream), range)}</p>;
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }): ReactNode {
  return (
    <section className="entry-part">
      <h3>{title}</h3>
      {children}
    </section>
  );
}

function Tries({ row }: { readonly row: Row }): ReactNode {
  const t = useMessages().run.entry;
  const format = useFormat();
  if (row.retries.length === 0) return null;
  return (
    <Part title={t.attempts}>
      <ol className="tries">
        {row.retries.map((retry) => (
          <li key={retry.index} data-tone="amber">
            <b>{retry.tries}</b>
            <div>
              <span className="dim">
                {format.clock(Date.parse(retry.at))}
                {retry.retryAt === undefined ? "" : `, ${t.nextTry} ${format.clock(Date.parse(retry.retryAt))}`}
              </span>
              <FailureText failure={retry.failure} />
            </div>
          </li>
        ))}
      </ol>
    </Part>
  );
}
