// Going on from an earlier point: in place (rewind), or under another name (fork).

import { useNavigate } from "@tanstack/react-router";
import { CornerUpLeft, GitFork } from "lucide-react";
import { useId, useState, type ReactNode } from "react";
import type { AgentForkRequest, AgentRewindRequest, AgentSessionView, SendAnswer } from "@perdure/protocol";
import { path } from "../../api/client.ts";
import { useApi } from "../../app/app-context.ts";
import { useMessages } from "../../i18n/use-messages.ts";
import { ConfirmForm } from "../../ui/confirm-form.tsx";
import { shellWord } from "../../ui/shell-word.ts";
import { say } from "../../ui/toasts.tsx";

export interface BranchDialogProps {
  readonly view: AgentSessionView;
  /** Where it branches, in the transcript. */
  readonly offset: number;
  readonly onClose: () => void;
}

export function RewindDialog({ view, offset, onClose }: BranchDialogProps): ReactNode {
  const t = useMessages().session.actions;
  const api = useApi();
  const { agent, session, items, turn } = view;
  const body: AgentRewindRequest = { to: offset };
  const rewind = async (): Promise<void> => {
    await api.post<SendAnswer>(path`/agents/${agent}/${session}/rewind`, body);
    say(t.rewound);
  };
  return (
    <ConfirmForm
      title={t.rewindTitle}
      label={t.rewindHere}
      icon={<CornerUpLeft aria-hidden />}
      isDanger
      command={`npx perdure call ${shellWord(`${agent}/${session}/rewind`)} ${shellWord(JSON.stringify(body))}`}
      onConfirm={rewind}
      onClose={onClose}
    >
      <p>{t.rewindHelp(items - offset)}</p>
      {turn === null ? null : (
        <p className="notice" data-tone="amber">
          {t.rewindWaits}
        </p>
      )}
    </ConfirmForm>
  );
}

export function ForkDialog({ view, offset, onClose }: BranchDialogProps): ReactNode {
  const t = useMessages().session.actions;
  const api = useApi();
  const navigate = useNavigate();
  const id = useId();
  const { agent, session } = view;
  const [name, setName] = useState(`${session}-2`);
  const body: AgentForkRequest = { to: name.trim(), at: offset };
  const fork = async (): Promise<void> => {
    await api.post(path`/agents/${agent}/${session}/fork`, body);
    await navigate({ to: "/agents/$agent/$session", params: { agent, session: body.to } });
  };
  return (
    <ConfirmForm
      title={t.forkTitle}
      label={t.fork}
      icon={<GitFork aria-hidden />}
      command={`npx perdure call ${shellWord(`${agent}/${session}/fork`)} ${shellWord(JSON.stringify(body))}`}
      onConfirm={() => (body.to === "" ? false : fork())}
      onClose={onClose}
    >
      <p>{t.forkHelp}</p>
      <div className="field">
        <label htmlFor={id}>{t.forkName}</label>
        <input
          id={id}
          className="input"
          required
          autoComplete="off"
          value={name}
          aria-describedby={`${id}-help`}
          onChange={(event) => setName(event.target.value)}
        />
        <p id={`${id}-help`} className="help">
          {t.forkItems(offset)}
        </p>
      </div>
    </ConfirmForm>
  );
}
