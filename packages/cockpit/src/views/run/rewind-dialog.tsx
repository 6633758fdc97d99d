// A run goes back to an entry, in place: what that calls off, what stays, and where what it is now is kept.

import { CornerUpLeft } from "lucide-react";
import { useRef, useState, type ReactNode } from "react";
import { isFinished, type RewindAnswer, type RunId, type RunSummary } from "@perdure/protocol";
import { path } from "../../api/client.ts";
import { useApi } from "../../app/app-context.ts";
import { useMessages } from "../../i18n/use-messages.ts";
import { ConfirmForm } from "../../ui/confirm-form.tsx";
import { RunLink } from "../../ui/run-link.tsx";
import { say } from "../../ui/toasts.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import { readEntry, rewindPlan } from "./branch-plan.ts";
import { EntryField, type BranchDialogProps } from "./entry-field.tsx";
import { CommandNames, PlanLine } from "./plan-line.tsx";

export interface RewindDialogProps extends BranchDialogProps {
  readonly run: RunSummary;
  /** It was rewound; `branch` is what it was before. */
  readonly onRewound: (branch: RunId) => void;
}

export function RewindDialog({ run, entries, moments, at: given, onClose, onRewound }: RewindDialogProps): ReactNode {
  const t = useMessages().branches;
  const api = useApi();
  const [text, setText] = useState(String(Math.min(given, entries.length)));
  const branch = useRef<RunId | null>(null);
  const at = readEntry(text, entries.length);
  const rewind = (): Promise<void> | false => {
    if (at === null) return false;
    return api.post<RewindAnswer>(path`/runs/${run.id}/rewind`, { at }).then((answer) => {
      branch.current = answer.branch;
      say(t.rewound);
    });
  };
  return (
    <ConfirmForm
      title={t.rewindTitle}
      label={t.rewind}
      icon={<CornerUpLeft aria-hidden />}
      isDanger
      wide
      command={`npx perdure rewind ${run.id} --to ${at ?? entries.length}`}
      onConfirm={rewind}
      onClose={() => (branch.current === null ? onClose() : onRewound(branch.current))}
    >
      <p>{t.rewindHelp}</p>
      <EntryField text={text} onText={setText} entries={entries} moments={moments} />
      {at === null ? null : <RewindPlan run={run} entries={entries} at={at} />}
    </ConfirmForm>
  );
}

function RewindPlan({ run, entries, at }: Pick<RewindDialogProps, "run" | "entries" | "at">): ReactNode {
  const t = useMessages().branches;
  const { last, shared, after, again, waits, repeated, openChildren } = rewindPlan(entries, at);
  const hasOwnKey = run.key !== null && (run.mode === "exclusive" || run.mode === "workflow");
  const hasSignals = entries.slice(at).some((entry) => entry.kind === "signal" && entry.signal !== 1);
  return (
    <ul className="plan" aria-live="polite">
      <PlanLine kind="kept">
        {shared === 0 ? t.kept.none : t.kept.upTo(at)}
        {last === null ? null : (
          <span className="dim">
            {" "}
            · {t.last}: <CommandNames of={[last]} />
          </span>
        )}
      </PlanLine>
      {after === 0 ? null : <PlanLine kind="undone">{t.called(after)}</PlanLine>}
      {openChildren.length === 0 ? null : (
        <PlanLine kind="undone">
          {t.openChildren(openChildren.length)}{" "}
          {openChildren.map((child) => (
            <span key={child}>
              <RunLink id={child} />{" "}
            </span>
          ))}
        </PlanLine>
      )}
      {repeated.length === 0 ? null : (
        <PlanLine kind="again">
          {t.repeats(repeated.length)}
          <p className="dim">
            <CommandNames of={repeated} />
          </p>
        </PlanLine>
      )}
      {again.length === 0 ? null : (
        <PlanLine kind="again">
          {t.again} <CommandNames of={again} />
        </PlanLine>
      )}
      {waits.length === 0 ? null : (
        <PlanLine kind="kept">
          {t.waits} <CommandNames of={waits} />
        </PlanLine>
      )}
      {hasSignals ? <PlanLine kind="kept">{t.signals}</PlanLine> : null}
      {hasOwnKey ? (
        <PlanLine kind={isFinished(run.status) ? "left" : "undone"}>
          {isFinished(run.status) ? t.stateLeft : t.stateRestored(visibleLine(run.key ?? ""))}
        </PlanLine>
      ) : null}
    </ul>
  );
}
