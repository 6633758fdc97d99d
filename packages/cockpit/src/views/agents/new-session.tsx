import { useNavigate } from "@tanstack/react-router";
import { MessageSquarePlus } from "lucide-react";
import { useId, useState, type ReactNode } from "react";
import type { AgentSummary } from "@perdure/protocol";
import { useMessages } from "../../i18n/use-messages.ts";
import { ConfirmForm } from "../../ui/confirm-form.tsx";
import { shellWord } from "../../ui/shell-word.ts";
import { visibleLine } from "../../ui/visible-text.ts";

export interface NewSessionProps {
  readonly agents: readonly AgentSummary[];
  readonly agent: string | undefined;
  readonly onClose: () => void;
}

/** Nothing is made of it before the first message: it leads to the session, which is empty. */
export function NewSession({ agents, agent: asked, onClose }: NewSessionProps): ReactNode {
  const t = useMessages().agents;
  const navigate = useNavigate();
  const id = useId();
  const [agent, setAgent] = useState(asked ?? agents[0]?.name ?? "");
  const [session, setSession] = useState("");
  const open = (): Promise<void> =>
    navigate({ to: "/agents/$agent/$session", params: { agent, session: session.trim() } });
  return (
    <ConfirmForm
      title={t.start}
      label={t.open}
      icon={<MessageSquarePlus aria-hidden />}
      command={`npx perdure chat ${shellWord(agent)} --session ${shellWord(session.trim() === "" ? "demo" : session.trim())}`}
      onConfirm={() => (session.trim() === "" ? false : open())}
      onClose={onClose}
    >
      <p className="dim">{t.startHelp}</p>
      <div className="field">
        <label htmlFor={`${id}-agent`}>{t.agent}</label>
        <select id={`${id}-agent`} className="input" value={agent} onChange={(event) => setAgent(event.target.value)}>
          {agents.map(({ name }) => (
            <option key={name} value={name}>
              {visibleLine(name)}
            </option>
          ))}
        </select>
      </div>
      <div className="field">
        <label htmlFor={`${id}-name`}>{t.name}</label>
        <input
          id={`${id}-name`}
          className="input"
          required
          autoFocus
          autoComplete="off"
          value={session}
          onChange={(event) => setSession(event.target.value)}
        />
      </div>
    </ConfirmForm>
  );
}
