// What a run is: whom it is of, its status, its times, its parent, what models cost it; and what can be done with it.

import { useQueries } from "@tanstack/react-query";
import { useMemo, type ReactNode } from "react";
import type { EntryView, RunDetail, RunSummary } from "@perdure/protocol";
import { useApi } from "../../app/app-context.ts";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import { mayHideUsage, sumUsage } from "../../live/model-usage.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { RunLink, TargetName } from "../../ui/run-link.tsx";
import { Badge, StatusBadge } from "../../ui/status-badge.tsx";
import { Ago, Took } from "../../ui/time.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import { RunActions } from "./run-actions.tsx";
import { wholeEntry } from "./whole-entry.ts";

/** Long answers are read one by one, and so many of them. */
const READ_MAX = 100;
const MODEL_ANSWER_BYTES_MAX = 1_048_576;

export interface RunHeaderProps {
  readonly run: RunSummary;
  readonly detail: RunDetail;
  readonly entries: readonly EntryView[];
}

export function RunHeader({ run, detail, entries }: RunHeaderProps): ReactNode {
  const t = useMessages().run;
  return (
    <header className="run-head">
      <div className="page-head">
        <StatusBadge status={run.status} />
        <h1>
          <TargetName of={run} />
        </h1>
        <RunActions run={run} />
      </div>
      <div className="run-id">
        <code className="cut">{run.id}</code>
        <CopyButton text={run.id} />
        {detail.live && run.status !== "running" ? <Badge tone="grey">{t.facts.live}</Badge> : null}
      </div>
      <Facts run={run} entries={entries} count={Math.max(detail.entries, entries.length)} />
    </header>
  );
}

interface FactsProps {
  readonly run: RunSummary;
  readonly entries: readonly EntryView[];
  readonly count: number;
}

function Facts({ run, entries, count }: FactsProps): ReactNode {
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
      {run.deployment === null ? null : <Fact name={facts.deployment}>{visibleLine(run.deployment)}</Fact>}
      {run.idempotencyKey === null ? null : <Fact name={facts.idempotencyKey}>{visibleLine(run.idempotencyKey)}</Fact>}
    </dl>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
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
