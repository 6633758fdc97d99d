// What needs a person: the longest wait on a person first, failures last.

import type { UseQueryResult } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleCheck } from "lucide-react";
import type { ReactNode } from "react";
import type { ApprovalSummary, RunSummary } from "@perdure/protocol";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import { useNow } from "../../live/clock.ts";
import { Panel } from "../../ui/panel.tsx";
import { reasonOf } from "../../ui/reason.ts";
import { RunLink, TargetName } from "../../ui/run-link.tsx";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { Badge } from "../../ui/status-badge.tsx";
import { Ago } from "../../ui/time.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import type { Attention } from "./use-overview.ts";

const SHOWN_MAX = 12;

export function AttentionList({ attention }: { readonly attention: UseQueryResult<Attention> }): ReactNode {
  const t = useMessages().overview.attention;
  return (
    <Panel title={t.title}>
      <Content attention={attention} />
    </Panel>
  );
}

type Item =
  | { readonly kind: "approval"; readonly at: string; readonly approval: ApprovalSummary }
  | { readonly kind: "paused" | "failed"; readonly at: string; readonly run: RunSummary };

export function itemsOf({ paused, failed, approvals }: Attention): readonly Item[] {
  const oldestFirst = (a: Item, b: Item): number => (a.at < b.at ? -1 : 1);
  const waiting: Item[] = [
    ...approvals.map((approval) => ({ kind: "approval" as const, at: approval.askedAt, approval })),
    ...paused.map((run) => ({ kind: "paused" as const, at: run.changedAt, run })),
  ];
  const failures: Item[] = failed.map((run) => ({ kind: "failed", at: run.finishedAt ?? run.changedAt, run }));
  return [...waiting.toSorted(oldestFirst), ...failures.toSorted((a, b) => -oldestFirst(a, b))];
}

function Content({
  attention: { data, error, refetch },
}: {
  readonly attention: UseQueryResult<Attention>;
}): ReactNode {
  const t = useMessages().overview.attention;
  const format = useFormat();
  if (data === undefined)
    return error === null ? <Loading rows={4} /> : <Failed error={error} onRetry={() => void refetch()} />;
  const items = itemsOf(data);
  if (items.length === 0)
    return (
      <Empty icon={<CircleCheck aria-hidden />} title={t.nothing}>
        <p>{t.nothingHelp}</p>
      </Empty>
    );
  const rest = items.length - SHOWN_MAX;
  return (
    <>
      <ul className="lines">
        {items.slice(0, SHOWN_MAX).map((item) => (
          <li key={item.kind === "approval" ? item.approval.id : item.run.id} className="line">
            {item.kind === "approval" ? (
              <ApprovalLine approval={item.approval} />
            ) : (
              <RunLine kind={item.kind} run={item.run} />
            )}
          </li>
        ))}
      </ul>
      {rest > 0 ? (
        <p className="more">
          <Link to="/runs" search={{ status: "paused,failed" }}>
            {t.more(format.number(rest))}
          </Link>
        </p>
      ) : null}
    </>
  );
}

function ApprovalLine({ approval }: { readonly approval: ApprovalSummary }): ReactNode {
  const t = useMessages().overview.attention;
  const who = [approval.agent, approval.session].filter((part) => part !== null).join("/");
  return (
    <>
      <Badge tone="orange">{approval.kind === "budget" ? t.budget : t.approval}</Badge>
      <div>
        <Link className="title" to="/approvals" search={{ id: approval.id }}>
          {visibleLine(approval.title)}
        </Link>
        <p className="dim cut">{visibleLine(who)}</p>
      </div>
      <span className="dim numeric">
        <Ago at={approval.askedAt} />
      </span>
    </>
  );
}

function RunLine({ kind, run }: { readonly kind: "paused" | "failed"; readonly run: RunSummary }): ReactNode {
  const t = useMessages();
  const reason = visibleLine(reasonOf(run, useNow(), t, useFormat()));
  return (
    <>
      <Badge tone={kind === "paused" ? "orange" : "red"}>{t.overview.attention[kind]}</Badge>
      <div>
        <RunLink id={run.id}>
          <TargetName of={run} />
        </RunLink>
        <p className="dim cut" title={reason}>
          {reason}
        </p>
      </div>
      <span className="dim numeric">
        <Ago at={kind === "paused" ? run.changedAt : (run.finishedAt ?? run.changedAt)} />
      </span>
    </>
  );
}
