// Approvals: what waits for a person, the longest wait first; how the others ended; who did what.

import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { CircleCheck, SearchX } from "lucide-react";
import { useEffect, useRef, useState, type ReactNode } from "react";
import type { ApprovalAnswerRequest, ApprovalSummary } from "@perdure/protocol";
import { AnswerDialog } from "../../approvals/answer-dialog.tsx";
import { useOpenApprovals } from "../../approvals/open-approvals.ts";
import { useMessages } from "../../i18n/use-messages.ts";
import { useHotkeys } from "../../keys/use-hotkeys.ts";
import { Button } from "../../ui/button.tsx";
import { CommandLine } from "../../ui/copy-button.tsx";
import { Segmented } from "../../ui/segmented.tsx";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { ApprovalDetail } from "./approval-detail.tsx";
import { ApprovalRow } from "./approval-row.tsx";
import { foundApprovals, type ApprovalsSearch } from "./approvals-search.ts";
import { AuditTail } from "./audit-tail.tsx";
import { useClosedApprovals } from "./use-approvals.ts";
import "../../approvals/approvals.css";
import "./approvals-view.css";

const route = getRouteApi("/approvals");

export function Approvals(): ReactNode {
  const search = route.useSearch();
  const navigate = useNavigate();
  const go = (next: ApprovalsSearch): void => void navigate({ to: "/approvals", search: next, replace: true });
  return (
    <div className="approvals-page">
      <Head search={search} onSearch={go} />
      {search.tab === "audit" ? <AuditTail /> : <Inbox search={search} onSearch={go} />}
    </div>
  );
}

interface PartProps {
  readonly search: ApprovalsSearch;
  readonly onSearch: (search: ApprovalsSearch) => void;
}

const TABS = [undefined, "closed", "audit"] as const;
const KINDS = ["any", "tool", "budget", "custom"] as const;

function Head({ search, onSearch }: PartProps): ReactNode {
  const t = useMessages();
  const says = t.approvals;
  const field = useRef<HTMLInputElement>(null);
  useHotkeys([{ keys: "/", label: t.common.keys.focusSearch, run: () => field.current?.focus() }]);
  const { kind: _, ...anyKind } = search;
  return (
    <div className="approvals-head">
      <div className="page-head">
        <h1>{says.title}</h1>
        {search.tab === "audit" ? null : (
          <input
            ref={field}
            className="input approvals-find"
            type="search"
            aria-label={says.findLabel}
            placeholder={says.findPlaceholder}
            value={search.find ?? ""}
            onChange={({ target: { value } }) => {
              const { find: __, ...rest } = search;
              onSearch(value === "" ? rest : { ...rest, find: value });
            }}
            onKeyDown={(event) => (event.key === "Escape" ? event.currentTarget.blur() : undefined)}
          />
        )}
      </div>
      <div className="approvals-bar">
        <nav className="tabs" aria-label={says.title}>
          {TABS.map((tab) => (
            <Link
              key={tab ?? "open"}
              to="/approvals"
              search={tab === undefined ? {} : { tab }}
              replace
              activeProps={{}}
              aria-current={search.tab === tab ? "true" : undefined}
              data-chosen={search.tab === tab || undefined}
            >
              {says.tabs[tab ?? "open"]}
            </Link>
          ))}
        </nav>
        {search.tab === "audit" ? null : (
          <Segmented
            label={says.findLabel}
            value={search.kind ?? "any"}
            options={KINDS.map((value) => ({ value, label: says.kinds[value] }))}
            onChange={(kind) => onSearch(kind === "any" ? anyKind : { ...search, kind })}
          />
        )}
      </div>
    </div>
  );
}

function Inbox({ search, onSearch }: PartProps): ReactNode {
  const t = useMessages().approvals;
  const isClosed = search.tab === "closed";
  const open = useOpenApprovals();
  const closed = useClosedApprovals(isClosed);
  const list = isClosed ? closed.approvals : (open.data ?? []);
  const error = isClosed ? closed.error : open.error;
  const isLoading = isClosed ? closed.isLoading : open.isPending;
  const found = foundApprovals(list, search);
  const [asked, setAsked] = useState<Asked | null>(null);
  const chosen = found.find(({ id }) => id === search.id) ?? null;
  const current = chosen ?? (search.id === undefined ? null : (list.find(({ id }) => id === search.id) ?? null));
  const choose = (id: string | undefined): void => {
    const { id: _, ...rest } = search;
    onSearch(id === undefined ? rest : { ...rest, id });
  };
  useInboxKeys(found, search.id ?? null, choose, (decision) =>
    current === null ? undefined : setAsked({ approval: current, decision }),
  );
  if (error !== null && list.length === 0)
    return <Failed error={error} onRetry={() => (isClosed ? closed.retry() : void open.refetch())} />;
  if (isLoading) return <Loading rows={6} />;
  if (found.length === 0 && current === null) return <Nothing search={search} isAny={list.length > 0} />;
  return (
    <div className="inbox" data-chosen={current !== null || undefined}>
      <ul className="inbox-list" aria-label={t.title}>
        {found.map((approval) => (
          <ApprovalRow
            key={approval.id}
            approval={approval}
            isChosen={approval.id === search.id}
            onChoose={() => choose(approval.id)}
          />
        ))}
        {isClosed && closed.hasMore ? (
          <li className="inbox-more">
            <Button size="s" onClick={closed.loadMore}>
              {t.more}
            </Button>
          </li>
        ) : null}
      </ul>
      {current === null ? null : (
        <ApprovalDetail
          key={current.id}
          approval={current}
          onAnswer={(decision) => setAsked({ approval: current, decision })}
          onClose={() => choose(undefined)}
        />
      )}
      {asked === null ? null : <AnswerDialog {...asked} onClose={() => setAsked(null)} />}
    </div>
  );
}

interface Asked {
  readonly approval: ApprovalSummary;
  readonly decision: ApprovalAnswerRequest["decision"];
}

/** `j` and `k` walk, `a` and `d` ask whether to say yes or no. What was answered leaves the list: the next one is chosen. */
function useInboxKeys(
  found: readonly ApprovalSummary[],
  id: string | null,
  choose: (id: string) => void,
  ask: (decision: ApprovalAnswerRequest["decision"]) => void,
): void {
  const t = useMessages();
  const at = found.findIndex((approval) => approval.id === id);
  const last = useRef(0);
  useEffect(() => {
    if (at >= 0) last.current = at;
  }, [at]);
  const go = (to: number): void => {
    const next = found[Math.min(found.length - 1, Math.max(0, to))];
    if (next !== undefined) choose(next.id);
  };
  const isOpen = at >= 0 && found[at]?.state === "open";
  useHotkeys([
    { keys: "j", label: t.approvals.next, run: () => go(at < 0 ? last.current : at + 1) },
    { keys: "k", label: t.approvals.previous, run: () => go(at < 0 ? last.current : at - 1) },
    { keys: "a", label: t.approvals.approve, run: () => (isOpen ? ask("approved") : undefined) },
    { keys: "d", label: t.approvals.deny, run: () => (isOpen ? ask("rejected") : undefined) },
  ]);
}

function Nothing({ search, isAny }: { readonly search: ApprovalsSearch; readonly isAny: boolean }): ReactNode {
  const t = useMessages().approvals;
  if (isAny) return <Empty icon={<SearchX aria-hidden />} title={t.nothingFound} />;
  if (search.tab === "closed") return <Empty icon={<CircleCheck aria-hidden />} title={t.nothingClosed} />;
  return (
    <Empty icon={<CircleCheck aria-hidden />} title={t.nothing}>
      <p>{t.nothingHelp}</p>
      <CommandLine command="npx perdure approvals" />
    </Empty>
  );
}
