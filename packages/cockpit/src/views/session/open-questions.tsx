// What waits for a person in this session, in those below it, and in its budget. A question that stands with its tool call is
// answered there; the others stand above the composer. The keys answer the oldest of all.

import { useState, type ReactNode } from "react";
import type { ApprovalAnswerRequest, ApprovalSummary } from "@perdure/protocol";
import { AnswerDialog } from "../../approvals/answer-dialog.tsx";
import { ApprovalCard } from "../../approvals/approval-card.tsx";
import { useMessages } from "../../i18n/use-messages.ts";
import { useHotkeys } from "../../keys/use-hotkeys.ts";
import { Payload } from "../../ui/payload.tsx";

const SHOWN_MAX = 5;

export interface OpenQuestionsProps {
  /** Oldest first. */
  readonly approvals: readonly ApprovalSummary[];
  /** Those that are shown in the conversation. */
  readonly placed: ReadonlySet<string>;
}

export function OpenQuestions({ approvals, placed }: OpenQuestionsProps): ReactNode {
  const t = useMessages();
  const [asked, setAsked] = useState<Asked | null>(null);
  const [first] = approvals;
  const ask = (decision: Asked["decision"]): void => {
    if (first !== undefined) setAsked({ approval: first, decision });
  };
  useHotkeys([
    { keys: "a", label: t.approvals.approve, run: () => ask("approved") },
    { keys: "d", label: t.approvals.deny, run: () => ask("rejected") },
  ]);
  const others = approvals.filter(({ id }) => !placed.has(id));
  return (
    <>
      {others.length === 0 ? null : (
        <section className="open-questions" aria-label={t.session.questions.title(others.length)}>
          <h2>{t.session.questions.title(others.length)}</h2>
          {others.slice(0, SHOWN_MAX).map((approval) => (
            <Question key={approval.id} approval={approval} />
          ))}
        </section>
      )}
      {asked === null ? null : <AnswerDialog {...asked} onClose={() => setAsked(null)} />}
    </>
  );
}

interface Asked {
  readonly approval: ApprovalSummary;
  readonly decision: ApprovalAnswerRequest["decision"];
}

function Question({ approval }: { readonly approval: ApprovalSummary }): ReactNode {
  const t = useMessages().session.questions;
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="open-question">
      <ApprovalCard approval={approval} />
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary className="dim">{t.show}</summary>
        {isOpen ? (
          <div className="payload-box">
            <Payload value={approval.input} />
          </div>
        ) : null}
      </details>
    </div>
  );
}
