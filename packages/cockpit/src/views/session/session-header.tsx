// Which session it is, what it does now, and what can be done with all of it.

import { Link, useNavigate } from "@tanstack/react-router";
import { ArrowLeft, Ban, CircleStop, Ellipsis, GitFork, Hash } from "lucide-react";
import { useState, type ReactNode } from "react";
import type { AgentSessionView } from "@perdure/protocol";
import { DoingText, doingOf, stateText, toneOfDoing } from "../../agents/doing.tsx";
import { path } from "../../api/client.ts";
import { useApi } from "../../app/app-context.ts";
import { useMessages } from "../../i18n/use-messages.ts";
import { useHotkeys } from "../../keys/use-hotkeys.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmForm } from "../../ui/confirm-form.tsx";
import { CommandLine } from "../../ui/copy-button.tsx";
import { Menu, type MenuItem } from "../../ui/menu.tsx";
import { shellWord } from "../../ui/shell-word.ts";
import { Badge } from "../../ui/status-badge.tsx";
import { say } from "../../ui/toasts.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import { ActionDialog } from "../run/run-actions.tsx";

export interface SessionHeaderProps {
  readonly view: AgentSessionView;
  readonly onFork: () => void;
}

export function SessionHeader({ view, onFork }: SessionHeaderProps): ReactNode {
  const t = useMessages();
  const { agent, session, turn } = view;
  const doing = doingOf(view);
  const [asked, setAsked] = useState<"stop" | "cancel" | null>(null);
  useHotkeys([{ keys: "s", label: t.session.actions.stop, run: () => setAsked(turn === null ? null : "stop") }]);
  return (
    <header className="session-head">
      <div className="page-head">
        <Link
          className="button"
          data-look="ghost"
          data-icon
          to="/agents"
          search={{}}
          aria-label={t.session.back}
          title={t.session.back}
        >
          <ArrowLeft aria-hidden />
        </Link>
        <h1 className="cut" title={visibleLine(`${agent}/${session}`)}>
          {visibleLine(agent)}
          <span className="dim">/{visibleLine(session)}</span>
        </h1>
        <span className="session-state">
          <Badge tone={toneOfDoing(doing)}>{stateText(view, t)}</Badge>
          <span className="session-now dim cut">
            <DoingText doing={doing} />
          </span>
        </span>
        <CommandLine command={`npx perdure chat ${shellWord(agent)} -s ${shellWord(session)}`} />
        {turn === null ? null : (
          <Button onClick={() => setAsked("stop")}>
            <CircleStop aria-hidden />
            {t.session.actions.stop}
          </Button>
        )}
        <MoreMenu view={view} onFork={onFork} onCancel={() => setAsked("cancel")} />
      </div>
      {asked === "stop" ? <StopDialog view={view} onClose={() => setAsked(null)} /> : null}
      {asked === "cancel" && turn !== null ? (
        <ActionDialog run={{ id: turn, status: "running" }} action="cancel" onClose={() => setAsked(null)} />
      ) : null}
    </header>
  );
}

interface MoreMenuProps extends SessionHeaderProps {
  readonly onCancel: () => void;
}

function MoreMenu({ view: { turn, items }, onFork, onCancel }: MoreMenuProps): ReactNode {
  const t = useMessages().session.actions;
  const navigate = useNavigate();
  const forTurn: readonly MenuItem[] =
    turn === null
      ? []
      : [
          {
            label: t.openRun,
            icon: <Hash aria-hidden />,
            onSelect: () => void navigate({ to: "/runs/$run", params: { run: turn } }),
          },
          { label: t.cancel, icon: <Ban aria-hidden />, isDanger: true, onSelect: onCancel },
        ];
  const fork: MenuItem = { label: t.fork, icon: <GitFork aria-hidden />, isDisabled: items === 0, onSelect: onFork };
  return (
    <Menu
      trigger={
        <Button icon aria-label={t.more} title={t.more}>
          <Ellipsis aria-hidden />
        </Button>
      }
      groups={[{ items: [fork, ...forTurn] }]}
    />
  );
}

function StopDialog({ view, onClose }: { readonly view: AgentSessionView; readonly onClose: () => void }): ReactNode {
  const t = useMessages().session.actions;
  const api = useApi();
  const { agent, session } = view;
  const stop = async (): Promise<void> => {
    const { stopped } = await api.post<{ readonly stopped: boolean }>(path`/agents/${agent}/${session}/stop`);
    say(stopped ? t.stopped : t.nothingToStop);
  };
  return (
    <ConfirmForm
      title={t.stopTitle}
      label={t.stop}
      icon={<CircleStop aria-hidden />}
      command={`npx perdure call ${shellWord(`${agent}/${session}/stop`)}`}
      onConfirm={stop}
      onClose={onClose}
    >
      <p>{t.stopHelp}</p>
    </ConfirmForm>
  );
}
