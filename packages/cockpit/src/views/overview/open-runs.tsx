// What is at work, and what waits for what.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { MoonStar } from "lucide-react";
import type { ReactNode } from "react";
import type { RunDetail, RunSummary } from "@perdure/protocol";
import { path } from "../../api/client.ts";
import { useApi } from "../../app/app-context.ts";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import { useNow } from "../../live/clock.ts";
import { isOwn } from "../../live/own-services.ts";
import { useLiveRun } from "../../live/use-live.ts";
import { Panel } from "../../ui/panel.tsx";
import { reasonOf } from "../../ui/reason.ts";
import { RunLink, TargetName } from "../../ui/run-link.tsx";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { Took } from "../../ui/time.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import { WaitText } from "../run/waits.tsx";
import { useRuns } from "../runs/use-runs.ts";

const SEARCH = { status: "scheduled,queued,running,suspended,retrying" } as const;
const SHOWN_MAX = 14;

export function OpenRuns(): ReactNode {
  const t = useMessages().overview.open;
  return (
    <Panel
      title={t.title}
      tools={
        <Link className="button" data-look="ghost" data-size="s" to="/runs" search={SEARCH}>
          {t.all}
        </Link>
      }
    >
      <Content />
    </Panel>
  );
}

function Content(): ReactNode {
  const t = useMessages().overview.open;
  const { rows, isLoading, error, retry } = useRuns(SEARCH, null);
  if (error !== null) return <Failed error={error} onRetry={retry} />;
  if (isLoading) return <Loading rows={4} />;
  const shown = rows.filter((run) => !isOwn(run)).slice(0, SHOWN_MAX);
  if (shown.length === 0) return <Empty icon={<MoonStar aria-hidden />} title={t.nothing} />;
  return (
    <ul className="lines">
      {shown.map((run) => (
        <OpenRun key={run.id} run={run} />
      ))}
    </ul>
  );
}

function OpenRun({ run: read }: { readonly run: RunSummary }): ReactNode {
  const t = useMessages();
  const run = useLiveRun(read);
  const reason = visibleLine(reasonOf(run, useNow(), t, useFormat()));
  return (
    <li className="line">
      <StatusBadge status={run.status} />
      <div>
        <RunLink id={run.id}>
          <TargetName of={run} />
        </RunLink>
        <p className="dim cut">{run.status === "suspended" ? <Awaited run={run} otherwise={reason} /> : reason}</p>
      </div>
      <span className="dim numeric">
        <Took from={run.createdAt} to={run.finishedAt} />
      </span>
    </li>
  );
}

/** The summary knows that it waits for a command; the server knows for which. */
function Awaited({ run, otherwise }: { readonly run: RunSummary; readonly otherwise: string }): ReactNode {
  const says = useMessages().overview.open;
  const api = useApi();
  const { data } = useQuery({
    queryKey: ["run", run.id, "waits", run.changedAt],
    queryFn: ({ signal }) =>
      api.get<RunDetail>(path`/runs/${run.id}`, { query: { journalLimit: 1, maxPayload: 0 }, signal }),
    staleTime: 60_000,
  });
  const waits = data?.waits ?? [];
  const first = waits.find(({ kind }) => kind !== "signal") ?? waits[0];
  if (first === undefined) return otherwise;
  return (
    <>
      {says.waitsFor} <WaitText wait={first} status={run.status} />
    </>
  );
}
