// What a run is: whom it is of, its status, its times, its parent, what models cost it; and what can be done with it.

import { useQueries } from "@tanstack/react-query";
import { useMemo, type ReactNode } from "react";
import type { EntryView, MomentView, RunDetail, RunSummary } from "@perdure/protocol";
import { useApi } from "../../app/app-context.ts";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import { mayHideUsage, sumUsage } from "../../live/model-usage.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { RunLink, TargetName } from "../../ui/run-link.tsx";
import { Badge, StatusBadge } from "../../ui/status-badge.tsx";
import { Ago, Took } from "../../ui/time.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import { Fact } from "./fact.tsx";
import { RunActions } from "./run-actions.tsx";
import { RunMemory } from "./run-memory.tsx";
import type { BranchAct } from "./run-search.ts";
import { wholeEntry } from "./whole-entry.ts";

/** Long answers are read one by one, and so many of them. */
const READ_MAX = 100;
const MODEL_ANSWER_BYTES_MAX = 1_048_576;

export interface RunHeaderProps {
  readonly run: RunSummary;
  readonly detail: RunDetail;
  readonly entries: readonly EntryView[];
  readonly moments: readonly MomentView[];
  readonly onAct: (act: BranchAct) => void;
}

export function RunHeader({ run, detail, entries, moments, onAct }: RunHeaderProps): ReactNode {
  const t = useMessages().run;
  return (
    <header className="run-head">
      <div className="page-head">
        <StatusBadge status={run.status} />
        <h1>
          <TargetName of={run} />
        </h1>
        <RunActions run={run} onAct={onAct} />
      </div>
      <div className="run-id">
        <code className="cut">{run.id}</code>
        <CopyButton text={run.id} />
        {detail.live && run.status !== "running" ? <Badge tone="grey">{t.facts.live}</Badge> : null}
      </div>
      <Facts run={run} entries={entries} moments={moments} count={Math.max(detail.entries, entries.length)} />
    </header>
  );
}

interface FactsProps extends Pick<RunHeaderProps, "run" | "entries" | "moments"> {
  readonly count: number;
}

function Facts({ run, entries, moments, count }: FactsProps): ReactNode {
  const t = useMessages();
  const facts = t.run.facts;
  return (
    <dl className="facts">
      <Fact name={facts.created}>
        <Ago at={run.createdAt} />
      </Fact>
      {run.scheduledAt === null ? null : (
        <Fact name={facts.started}>
          <Ago at={run.scheduledAt} />
        </Fact>
      )}
      <Fact name={run.finishedAt === null ? facts.so : facts.took}>
        <Took from={run.createdAt} to={run.finishedAt} />
      </Fact>
      <Fact name={facts.entries}>{t.common.count.entries(count)}</Fact>
      <Usage run={run} entries={entries} />
      {run.parent === null ? null : (
        <Fact name={facts.parent}>
          <RunLink id={run.parent.runId} /> #{run.parent.command}
          {run.parent.awaited ? "" : `, ${facts.notAwaited}`}
        </Fact>
      )}
      {run.generation === 0 ? null : <Fact name={facts.restarts}>{run.generation}</Fact>}
      {run.forkedFrom === null ? null : <ForkOrigin {...run.forkedFrom} />}
      <RunMemory run={run} moments={moments} count={count} />
      {run.idempotencyKey === null ? null : <Fact name={facts.idempotencyKey}>{visibleLine(run.idempotencyKey)}</Fact>}
    </dl>
  );
}

function ForkOrigin({ runId, entry }: NonNullable<RunSummary["forkedFrom"]>): ReactNode {
  const t = useMessages().branches;
  const format = useFormat();
  return (
    <Fact name={t.forkedFrom}>
      <RunLink id={runId} {...(entry === 0 ? {} : { entry })} /> {t.atEntry(format.number(entry))}
    </Fact>
  );
}

/** Summed over the journal; nothing where no model was called. */
function Usage({ run, entries }: { readonly run: RunSummary; readonly entries: readonly EntryView[] }): ReactNode {
  const t = useMessages().run.facts;
  const format = useFormat();
  const told = useMemo(() => sumUsage(entries), [entries]);
  const hidden = useMemo(() => entries.filter(mayHideUsage).slice(0, READ_MAX), [entries]);
  const api = useApi();
  const read = useQueries({ queries: hidden.map((entry) => wholeEntry(api, run, entry, MODEL_ANSWER_BYTES_MAX)) });
  const found = sumUsage(read.flatMap(({ data }) => data ?? []));
  const sum = { calls: told.calls + found.calls, tokens: told.tokens + found.tokens, usd: told.usd + found.usd };
  if (sum.calls === 0) return null;
  return (
    <>
      <Fact name={t.tokens}>
        <span title={format.number(sum.tokens)}>{format.compact(sum.tokens)}</span>{" "}
        <span className="dim">{t.modelCalls(sum.calls)}</span>
      </Fact>
      {sum.usd === 0 ? null : <Fact name={t.money}>{format.usd(sum.usd)}</Fact>}
    </>
  );
}
