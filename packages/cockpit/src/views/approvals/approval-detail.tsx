// One question, whole: what will be done, who asks and why, who may answer until when; or how it ended.

import { ArrowLeft, Check, X } from "lucide-react";
import type { ReactNode } from "react";
import type { ApprovalAnswerRequest, ApprovalSummary } from "@perdure/protocol";
import { ApprovalTitle, AskerLink, Deadline, MayAnswer } from "../../approvals/approval-text.tsx";
import { whyOf } from "../../approvals/open-approvals.ts";
import { useMessages } from "../../i18n/use-messages.ts";
import { Button } from "../../ui/button.tsx";
import { CommandLine } from "../../ui/copy-button.tsx";
import { Payload } from "../../ui/payload.tsx";
import { RunLink } from "../../ui/run-link.tsx";
import { Badge } from "../../ui/status-badge.tsx";
import { Ago } from "../../ui/time.tsx";
import { visibleLine, visibleText } from "../../ui/visible-text.ts";
import { STATE_TONES } from "./approval-row.tsx";

export interface ApprovalDetailProps {
  readonly approval: ApprovalSummary;
  readonly onAnswer: (decision: ApprovalAnswerRequest["decision"]) => void;
  readonly onClose: () => void;
}

export function ApprovalDetail({ approval, onAnswer, onClose }: ApprovalDetailProps): ReactNode {
  const t = useMessages();
  const says = t.approvals;
  const { state, decision, input, details } = approval;
  const isOpen = state === "open";
  const why = whyOf(approval);
  return (
    <article className="inbox-detail" aria-label={visibleLine(approval.title)}>
      <header>
        <Button look="ghost" icon aria-label={t.common.keys.back} title={t.common.keys.back} onClick={onClose}>
          <ArrowLeft aria-hidden />
        </Button>
        <h2>
          <ApprovalTitle of={approval} />
        </h2>
        <Badge tone={STATE_TONES[state]}>{says.state[state]}</Badge>
      </header>
      <div className="inbox-body">
        <ApprovalFacts approval={approval} />
        {why === null ? null : (
          <section className="entry-part">
            <h3>{says.why}</h3>
            <p className="why">{visibleText(why)}</p>
          </section>
        )}
        <section className="entry-part">
          <h3>{says.input}</h3>
          <div className="payload-box">
            <Payload value={input} />
          </div>
        </section>
        {decision?.input === undefined ? null : (
          <section className="entry-part">
            <h3>{says.instead}</h3>
            <div className="payload-box">
              <Payload value={decision.input} />
            </div>
          </section>
        )}
        {decision?.comment === undefined ? null : (
          <section className="entry-part">
            <h3>{says.said}</h3>
            <p>{visibleText(decision.comment)}</p>
          </section>
        )}
        {details === null || why !== null ? null : (
          <section className="entry-part">
            <h3>{says.details}</h3>
            <Payload value={details} />
          </section>
        )}
        <CommandLine command={`npx perdure approvals show ${approval.id}`} />
      </div>
      {isOpen ? (
        <footer className="inbox-actions">
          <Button onClick={() => onAnswer("rejected")}>
            <X aria-hidden />
            {says.deny}
            <kbd>d</kbd>
          </Button>
          <Button look="primary" onClick={() => onAnswer("approved")}>
            <Check aria-hidden />
            {says.approve}
            <kbd>a</kbd>
          </Button>
        </footer>
      ) : null}
    </article>
  );
}

function ApprovalFacts({ approval }: { readonly approval: ApprovalSummary }): ReactNode {
  const t = useMessages().approvals;
  const { state, decision, tool, askedBy, runId } = approval;
  const isOpen = state === "open";
  return (
    <dl className="facts">
      <Fact name={t.by}>
        <AskerLink of={approval} />
      </Fact>
      {tool === null ? null : <Fact name={t.tool}>{visibleLine(tool)}</Fact>}
      <Fact name={t.asked}>
        <Ago at={approval.askedAt} />
      </Fact>
      {isOpen ? (
        <>
          <Fact name={t.mayAnswer}>
            <MayAnswer names={approval.approvers} />
          </Fact>
          <Fact name={t.deadline}>
            <Deadline at={approval.expiresAt} />
          </Fact>
        </>
      ) : null}
      {decision === null ? null : (
        <Fact name={t.state[state]}>
          <Ago at={decision.at} />
          {decision.by === undefined ? null : <b>{t.answeredBy(visibleLine(decision.by))}</b>}
        </Fact>
      )}
      <Fact name={t.question}>
        <RunLink id={askedBy ?? runId} />
      </Fact>
    </dl>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
