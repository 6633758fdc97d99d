// Beside the conversation: what the session has used, its budget, the switch for writes, its sub-agents.

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { AgentSessionView } from "@perdure/protocol";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import { Panel } from "../../ui/panel.tsx";
import { Badge, StatusBadge } from "../../ui/status-badge.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import { BudgetPanel } from "./budget-panel.tsx";
import { WritesPanel } from "./writes-panel.tsx";

export function SessionAside({ view }: { readonly view: AgentSessionView }): ReactNode {
  const { agent, session, budget } = view;
  return (
    <div className="session-aside">
      <BudgetPanel budget={budget} />
      <UsagePanel view={view} />
      <WritesPanel agent={agent} session={session} />
      <ChildrenPanel view={view} />
    </div>
  );
}

function UsagePanel({ view: { usage, items } }: { readonly view: AgentSessionView }): ReactNode {
  const t = useMessages();
  const says = t.session.aside;
  const format = useFormat();
  const { inputTokens, outputTokens, calls, usd, unpriced } = usage;
  return (
    <Panel title={says.usage}>
      <dl className="body usage">
        <dt>{says.tokens}</dt>
        <dd title={`${says.input(format.number(inputTokens))}, ${says.output(format.number(outputTokens))}`}>
          {format.compact(inputTokens + outputTokens)}
          <span className="dim">
            {says.input(format.compact(inputTokens))} · {says.output(format.compact(outputTokens))}
          </span>
        </dd>
        {usd === 0 ? null : (
          <>
            <dt>{says.money}</dt>
            <dd>
              {format.usd(usd)}
              {unpriced === 0 ? null : <span className="dim">{t.agents.unpriced(unpriced)}</span>}
            </dd>
          </>
        )}
        <dt>{says.modelCalls}</dt>
        <dd>{format.number(calls)}</dd>
        <dt>{says.items}</dt>
        <dd>{format.number(items)}</dd>
      </dl>
    </Panel>
  );
}

function ChildrenPanel({ view: { children } }: { readonly view: AgentSessionView }): ReactNode {
  const t = useMessages().session.aside;
  return (
    <Panel title={t.children}>
      {children.length === 0 ? (
        <p className="body dim">{t.noChildren}</p>
      ) : (
        <ul className="children-list">
          {children.toReversed().map(({ name, agent, session, runId, background, status }) => (
            <li key={runId}>
              <Link className="cut" to="/agents/$agent/$session" params={{ agent, session }}>
                {visibleLine(name)}
              </Link>
              {background ? <span className="dim">{t.background}</span> : null}
              {status === null ? <Badge tone="grey">{t.gone}</Badge> : <StatusBadge status={status} />}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
