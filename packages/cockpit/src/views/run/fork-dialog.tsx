// A new run that shares the first entries of this one: from which entry, under which key, with which input and note.

import { useNavigate } from "@tanstack/react-router";
import { GitFork } from "lucide-react";
import { useId, useRef, useState, type ReactNode } from "react";
import type { ActionAnswer, ForkBody, JsonValue, RunId, RunView } from "@perdure/protocol";
import { path } from "../../api/client.ts";
import { useApi } from "../../app/app-context.ts";
import { useMessages } from "../../i18n/use-messages.ts";
import { ConfirmForm } from "../../ui/confirm-form.tsx";
import { shellWord } from "../../ui/shell-word.ts";
import { say } from "../../ui/toasts.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import { forkPlan, readEntry } from "./branch-plan.ts";
import { EntryField, type BranchDialogProps } from "./entry-field.tsx";
import { useJsonField } from "./json-field.tsx";
import { CommandNames, PlanLine } from "./plan-line.tsx";

export type ForkDialogProps = BranchDialogProps & { readonly run: RunView };

export function ForkDialog({ run, entries, moments, at: given, onClose }: ForkDialogProps): ReactNode {
  const t = useMessages().branches;
  const api = useApi();
  const navigate = useNavigate();
  const [text, setText] = useState(String(Math.min(given, entries.length)));
  const [key, setKey] = useState("");
  const [note, setNote] = useState("");
  const input = useJsonField(textOf(run.input));
  const made = useRef<RunId | null>(null);
  const at = readEntry(text, entries.length);
  const hasOwnKey = run.key !== null && (run.mode === "exclusive" || run.mode === "workflow");
  /** Null: it is not ready. */
  const bodyOf = (): ForkBody | null => {
    if (at === null) return null;
    const other = at === 0 ? input.read() : { value: undefined };
    if (other === null) return null;
    const isOther = other.value !== undefined && JSON.stringify(other.value) !== JSON.stringify(run.input);
    return {
      at,
      ...(hasOwnKey && key.trim() !== "" ? { key: key.trim() } : {}),
      ...(isOther ? { input: other.value as JsonValue } : {}),
      ...(note.trim() === "" ? {} : { note: note.trim() }),
    };
  };
  const fork = (): Promise<void> | false => {
    const body = bodyOf();
    if (body === null) return false;
    return api.post<ActionAnswer>(path`/runs/${run.id}/fork`, body).then(({ runId }) => {
      made.current = runId;
      say(t.forked);
    });
  };
  return (
    <ConfirmForm
      title={t.forkTitle}
      label={t.fork}
      icon={<GitFork aria-hidden />}
      wide
      command={commandOf(run.id, at ?? entries.length, hasOwnKey ? key.trim() : "", note.trim())}
      onConfirm={fork}
      onClose={() => {
        if (made.current === null) onClose();
        else void navigate({ to: "/runs/$run", params: { run: made.current } });
      }}
    >
      <p>{t.forkHelp}</p>
      <EntryField text={text} onText={setText} entries={entries} moments={moments} />
      {at === null ? null : <ForkPlan entries={entries} at={at} />}
      {hasOwnKey ? (
        <TextField label={t.key} help={t.keyHelp(visibleLine(run.key ?? ""))} value={key} onValue={setKey} />
      ) : null}
      {at === 0 ? (
        <div className="field">
          {input.field(t.input)}
          <p className="help">{t.inputHelp}</p>
        </div>
      ) : null}
      <TextField label={t.note} help={t.noteHelp} value={note} onValue={setNote} />
    </ConfirmForm>
  );
}

function ForkPlan({ entries, at }: Pick<BranchDialogProps, "entries" | "at">): ReactNode {
  const says = useMessages().branches;
  const plan = forkPlan(entries, at);
  const isAll = plan.after === 0 && plan.shared > 0;
  const head = plan.shared === 0 ? says.shared.none : isAll ? says.shared.all(at) : says.shared.upTo(at);
  return (
    <ul className="plan" aria-live="polite">
      <PlanLine kind="kept">
        {head}
        {plan.last === null ? null : (
          <span className="dim">
            {" "}
            · {says.last}: <CommandNames of={[plan.last]} />
          </span>
        )}
      </PlanLine>
      {plan.sharedChildren.length === 0 ? null : (
        <PlanLine kind="kept">{says.sharedChildren(plan.sharedChildren.length)}</PlanLine>
      )}
      {plan.again.length === 0 ? null : (
        <PlanLine kind="again">
          {says.again} <CommandNames of={plan.again} />
        </PlanLine>
      )}
      {plan.waits.length === 0 ? null : (
        <PlanLine kind="kept">
          {says.waits} <CommandNames of={plan.waits} />
        </PlanLine>
      )}
      {plan.after === 0 ? null : <PlanLine kind="left">{says.left(plan.after)}</PlanLine>}
      {plan.repeated.length === 0 ? null : (
        <PlanLine kind="again">
          {says.repeats(plan.repeated.length)}
          <p className="dim">
            <CommandNames of={plan.repeated} />
          </p>
        </PlanLine>
      )}
    </ul>
  );
}

interface TextFieldProps {
  readonly label: string;
  readonly help: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
}

function TextField({ label, help, value, onValue }: TextFieldProps): ReactNode {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className="input"
        autoComplete="off"
        value={value}
        aria-describedby={`${id}-help`}
        onChange={(event) => onValue(event.target.value)}
      />
      <p id={`${id}-help`} className="help">
        {help}
      </p>
    </div>
  );
}

/** What is too long to be shown, or no JSON, is not written into a field. */
function textOf(input: JsonValue): string {
  if (input === null) return "";
  if (typeof input === "object" && ("omitted" in input || "base64" in input)) return "";
  return JSON.stringify(input, null, 2);
}

function commandOf(run: RunId, at: number, key: string, note: string): string {
  const withKey = key === "" ? "" : ` --key ${shellWord(key)}`;
  const withNote = note === "" ? "" : ` --note ${shellWord(JSON.stringify(note))}`;
  return `npx perdure fork ${run} --at ${at}${withKey}${at === 0 ? " --input '<json>'" : ""}${withNote}`;
}
