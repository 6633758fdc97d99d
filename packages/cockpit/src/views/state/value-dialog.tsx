// A value is written, looked at as a difference, and saved; somebody who was faster is noticed, and never written over.

import { useId, useState, type ReactNode } from "react";
import type { StateView } from "@perdure/protocol";
import { useMessages } from "../../i18n/use-messages.ts";
import { Button } from "../../ui/button.tsx";
import { CommandLine } from "../../ui/copy-button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { shellWord } from "../../ui/shell-word.ts";
import { say } from "../../ui/toasts.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import { draftOf, type InputDraft } from "../../schema-form/input-draft.ts";
import { InputEditor } from "../../schema-form/input-editor.tsx";
import { Diff } from "./diff.tsx";
import { isConflict, isSame, stateEdit, type Stored } from "./edit-plan.ts";
import { Refusal, useSave } from "./use-save.tsx";

export interface ValueDialogProps {
  /** As it is now. */
  readonly view: StateView;
  readonly refresh: () => Promise<StateView | undefined>;
  /** Null: a new one, whose name is to be said. */
  readonly name: string | null;
  readonly onClose: () => void;
}

export function ValueDialog({ view, refresh, name: known, onClose }: ValueDialogProps): ReactNode {
  const t = useMessages();
  const [typed, setTyped] = useState("");
  const name = known ?? typed;
  const current: Stored = view.state[name];
  const [base, setBase] = useState<Stored>(known === null ? undefined : view.state[known]);
  const [draft, setDraft] = useState<InputDraft>(() => draftOf("json", base));
  const [isReviewed, setReviewed] = useState(false);
  const save = useSave(view, refresh);
  const isTaken = known === null && current !== undefined;
  const hasConflict = known !== null && isConflict(base, draft.value, current);
  const isChanged = draft.value !== undefined && !isSame(base, draft.value);
  const isReady = name !== "" && !isTaken && draft.problem === null && isChanged && !hasConflict;
  const submit = async (): Promise<void> => {
    if (!isReady) return;
    if (!isReviewed) return setReviewed(true);
    if (!(await save.send(stateEdit({ name, base, next: draft.value, force: save.force })))) return;
    say(t.state.saved(visibleLine(name)));
    onClose();
  };
  const takeTheirs = (): void => {
    setBase(current);
    setDraft(draftOf("json", current));
    setReviewed(false);
  };
  return (
    <Dialog isOpen onClose={onClose} wide title={known === null ? t.state.add : t.state.editNamed(visibleLine(name))}>
      <form
        className="value-form"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        {known === null ? <NameField name={typed} onName={setTyped} isTaken={isTaken} /> : null}
        {hasConflict ? (
          <Conflict base={base} current={current} onTheirs={takeTheirs} onMine={() => setBase(current)} />
        ) : null}
        {isReviewed && isReady ? (
          <Review view={view} name={name} base={base} next={draft.value} />
        ) : (
          <InputEditor label={t.state.value} schema={undefined} draft={draft} onDraft={setDraft} issues={[]} />
        )}
        <Refusal save={save} />
        <div className="actions">
          {isReviewed && isReady ? (
            <Button onClick={() => setReviewed(false)}>{t.state.back}</Button>
          ) : (
            <Button onClick={onClose}>{t.common.cancel}</Button>
          )}
          <Button type="submit" look="primary" disabled={!isReady || save.isBusy}>
            {isReviewed ? t.state.save : t.state.review}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

interface NameFieldProps {
  readonly name: string;
  readonly onName: (name: string) => void;
  readonly isTaken: boolean;
}

function NameField({ name, onName, isTaken }: NameFieldProps): ReactNode {
  const t = useMessages().state;
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{t.name}</label>
      <input
        id={id}
        className="input"
        autoComplete="off"
        spellCheck={false}
        value={name}
        aria-invalid={isTaken}
        aria-describedby={`${id}-help`}
        onChange={(event) => onName(event.target.value)}
      />
      <p id={`${id}-help`} className={isTaken ? "fault" : "help"}>
        {isTaken ? t.nameTaken : t.nameHelp}
      </p>
    </div>
  );
}

interface ConflictProps {
  readonly base: Stored;
  readonly current: Stored;
  readonly onTheirs: () => void;
  readonly onMine: () => void;
}

function Conflict({ base, current, onTheirs, onMine }: ConflictProps): ReactNode {
  const t = useMessages().state;
  return (
    <div className="notice conflict" data-tone="orange" role="alert">
      <h2>{current === undefined ? t.removedMeanwhile : t.changedMeanwhile}</h2>
      <Diff before={base} after={current} label={t.theirChange} />
      <div className="conflict-actions">
        <Button size="s" onClick={onTheirs}>
          {t.takeTheirs}
        </Button>
        <Button size="s" onClick={onMine}>
          {t.keepMine}
        </Button>
      </div>
    </div>
  );
}

interface ReviewProps {
  readonly view: StateView;
  readonly name: string;
  readonly base: Stored;
  readonly next: Stored;
}

function Review({ view: { service, key }, name, base, next }: ReviewProps): ReactNode {
  const t = useMessages().state;
  const words = [service, key, name, JSON.stringify(next)].map(shellWord);
  return (
    <>
      <Diff before={base} after={next} label={t.yourChange} />
      <p className="help dim">{t.reviewHelp}</p>
      <CommandLine command={`npx perdure state set ${words.join(" ")}`} />
    </>
  );
}
