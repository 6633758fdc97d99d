// One session of an agent: the conversation as it happens, what waits for a person, and what a person does about it.

import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useMemo, useState, type ReactNode } from "react";
import type { AgentSessionView, PendingMessage, RunId, RunStatus } from "@perdure/protocol";
import { concernsSession, useOpenApprovals } from "../../approvals/open-approvals.ts";
import { useMessages } from "../../i18n/use-messages.ts";
import { useHotkeys } from "../../keys/use-hotkeys.ts";
import { Failed, Loading } from "../../ui/states.tsx";
import { say } from "../../ui/toasts.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import { ActionDialog } from "../run/run-actions.tsx";
import type { BlockAction } from "./block-menu.tsx";
import { ForkDialog, RewindDialog } from "./branch-dialogs.tsx";
import { Composer } from "./composer.tsx";
import { conversationOf, type Block } from "./conversation.ts";
import { ConversationView } from "./conversation-view.tsx";
import { OpenQuestions } from "./open-questions.tsx";
import { useOutbox, type Outbox } from "./outbox.ts";
import { SessionAside } from "./session-aside.tsx";
import { SessionHeader } from "./session-header.tsx";
import type { SessionTab } from "./session-search.ts";
import { ChildStatusContext } from "./tool-call.tsx";
import { TranscriptTab } from "./transcript-tab.tsx";
import {
  useMessageRuns,
  useSessionStore,
  useSessionView,
  type FollowedSession,
  type SessionName,
} from "./use-session.ts";
import "./session.css";
import "./conversation.css";

const route = getRouteApi("/agents/$agent/$session");

export function SessionPage(): ReactNode {
  const { agent, session } = route.useParams();
  return <KnownSession key={`${agent}/${session}`} agent={agent} session={session} />;
}

function KnownSession(name: SessionName): ReactNode {
  const view = useSessionView(name);
  const { at } = route.useSearch();
  const followed = useSessionStore(name, at);
  const error = view.data === undefined ? view.error : followed.snapshot.error;
  if (error !== null)
    return (
      <div className="page">
        <Failed
          error={error}
          onRetry={() => {
            void view.refetch();
            followed.retry();
          }}
        />
      </div>
    );
  if (view.data === undefined || followed.snapshot.isLoading)
    return (
      <div className="page">
        <Loading rows={10} />
      </div>
    );
  return <Session view={view.data} followed={followed} />;
}

interface SessionProps {
  readonly view: AgentSessionView;
  readonly followed: FollowedSession;
}

type Asked =
  | { readonly kind: "rewind" | "fork"; readonly offset: number }
  | { readonly kind: "withdraw"; readonly run: RunId };

function Session({ view, followed }: SessionProps): ReactNode {
  const t = useMessages();
  const { tab } = route.useSearch();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const outbox = useOutbox(view);
  const [asked, setAsked] = useState<Asked | null>(null);
  const { snapshot, loadEarlier } = followed;
  useHotkeys([{ keys: "u", label: t.common.keys.back, run: () => void navigate({ to: "/agents", search: {} }) }]);
  const act = (action: BlockAction): void => {
    switch (action.kind) {
      case "run":
        return void navigate({ to: "/runs/$run", params: { run: action.run } });
      case "link":
        return void copyLink(action.offset).then(() => say(t.common.copied));
      case "rewind":
      case "fork":
        return setAsked({ kind: action.kind, offset: action.offset });
      case "withdraw":
        return setAsked({ kind: "withdraw", run: action.run });
    }
  };
  return (
    <div className="session-page" data-tab={tab ?? "conversation"}>
      <SessionHeader view={view} onFork={() => setAsked({ kind: "fork", offset: view.items })} />
      <Tabs name={view} tab={tab ?? null} />
      {tab === "transcript" ? (
        <TranscriptTab items={snapshot.items} hasEarlier={snapshot.hasEarlier} onEarlier={loadEarlier} />
      ) : null}
      {tab === undefined ? <Talk view={view} followed={followed} outbox={outbox} onAct={act} /> : null}
      {tab === "transcript" ? null : <SessionAside view={view} />}
      {asked === null ? null : (
        <AskedDialog
          asked={asked}
          view={view}
          onClose={() => {
            setAsked(null);
            void queries.invalidateQueries({ queryKey: ["session"] });
          }}
        />
      )}
    </div>
  );
}

function copyLink(offset: number): Promise<void> {
  const url = new URL(location.href);
  url.search = `?at=${offset}`;
  return navigator.clipboard.writeText(url.href);
}

interface AskedDialogProps {
  readonly asked: Asked;
  readonly view: AgentSessionView;
  readonly onClose: () => void;
}

function AskedDialog({ asked, view, onClose }: AskedDialogProps): ReactNode {
  switch (asked.kind) {
    case "rewind":
      return <RewindDialog view={view} offset={asked.offset} onClose={onClose} />;
    case "fork":
      return <ForkDialog view={view} offset={asked.offset} onClose={onClose} />;
    case "withdraw":
      return <ActionDialog run={{ id: asked.run, status: "queued" }} action="cancel" onClose={onClose} />;
  }
}

interface TalkProps extends SessionProps {
  readonly outbox: Outbox;
  readonly onAct: (action: BlockAction) => void;
}

function Talk({ view, followed: { snapshot, loadEarlier }, outbox, onAct }: TalkProps): ReactNode {
  const { at } = route.useSearch();
  const { agent, session } = view;
  const runs = useMessageRuns(view);
  const open = useOpenApprovals().data;
  const isAtWork = view.turn !== null || snapshot.activity.turn !== null;
  const pending = useMemo(() => pendingOf(view.pending, outbox), [view.pending, outbox]);
  const { items, activity } = snapshot;
  const blocks = useMemo(
    () => conversationOf({ items, activity, pending, isAtWork }),
    [items, activity, pending, isAtWork],
  );
  const approvals = useMemo(() => new Map((open ?? []).map((approval) => [approval.id, approval] as const)), [open]);
  const mine = useMemo(
    () => (open ?? []).filter((approval) => concernsSession(approval, agent, session)).toReversed(),
    [open, agent, session],
  );
  const placed = useMemo(() => placedIn(blocks), [blocks]);
  const childStatus = useMemo(() => statusesOf(view.children), [view.children]);
  return (
    <div className="talk">
      <ChildStatusContext value={childStatus}>
        <ConversationView
          blocks={blocks}
          runs={runs}
          approvals={approvals}
          hasEarlier={snapshot.hasEarlier}
          onEarlier={loadEarlier}
          at={at}
          onAct={onAct}
        />
      </ChildStatusContext>
      <OpenQuestions approvals={mine} placed={placed} />
      <Composer outbox={outbox} isAtWork={isAtWork} />
    </div>
  );
}

/** Approvals that stand with their tool calls. */
function placedIn(blocks: readonly Block[]): ReadonlySet<string> {
  const asking = blocks.flatMap((block) => (block.kind === "answer" ? block.parts : []));
  return new Set(
    asking.flatMap((part) => (part.kind === "tool" && part.state === "asks" ? [part.approval ?? ""] : [])),
  );
}

function statusesOf(children: AgentSessionView["children"]): ReadonlyMap<string, RunStatus> {
  return new Map(children.flatMap(({ runId, status }) => (status === null ? [] : [[runId, status] as const])));
}

/** What the server knows to be pending, and what it has just accepted from here and not told of yet. */
function pendingOf(told: readonly PendingMessage[], { messages }: Outbox): readonly PendingMessage[] {
  const known = new Set(told.map(({ runId }) => runId));
  const own = messages.flatMap(({ runId, text, policy, at }) =>
    runId === null || known.has(runId) ? [] : [{ runId, text, policy, from: null, at }],
  );
  return [...told, ...own];
}

const TABS: readonly (SessionTab | null)[] = [null, "transcript", "details"];

function Tabs({
  name: { agent, session },
  tab,
}: {
  readonly name: SessionName;
  readonly tab: SessionTab | null;
}): ReactNode {
  const t = useMessages().session.tabs;
  return (
    <nav className="tabs session-tabs" aria-label={visibleLine(session)}>
      {TABS.map((one) => (
        <Link
          key={one ?? "conversation"}
          to="/agents/$agent/$session"
          params={{ agent, session }}
          search={one === null ? {} : { tab: one }}
          replace
          activeProps={{}}
          aria-current={one === tab ? "true" : undefined}
          data-chosen={one === tab || undefined}
          data-tab={one ?? "conversation"}
        >
          {t[one ?? "conversation"]}
        </Link>
      ))}
    </nav>
  );
}
