// The call tree below a run: its sub-runs, theirs, and so on, as far as one opens it; live.

import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { ChevronDown, ChevronRight } from "lucide-react";
import { useState, type ReactNode } from "react";
import type { RunId, RunPage, RunSummary } from "@perdure/protocol";
import { useApi } from "../../app/app-context.ts";
import { useMessages } from "../../i18n/use-messages.ts";
import { useLiveEvents, useLiveRun } from "../../live/use-live.ts";
import { Button } from "../../ui/button.tsx";
import { RunLink, TargetName } from "../../ui/run-link.tsx";
import { Failed, Loading } from "../../ui/states.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { Took } from "../../ui/time.tsx";

const PAGE = 100;

export function Children({ of: parent }: { readonly of: RunId }): ReactNode {
  return (
    <section className="panel tree">
      <Branch of={parent} depth={0} />
    </section>
  );
}

function Branch({ of: parent, depth }: { readonly of: RunId; readonly depth: number }): ReactNode {
  const t = useMessages().run.children;
  const api = useApi();
  const queries = useQueryClient();
  const queryKey = ["children", parent];
  const { data, error, isPending, hasNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey,
    initialPageParam: null as number | null,
    queryFn: ({ pageParam, signal }) => {
      const cursor = pageParam === null ? {} : { cursor: pageParam };
      return api.get<RunPage>("/runs", { query: { parent, order: "oldest", limit: PAGE, ...cursor }, signal });
    },
    getNextPageParam: (page) => page.nextCursor,
  });
  useLiveEvents((events) => {
    if (events.some((event) => event.type === "run" && event.created && event.run.parent?.runId === parent))
      void queries.invalidateQueries({ queryKey });
  });
  if (error !== null) return <Failed error={error} />;
  if (isPending) return <Loading rows={2} />;
  const runs = data.pages.flatMap((page) => page.runs);
  if (runs.length === 0) return depth === 0 ? <p className="tree-empty dim">{t.empty}</p> : null;
  return (
    <ul>
      {runs.map((run) => (
        <Child key={run.id} run={run} depth={depth} />
      ))}
      {hasNextPage ? (
        <li>
          <Button look="ghost" size="s" onClick={() => void fetchNextPage()}>
            {t.more}
          </Button>
        </li>
      ) : null}
    </ul>
  );
}

/** Deeper branches are opened by hand: each is a question to the server. */
const OPEN_DEPTH = 1;

function Child({ run: read, depth }: { readonly run: RunSummary; readonly depth: number }): ReactNode {
  const t = useMessages();
  const run = useLiveRun(read);
  const [isOpen, setOpen] = useState(depth < OPEN_DEPTH);
  const label = isOpen ? t.common.less : t.common.more;
  return (
    <li>
      <div className="tree-row">
        <Button look="ghost" size="s" icon aria-label={label} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? <ChevronDown aria-hidden /> : <ChevronRight aria-hidden />}
        </Button>
        <StatusBadge status={run.status} />
        <RunLink id={run.id}>
          <TargetName of={run} />
        </RunLink>
        {run.parent?.awaited === false ? <span className="dim">{t.run.children.sent}</span> : null}
        <span className="dim numeric">
          <Took from={run.createdAt} to={run.finishedAt} />
        </span>
      </div>
      {isOpen ? <Branch of={run.id} depth={depth + 1} /> : null}
    </li>
  );
}
