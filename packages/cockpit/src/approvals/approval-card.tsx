// A question where it came up: what it is about, who may answer until when, and the two answers.

import { Check, X } from "lucide-react";
import { useState, type ReactNode } from "react";
import { Link } from "@tanstack/react-router";
import type { ApprovalAnswerRequest, ApprovalSummary } from "@perdure/protocol";
import { useMessages } from "../i18n/use-messages.ts";
import { Button } from "../ui/button.tsx";
import { Ago } from "../ui/time.tsx";
import { visibleText } from "../ui/visible-text.ts";
import { AnswerDialog } from "./answer-dialog.tsx";
import { ApprovalTitle, AskerLink, Deadline, MayAnswer } from "./approval-text.tsx";
import { whyOf } from "./open-approvals.ts";
import "./approvals.css";

export interface ApprovalCardProps {
  readonly approval: ApprovalSummary;
  /** It stands with its tool call, which shows what it is about. */
  readonly isPlaced?: boolean;
}

export function ApprovalCard({ approval, isPlaced = false }: ApprovalCardProps): ReactNode {
  const t = useMessages().approvals;
  const [asked, ask] = useState<ApprovalAnswerRequest["decision"] | null>(null);
  const why = whyOf(approval);
  return (
    <div className="approval-card" data-tone="orange">
      <div className="approval-what">
        {isPlaced ? null : (
          <p className="approval-title">
            <Link to="/approvals" search={{ id: approval.id }}>
              <ApprovalTitle of={approval} />
            </Link>
          </p>
        )}
        <p className="approval-facts dim">
          {isPlaced ? null : <AskerLink of={approval} />}
          <span>
            {t.mayAnswer}: <MayAnswer names={approval.approvers} />
          </span>
          <span>
            <Ago at={approval.askedAt} />
          </span>
          <Deadline at={approval.expiresAt} />
        </p>
        {why === null ? null : <p className="why">{visibleText(why)}</p>}
      </div>
      <div className="approval-buttons">
        <Button size="s" onClick={() => ask("rejected")}>
          <X aria-hidden />
          {t.deny}
        </Button>
        <Button size="s" look="primary" onClick={() => ask("approved")}>
          <Check aria-hidden />
          {t.approve}
        </Button>
      </div>
      {asked === null ? null : <AnswerDialog approval={approval} decision={asked} onClose={() => ask(null)} />}
    </div>
  );
}
