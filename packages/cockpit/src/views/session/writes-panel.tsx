// The switch that takes the session's writes away, and gives them back.

import { useQueryClient } from "@tanstack/react-query";
import { useId, useState, type ReactNode } from "react";
import type { ControlChange, ControlView } from "@perdure/protocol";
import { useApi } from "../../app/app-context.ts";
import { useViewerField } from "../../approvals/viewer-field.tsx";
import { useMessages } from "../../i18n/use-messages.ts";
import { ConfirmForm } from "../../ui/confirm-form.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Segmented } from "../../ui/segmented.tsx";
import { shellWord } from "../../ui/shell-word.ts";
import { say } from "../../ui/toasts.tsx";
import { visibleLine, visibleText } from "../../ui/visible-text.ts";
import { useControls, type SessionName } from "./use-session.ts";
import { switchFor, type WriteMode } from "./write-switch.ts";

const MODES: readonly WriteMode[] = ["allow", "ask", "deny"];

export function WritesPanel({ agent, session }: SessionName): ReactNode {
  const t = useMessages().session.aside;
  const { data } = useControls();
  const [asked, setAsked] = useState<WriteMode | null>(null);
  if (data === undefined) return null;
  const { holding, own } = switchFor(data, agent, session);
  const isElsewhere = holding.key !== own.key && holding.writes !== own.writes;
  return (
    <Panel title={t.writes}>
      <div className="body writes">
        <Segmented
          label={t.writes}
          value={own.writes}
          options={MODES.map((value) => ({ value, label: t.modeShort[value] }))}
          onChange={(mode) => setAsked(mode === own.writes ? null : mode)}
        />
        <p className="dim">{t.modeHelp[holding.writes]}</p>
        {isElsewhere ? (
          <p className="toned" data-tone="orange">
            {t.stricter(targetText(holding.key, t.allAgents))}
          </p>
        ) : null}
        <SaidBy control={holding} />
      </div>
      {asked === null ? null : (
        <SwitchDialog name={`${agent}/${session}`} mode={asked} onClose={() => setAsked(null)} />
      )}
    </Panel>
  );
}

function SaidBy({ control: { key, by, reason } }: { readonly control: ControlView }): ReactNode {
  const t = useMessages().session.aside;
  if (by === undefined) return null;
  return (
    <p className="dim">
      {t.saidBy(visibleLine(by), targetText(key, t.allAgents))}
      {reason === undefined ? "" : `: ${visibleText(reason)}`}
    </p>
  );
}

function targetText(key: string, all: string): string {
  return key === "*" ? all : visibleLine(key);
}

interface SwitchDialogProps {
  readonly name: string;
  readonly mode: WriteMode;
  readonly onClose: () => void;
}

function SwitchDialog({ name, mode, onClose }: SwitchDialogProps): ReactNode {
  const t = useMessages().session.aside;
  const api = useApi();
  const queries = useQueryClient();
  const who = useViewerField();
  const id = useId();
  const [reason, setReason] = useState("");
  const said = reason.trim();
  const change = (): Promise<void> => {
    who.remember();
    const body: ControlChange = { key: name, writes: mode, by: who.name, ...(said === "" ? {} : { reason: said }) };
    return api.post<ControlView>("/controls", body).then(() => {
      say(t.switched);
      void queries.invalidateQueries({ queryKey: ["controls"] });
    });
  };
  const more = [
    said === "" ? "" : ` --reason ${shellWord(said)}`,
    who.name === "" ? "" : ` --as ${shellWord(who.name)}`,
  ];
  return (
    <ConfirmForm
      title={t.switchTitle}
      label={t.change}
      isDanger={mode === "deny"}
      command={`npx perdure writes ${shellWord(name)} ${mode}${more.join("")}`}
      onConfirm={change}
      onClose={onClose}
    >
      <p>
        <b>{t.mode[mode]}</b>
        <br />
        <span className="dim">{t.modeHelp[mode]}</span>
      </p>
      <div className="field">
        <label htmlFor={id}>{t.reason}</label>
        <input
          id={id}
          className="input"
          required={mode !== "allow"}
          autoFocus
          value={reason}
          aria-describedby={`${id}-help`}
          onChange={(event) => setReason(event.target.value)}
        />
        <p id={`${id}-help`} className="help">
          {t.reasonHelp}
        </p>
      </div>
      {who.field}
    </ConfirmForm>
  );
}
