// One run, as it happens: what it is and waits for, what it did when, what can be done.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, type ReactNode } from "react";
import { parseRunId, type ApiEvent, type RunDetail, type RunId } from "@perdure/protocol";
import { ApiFailure, path } from "../../api/client.ts";
import { useApi } from "../../app/app-context.ts";
import { NotFound } from "../../app/problem-pages.tsx";
import { useMessages } from "../../i18n/use-messages.ts";
import { useHotkeys } from "../../keys/use-hotkeys.ts";
import { useLiveEvents, useLiveRun } from "../../live/use-live.ts";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { Children } from "./children.tsx";
import { RunData } from "./run-data.tsx";
import { RunHeader } from "./run-header.tsx";
import { RunProblem } from "./run-problem.tsx";
import { RunBranch } from "./run-branch.tsx";
import type { BranchAct, RunSearch, RunTab } from "./run-search.ts";
import { KeyState } from "./key-state.tsx";
import { Streams } from "./streams.tsx";
import { TimelineView } from "./timeline-view.tsx";
import { useJournal } from "./use-journal.ts";
import { useMoments } from "./use-moments.ts";
import { Waits } from "./waits.tsx";
import "./run.css";
import "./branches.css";

const route = getRouteApi("/runs/$run");
/** What a run waits for is asked of the server, at most this often. */
const REFRESH_MS = 400;

export function RunPage(): ReactNode {
  const { run } = route.useParams();
  const id = parseRunId(run);
  return id === undefined ? <NotFound /> : <KnownRun key={id} id={id} />;
}

function KnownRun({ id }: { readonly id: RunId }): ReactNode {
  const t = useMessages();
  const detail = useRunDetail(id);
  if (detail.data !== undefined) return <Run detail={detail.data} />;
  if (detail.error instanceof ApiFailure && detail.error.status === 404)
    return (
      <div className="page">
        <Empty isPage title={t.run.gone}>
          <p className="mono">{id}</p>
        </Empty>
      </div>
    );
  return (
    <div className="page">
      {detail.error === null ? (
        <Loading rows={10} />
      ) : (
        <Failed error={detail.error} onRetry={() => void detail.refetch()} />
      )}
    </div>
  );
}

function useRunDetail(id: RunId): ReturnType<typeof useQuery<RunDetail>> {
  const api = useApi();
  const queries = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const detail = useQuery({
    queryKey: ["run", id],
    queryFn: ({ signal }) => api.get<RunDetail>(path`/runs/${id}`, { query: { journalLimit: 1 }, signal }),
  });
  useLiveEvents((events) => {
    if (!events.some((event) => concerns(event, id))) return;
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      void queries.invalidateQueries({ queryKey: ["run", id] });
    }, REFRESH_MS);
  });
  useEffect(() => () => clearTimeout(timer.current), []);
  return detail;
}

function concerns(event: ApiEvent, id: RunId): boolean {
  switch (event.type) {
    case "run":
      return event.run.id === id || event.run.parent?.runId === id;
    case "entry":
    case "promoted":
    case "deleted":
    case "truncated":
      return event.runId === id;
    case "moment":
    case "state":
    case "promise":
    case "reset":
    case "overflow":
      return false;
  }
}

function Run({ detail }: { readonly detail: RunDetail }): ReactNode {
  const t = useMessages();
  const run = useLiveRun(detail.run);
  const journal = useJournal(detail.run.id);
  const moments = useMoments(run);
  const search = route.useSearch();
  const navigate = useNavigate();
  const go = (next: RunSearch): void =>
    void navigate({ to: "/runs/$run", params: { run: run.id }, search: next, replace: true });
  const act = (name: BranchAct, at?: number): void => {
    const { at: _, ...rest } = search;
    go({ ...rest, act: name, ...(at === undefined ? {} : { at }) });
  };
  const known = { ...detail, run: { ...detail.run, ...run } };
  useHotkeys([{ keys: "u", label: t.common.keys.back, run: () => void navigate({ to: "/runs", search: {} }) }]);
  return (
    <div className="page run-page">
      <RunHeader run={run} detail={detail} entries={journal.entries} moments={moments} onAct={act} />
      <RunBranch run={known.run} journal={journal} moments={moments} search={search} onSearch={go} />
      <RunProblem run={run} entries={journal.entries} onAct={act} />
      <Waits run={run} waits={detail.waits} />
      <Tabs id={run.id} tab={search.tab ?? null} />
      <Tab search={search} go={go} onAct={act} detail={known} journal={journal} moments={moments} />
    </div>
  );
}

interface TabProps {
  readonly search: RunSearch;
  readonly go: (search: RunSearch) => void;
  readonly onAct: (act: BranchAct, at: number) => void;
  readonly detail: RunDetail;
  readonly moments: ReturnType<typeof useMoments>;
  readonly journal: ReturnType<typeof useJournal>;
}

function Tab({ search, go, onAct, detail, journal, moments }: TabProps): ReactNode {
  switch (search.tab) {
    case undefined:
      return (
        <TimelineView
          run={detail.run}
          journal={journal}
          moments={moments}
          search={search}
          onSearch={go}
          onAct={onAct}
        />
      );
    case "data":
      return <RunData run={detail.run} />;
    case "children":
      return <Children of={detail.run.id} />;
    case "state":
      return <KeyState run={detail.run} />;
    case "streams":
      return <Streams of={detail.run.id} search={search} onSearch={go} />;
  }
}

const TABS: readonly (RunTab | null)[] = [null, "data", "children", "state", "streams"];

function Tabs({ id, tab }: { readonly id: RunId; readonly tab: RunTab | null }): ReactNode {
  const t = useMessages().run.tabs;
  return (
    <nav className="tabs">
      {TABS.map((name) => (
        <Link
          key={name ?? "timeline"}
          to="/runs/$run"
          params={{ run: id }}
          search={name === null ? {} : { tab: name }}
          replace
          activeProps={{}}
          aria-current={name === tab ? "true" : undefined}
          data-chosen={name === tab || undefined}
        >
          {t[name ?? "timeline"]}
        </Link>
      ))}
    </nav>
  );
}
