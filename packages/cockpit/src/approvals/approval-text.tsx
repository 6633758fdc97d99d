// A question in words: what it is, who asks, who may answer and until when.

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { ApprovalSummary } from "@perdure/protocol";
import { useFormat, useMessages } from "../i18n/use-messages.ts";
import { useNow } from "../live/clock.ts";
import { visibleLine } from "../ui/visible-text.ts";
import { budgetOf } from "./open-approvals.ts";

/** Without the input, where that is shown beside it: a tool's question repeats the beginning of it. */
export function ApprovalTitle({ of: { agent, tool, title } }: { readonly of: ApprovalSummary }): ReactNode {
  const beginning = agent === null || tool === null ? null : `${agent} wants to use ${tool}`;
  if (beginning === null || !title.startsWith(beginning)) return visibleLine(title);
  return (
    <>
      <b>{visibleLine(agent ?? "")}</b> → <b>{visibleLine(tool ?? "")}</b>
    </>
  );
}

/** The session that it stands in, or the budget's. */
export function AskerLink({ of: approval }: { readonly of: ApprovalSummary }): ReactNode {
  const whole = sessionOf(approval);
  if (whole === null) return approval.agent === null ? null : visibleLine(approval.agent);
  const { agent, session } = whole;
  return (
    <Link className="run-link" to="/agents/$agent/$session" params={{ agent, session }}>
      {visibleLine(`${agent}/${session}`)}
    </Link>
  );
}

export function sessionOf(approval: ApprovalSummary): { readonly agent: string; readonly session: string } | null {
  const { agent, session } = approval;
  if (agent !== null && session !== null) return { agent, session };
  const budget = budgetOf(approval);
  const slash = budget?.indexOf("/") ?? -1;
  if (budget === null || slash <= 0) return null;
  return { agent: budget.slice(0, slash), session: budget.slice(slash + 1) };
}

export function MayAnswer({ names }: { readonly names: readonly string[] | null }): ReactNode {
  const t = useMessages().approvals;
  if (names === null) return t.anyone;
  return names.length === 0 ? t.nobody : names.map(visibleLine).join(", ");
}

export function Deadline({ at }: { readonly at: string | null }): ReactNode {
  const t = useMessages().approvals;
  const format = useFormat();
  const now = useNow();
  if (at === null) return <span className="dim">{t.noDeadline}</span>;
  const instant = Date.parse(at);
  const isSoon = instant - now < SOON_MS;
  return (
    <time dateTime={at} title={format.dateTime(instant)} className={isSoon ? "soon" : undefined}>
      {t.expires(format.relative(instant, now))}
    </time>
  );
}

const SOON_MS = 3_600_000;
