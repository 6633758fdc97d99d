// The sessions: each with what it does now, what it has used, and when something was said or done last.

import { Link, useNavigate } from "@tanstack/react-router";
import { CornerDownRight } from "lucide-react";
import { memo, useEffect, useRef, useState, type ReactNode } from "react";
import type { AgentSessionSummary } from "@perdure/protocol";
import { DoingText, doingOf, stateText, toneOfDoing } from "../../agents/doing.tsx";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import { useHotkeys } from "../../keys/use-hotkeys.ts";
import { Button } from "../../ui/button.tsx";
import { Badge } from "../../ui/status-badge.tsx";
import { Ago } from "../../ui/time.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import type { FoundSessions } from "./use-sessions.ts";

const nameOf = ({ agent, session }: AgentSessionSummary): string => `${agent}/${session}`;

export function SessionsTable({ found }: { readonly found: FoundSessions }): ReactNode {
  const t = useMessages().agents;
  const { sessions } = found;
  const current = useCursor(sessions);
  return (
    <div className="sessions-scroll">
      <div role="table" className="sessions">
        <div role="rowgroup">
          <div role="row" className="session-row session-columns">
            <span role="columnheader">{t.columns.state}</span>
            <span role="columnheader">{t.columns.session}</span>
            <span role="columnheader" className="wide">
              {t.columns.doing}
            </span>
            <span role="columnheader" className="numeric wide">
              {t.columns.tokens}
            </span>
            <span role="columnheader" className="numeric wide">
              {t.columns.money}
            </span>
            <span role="columnheader" className="numeric">
              {t.columns.active}
            </span>
          </div>
        </div>
        <div role="rowgroup">
          {sessions.map((session) => (
            <Row key={nameOf(session)} session={session} isCurrent={nameOf(session) === current} />
          ))}
        </div>
      </div>
      {found.hasMore ? (
        <p className="sessions-foot">
          <Button size="s" onClick={found.loadMore}>
            {t.more}
          </Button>
        </p>
      ) : null}
    </div>
  );
}

/** The row that the keyboard is at; none until a key is pressed. */
function useCursor(sessions: readonly AgentSessionSummary[]): string | null {
  const t = useMessages().common.keys;
  const navigate = useNavigate();
  const [name, setName] = useState<string | null>(null);
  const at = sessions.findIndex((session) => nameOf(session) === name);
  const move = (by: number): void => {
    const next = sessions[Math.min(sessions.length - 1, Math.max(0, at < 0 ? 0 : at + by))];
    if (next !== undefined) setName(nameOf(next));
  };
  const open = (): void => {
    const found = sessions[at];
    if (found === undefined) return;
    const { agent, session } = found;
    void navigate({ to: "/agents/$agent/$session", params: { agent, session } });
  };
  useHotkeys([
    { keys: "j", label: t.next, run: () => move(1) },
    { keys: "k", label: t.previous, run: () => move(-1) },
    { keys: "Enter", label: t.open, run: open },
  ]);
  return at < 0 ? null : name;
}

interface RowProps {
  readonly session: AgentSessionSummary;
  readonly isCurrent: boolean;
}

const Row = memo(function Row({ session: told, isCurrent }: RowProps): ReactNode {
  const t = useMessages();
  const format = useFormat();
  const row = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isCurrent) row.current?.scrollIntoView({ block: "nearest" });
  }, [isCurrent]);
  const { agent, session, usage, activeAt } = told;
  const doing = doingOf(told);
  const tokens = usage.inputTokens + usage.outputTokens;
  return (
    <div ref={row} role="row" className="session-row" data-current={isCurrent || undefined}>
      <span role="cell">
        <Badge tone={toneOfDoing(doing)}>{stateText(told, t)}</Badge>
      </span>
      <span role="cell" className="session-name">
        {session.includes("/") ? <CornerDownRight aria-hidden /> : null}
        <Link className="cut" to="/agents/$agent/$session" params={{ agent, session }}>
          <b>{visibleLine(agent)}</b>
          <span>/{visibleLine(session)}</span>
        </Link>
      </span>
      <span role="cell" className="session-doing cut dim">
        <DoingText doing={doing} />
      </span>
      <span role="cell" className="numeric wide" title={format.number(tokens)}>
        {tokens === 0 ? <span className="dim">–</span> : format.compact(tokens)}
      </span>
      <span
        role="cell"
        className="numeric wide"
        title={usage.unpriced === 0 ? undefined : t.agents.unpriced(usage.unpriced)}
      >
        {usage.usd === 0 ? <span className="dim">–</span> : format.usd(usage.usd)}
      </span>
      <span role="cell" className="numeric dim">
        {activeAt === null ? "–" : <Ago at={activeAt} />}
      </span>
    </div>
  );
});
