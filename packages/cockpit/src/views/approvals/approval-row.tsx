import { Banknote, CircleHelp, Wrench } from "lucide-react";
import { memo, useEffect, useRef, type ReactNode } from "react";
import type { ApprovalSummary } from "@perdure/protocol";
import { ApprovalTitle, Deadline, sessionOf } from "../../approvals/approval-text.tsx";
import { useMessages } from "../../i18n/use-messages.ts";
import { Badge, type Tone } from "../../ui/status-badge.tsx";
import { Ago } from "../../ui/time.tsx";
import { visibleLine } from "../../ui/visible-text.ts";

export const STATE_TONES: Readonly<Record<ApprovalSummary["state"], Tone>> = {
  open: "orange",
  approved: "green",
  rejected: "red",
  expired: "grey",
  withdrawn: "grey",
};

const ICONS: Readonly<Record<ApprovalSummary["kind"], ReactNode>> = {
  tool: <Wrench aria-hidden />,
  budget: <Banknote aria-hidden />,
  custom: <CircleHelp aria-hidden />,
};

export interface ApprovalRowProps {
  readonly approval: ApprovalSummary;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}

export const ApprovalRow = memo(
  function ApprovalRow({ approval, isChosen, onChoose }: ApprovalRowProps): ReactNode {
    const t = useMessages().approvals;
    const row = useRef<HTMLLIElement>(null);
    useEffect(() => {
      if (isChosen) row.current?.scrollIntoView({ block: "nearest" });
    }, [isChosen]);
    const where = sessionOf(approval);
    const { state, decision } = approval;
    return (
      <li ref={row}>
        <button type="button" className="inbox-row" aria-current={isChosen ? "true" : undefined} onClick={onChoose}>
          <span className="inbox-icon" data-tone={STATE_TONES[state]} title={t.kind[approval.kind]}>
            {ICONS[approval.kind]}
          </span>
          <span className="inbox-text">
            <span className="inbox-title">
              <ApprovalTitle of={approval} />
            </span>
            <span className="dim cut">
              {where === null ? t.kind[approval.kind] : visibleLine(`${where.agent}/${where.session}`)}
            </span>
          </span>
          <span className="inbox-when">
            {state === "open" ? null : <Badge tone={STATE_TONES[state]}>{t.state[state]}</Badge>}
            <span className="dim">
              <Ago at={decision?.at ?? approval.askedAt} />
            </span>
            {state === "open" && approval.expiresAt !== null ? (
              <span className="dim">
                <Deadline at={approval.expiresAt} />
              </span>
            ) : null}
            {decision?.by === undefined ? null : <span className="dim">{t.answeredBy(visibleLine(decision.by))}</span>}
          </span>
        </button>
      </li>
    );
  },
  (a, b) => a.approval === b.approval && a.isChosen === b.isChosen,
);
