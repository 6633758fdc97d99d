// A yes or a no, asked once more: who says it, why, and for a yes perhaps with something else than what was asked.

import { Check, X } from "lucide-react";
import { useId, useState, type ReactNode } from "react";
import { useQueryClient } from "@tanstack/react-query";
import type { ApprovalAnswerRequest, ApprovalSummary, JsonValue } from "@perdure/protocol";
import { path } from "../api/client.ts";
import { useApi } from "../app/app-context.ts";
import { useMessages } from "../i18n/use-messages.ts";
import { Button } from "../ui/button.tsx";
import { ConfirmForm } from "../ui/confirm-form.tsx";
import { Payload } from "../ui/payload.tsx";
import { shellWord } from "../ui/shell-word.ts";
import { say } from "../ui/toasts.tsx";
import { ApprovalTitle } from "./approval-text.tsx";
import { useViewerField } from "./viewer-field.tsx";

export interface AnswerDialogProps {
  readonly approval: ApprovalSummary;
  readonly decision: ApprovalAnswerRequest["decision"];
  readonly onClose: () => void;
}

export function AnswerDialog({ approval, decision, onClose }: AnswerDialogProps): ReactNode {
  const t = useMessages().approvals;
  const api = useApi();
  const queries = useQueryClient();
  const who = useViewerField(approval.approvers);
  const commentId = useId();
  const [comment, setComment] = useState("");
  const edit = useEdit(approval.input);
  const isYes = decision === "approved";
  const said = comment.trim() === "" ? {} : { comment: comment.trim() };
  const answer = (): Promise<void> | false => {
    const changed = isYes ? edit.read() : {};
    if (changed === null) return false;
    who.remember();
    const body: ApprovalAnswerRequest = { decision, by: who.name, ...said, ...changed };
    return api.post(path`/approvals/${approval.id}`, body).then(() => {
      say(t.answered[decision]);
      void queries.invalidateQueries({ queryKey: ["approvals"] });
    });
  };
  return (
    <ConfirmForm
      title={isYes ? t.approveTitle : t.denyTitle}
      label={isYes ? t.approve : t.deny}
      icon={isYes ? <Check aria-hidden /> : <X aria-hidden />}
      isDanger={!isYes}
      wide={isYes}
      command={commandOf(approval.id, decision, who.name, comment, edit.text)}
      onConfirm={answer}
      onClose={onClose}
    >
      <p className="approval-title">
        <ApprovalTitle of={approval} />
      </p>
      {isYes ? edit.field : null}
      <p className="dim">{isYes ? t.consequence[approval.kind] : t.denial[approval.kind]}</p>
      {who.field}
      <div className="field">
        <label htmlFor={commentId}>{t.comment}</label>
        <input
          id={commentId}
          className="input"
          value={comment}
          aria-describedby={`${commentId}-help`}
          onChange={(event) => setComment(event.target.value)}
        />
        <p id={`${commentId}-help`} className="help">
          {t.commentHelp}
        </p>
      </div>
    </ConfirmForm>
  );
}

interface Edit {
  readonly field: ReactNode;
  /** Null: it is no JSON, and the field says so. */
  readonly read: () => { readonly input?: JsonValue } | null;
  /** Null: nothing is changed. */
  readonly text: string | null;
}

function useEdit(input: ApprovalSummary["input"]): Edit {
  const t = useMessages().approvals;
  const id = useId();
  const [text, setText] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const read: Edit["read"] = () => {
    if (text === null) return {};
    try {
      return { input: JSON.parse(text) as JsonValue };
    } catch (error) {
      setProblem((error as Error).message);
      return null;
    }
  };
  const change = (next: string | null): void => {
    setText(next);
    setProblem(null);
  };
  if (text === null)
    return {
      text,
      read,
      field: (
        <div className="field">
          <div className="payload-box">
            <Payload value={input} />
          </div>
          <span>
            <Button look="ghost" size="s" onClick={() => change(JSON.stringify(input, null, 2))}>
              {t.change}
            </Button>
          </span>
        </div>
      ),
    };
  return {
    text,
    read,
    field: (
      <div className="field">
        <label htmlFor={id}>{t.changed}</label>
        <textarea
          id={id}
          className="input"
          rows={Math.min(16, text.split("\n").length + 1)}
          spellCheck={false}
          autoFocus
          value={text}
          aria-invalid={problem !== null}
          onChange={(event) => change(event.target.value)}
        />
        {problem === null ? null : (
          <p className="help" role="alert" data-tone="red">
            {t.notJson(problem)}
          </p>
        )}
        <span>
          <Button look="ghost" size="s" onClick={() => change(null)}>
            {t.unchanged}
          </Button>
        </span>
      </div>
    ),
  };
}

function commandOf(
  id: string,
  decision: ApprovalAnswerRequest["decision"],
  by: string,
  comment: string,
  input: string | null,
): string {
  const verb = decision === "approved" ? "approve" : "reject";
  const more = [
    ...(by === "" ? [] : [`--as ${shellWord(by)}`]),
    ...(comment.trim() === "" ? [] : [`--comment ${shellWord(comment.trim())}`]),
    ...(decision === "rejected" || input === null ? [] : [`--input ${shellWord(input.replaceAll(/\n\s*/g, " "))}`]),
  ];
  return ["npx perdure approvals", verb, id, ...more].join(" ");
}
